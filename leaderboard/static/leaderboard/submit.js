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

  // What is too large is said when it is chosen, not after minutes of sending.
  document.addEventListener("change", (event) => {
    if (event.target.id !== "id_file") return;
    const note = document.getElementById("too-large");
    const most = Number(event.target.dataset.largest);
    note.hidden = ![...event.target.files].some((file) => file.size > most);
    event.target.setCustomValidity(note.hidden ? "" : note.textContent);
  });

  // A full bar with nothing beside it looks like a standstill.
  document.addEventListener("htmx:xhr:progress", (event) => {
    const form = event.target;
    if (form.id !== "upload" || !event.detail.lengthComputable) return;
    const words = form.querySelector("[data-upload-words]");
    const { loaded, total } = event.detail;
    if (words.textContent === form.dataset.sent) return;
    words.hidden = false;
    words.className = "muted small";
    words.textContent = loaded < total ? `${form.dataset.sending} ${Math.floor((100 * loaded) / total)} %` : form.dataset.sent;
    if (loaded >= total) announce(form.dataset.sent);
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
    const words = event.target.querySelector("[data-upload-words]");
    words.hidden = false;
    words.className = "field-error";
    words.textContent = event.target.dataset.lost;
    announce(event.target.dataset.lost);
  });
})();
