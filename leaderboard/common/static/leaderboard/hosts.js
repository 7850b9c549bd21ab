// Comfort only: a new competition starts in the host's own time zone, and its address follows its title.
(() => {
  "use strict";

  const form = document.querySelector("form[data-browser-zone]");
  if (!form) return;

  const zone = form.elements.zone;
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (form.dataset.browserZone === "yes" && [...zone.options].some((option) => option.value === here)) zone.value = here;

  const { title, slug } = form.elements;
  const made = (text) => text.normalize("NFKD").replace(/[^\w\s-]/g, "").trim().toLowerCase().replace(/[-\s]+/g, "-").slice(0, 60);
  title.addEventListener("input", () => { slug.placeholder = made(title.value); });
})();
