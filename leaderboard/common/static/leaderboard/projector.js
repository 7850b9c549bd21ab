// Comfort only: the keys that the links name follow them, and a reveal that plays goes on by itself.
(() => {
  "use strict";

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
    const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!link || document.activeElement?.matches("a, button") && event.key === " ") return;
    event.preventDefault();
    link.click();
  });

  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const playing = document.querySelector("[data-plays]");
  if (!still && playing) {
    setTimeout(() => document.querySelector('[data-key="ArrowRight"]')?.click(), Number(playing.dataset.plays));
  }
})();
