// Comfort of the Submit page only: the form works without this file.
(() => {
  "use strict";

  const announce = (value) => document.dispatchEvent(new CustomEvent("announce", { detail: { value } }));
  const upload = () => document.getElementById("upload");

  // A refused file answers with 4xx and a page that says why; show it like any other.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.target.id !== "submit-page" || event.detail.xhr.status < 400) return;
    if (!event.detail.serverResponse.includes('id="submit-page"')) return;
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  });

  document.addEventListener("change", (event) => {
    if (event.target.name !== "check_only") return;
    const button = upload()?.querySelector("button[data-check]");
    if (button) button.textContent = event.target.checked ? button.dataset.check : button.dataset.send;
  });

  // What came of a file stands below the form: bring it into view, and after a check give it the focus.
  document.addEventListener("htmx:afterSettle", () => {
    const found = document.getElementById("checked") ?? document.getElementById("progress");
    if (!found || found.dataset.seen === found.textContent) return;
    found.dataset.seen = found.textContent;
    if (found.id === "checked") found.focus({ preventScroll: true });
    found.scrollIntoView({ block: "nearest" });
    if (found.dataset.words) announce(found.dataset.words);
  });

  document.addEventListener("htmx:sendError", (event) => {
    if (event.target.id !== "upload") return;
    const bar = event.target.querySelector("progress");
    if (bar) bar.hidden = true;
    announce(event.target.dataset.lost);
  });
})();
