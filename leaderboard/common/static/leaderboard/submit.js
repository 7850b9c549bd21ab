// Comfort of the Submit page only: the form works without this file.
(() => {
  "use strict";

  const announce = (value) => document.dispatchEvent(new CustomEvent("announce", { detail: { value } }));
  const upload = () => document.getElementById("upload");

  // An upload that came to nothing leaves file and note on the form, and the words where the bar was.
  const failed = (words, { reopen = false } = {}) => {
    const form = upload(), told = form.querySelector("[data-upload-words]");
    form.querySelector("progress").hidden = true;
    form.querySelector("[data-reopen]").hidden = !reopen;
    told.hidden = false;
    told.className = "field-error";
    told.textContent = words;
    announce(words);
  };

  // A refused file answers with 4xx and a page that says why; show it like any other. What is no Submit page, such as
  // that for signing in, takes nobody's file from them, and nobody believes that it arrived.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.target.id !== "submit-page") return;
    const { xhr, serverResponse } = event.detail;
    const isOurs = serverResponse.includes('id="submit-page"');
    event.detail.shouldSwap = isOurs;
    if (isOurs) event.detail.isError = false;
    else if (xhr.status < 500) failed(upload().dataset.turnedAway, { reopen: true });
    else failed(upload().dataset.noAnswer);
  });

  // A refused upload keeps its file chosen for the next try.
  let chosen = null;
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id !== "upload") return;
    chosen = event.target.querySelector("input[type=file]").files;
    event.target.querySelector("[data-reopen]").hidden = true;
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const input = document.getElementById("id_file");
    if (!chosen || event.target.id !== "submit-page") return;
    if (input && document.querySelector("[data-not-taken]")) {
      input.files = chosen;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    }
    chosen = null;
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

  // The result is below the form: bring it into view.
  document.addEventListener("htmx:afterSettle", () => {
    const found = document.getElementById("progress");
    if (!found || found.dataset.seen === found.textContent) return;
    found.dataset.seen = found.textContent;
    found.scrollIntoView({ block: "nearest" });
    if (found.dataset.words) announce(found.dataset.words);
  });

  // A browser sends no file that is another one since it was chosen, and would not the next time either.
  document.addEventListener("htmx:sendError", async (event) => {
    if (event.target.id !== "upload") return;
    const { lost, changed } = event.target.dataset;
    const files = [...event.target.querySelector("input[type=file]").files];
    try {
      await Promise.all(files.map((file) => file.slice(0, 1).arrayBuffer()));
      failed(lost);
    } catch {
      failed(changed);
    }
  });
})();
