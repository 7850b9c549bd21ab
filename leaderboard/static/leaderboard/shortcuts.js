// Keys for those who like them; nothing here is reachable by keys alone, and the account switches them off.
(() => {
  "use strict";

  const PAUSE = 1200;
  const dialog = document.getElementById("shortcuts");
  let first = "", since = 0;

  const isTyping = (target) => target.isContentEditable || target.closest?.("input, select, textarea, dialog[open]");

  const goTo = (keys) => {
    const link = document.querySelector(`a[data-keys="${keys}"]`);
    if (link) location.assign(link.href);
    return Boolean(link);
  };

  const search = () => {
    const field = document.querySelector('main input[type="search"]');
    field?.focus();
    return Boolean(field);
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.repeat || isTyping(event.target)) return;
    const begun = first === "g" && event.timeStamp - since < PAUSE;
    first = event.key === "g" ? "g" : "";
    since = event.timeStamp;
    let done = false;
    if (begun && /^[a-z]$/.test(event.key)) done = goTo(`g ${event.key}`);
    else if (event.key === "/") done = search();
    else if (event.key === "?" && dialog) {
      dialog.showModal();
      done = true;
    }
    if (done) event.preventDefault();
  });
})();
