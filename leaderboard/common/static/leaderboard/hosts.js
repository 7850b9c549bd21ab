// Comfort only: a new competition gets the zone of its host's browser, dropped files are sent at once, and what takes
// long says so.
(() => {
  "use strict";

  const form = document.querySelector("form[data-setup]");
  if (!form) return;

  const zone = form.querySelector("input[type=hidden][name=zone]");
  if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;

  const working = document.querySelector("[data-working]");
  form.addEventListener("submit", () => {
    if (working) working.hidden = false;
    // After the browser has read which button was pressed.
    setTimeout(() => form.querySelectorAll("button:enabled").forEach((button) => {
      button.disabled = true;
      button.dataset.waits = "";
    }));
  });
  addEventListener("pageshow", () => {
    if (working) working.hidden = true;
    form.querySelectorAll("button[data-waits]").forEach((button) => {
      button.disabled = false;
      delete button.dataset.waits;
    });
  });

  const files = form.querySelector("input[type=file]");
  const send = () => { if (files?.files.length) form.requestSubmit(); };
  files?.addEventListener("change", send);
  send(); // where a file was chosen before this script was there
})();
