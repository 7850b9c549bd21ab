// Comfort only: the keys that the links name follow them, and a reveal that plays goes on by itself.
(() => {
  "use strict";

  const STEP_MS = 4000;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
    const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!link || document.activeElement?.matches("a, button") && event.key === " ") return;
    event.preventDefault();
    link.click();
  });

  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!still && document.querySelector("[data-plays]")) {
    setTimeout(() => document.querySelector('[data-key="ArrowRight"]')?.click(), STEP_MS);
  }
})();
