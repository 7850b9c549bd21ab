// Comfort only: every page works without this file.
(() => {
  "use strict";

  // What the account says, else what this browser says, which the server is told for its next page.
  const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const timeZone = document.documentElement.dataset.zone || browserZone;
  if (browserZone && !document.cookie.split("; ").includes(`zone=${browserZone}`)) {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `zone=${browserZone}; path=/; max-age=31536000; samesite=lax${secure}`;
  }
  // The page's language and not the browser's, so that no time is written in another way than those beside it; plain
  // English is that of the server: the day before the month, and 24 hours.
  const language = document.documentElement.lang;
  const locale = language && language !== "en" ? language : "en-GB";
  const absolute = new Intl.DateTimeFormat(locale, { timeZone, day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const thisYear = new Intl.DateTimeFormat(locale, { timeZone, day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const [now, justNow, ago, briefly, d, h, min] = document.documentElement.dataset.spans.split("|");
  const units = [[d, 86400], [h, 3600], [min, 60]];

  const since = (seconds) => {
    const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["", 1];
    if (!unit) return justNow;
    const words = `${Math.trunc(Math.abs(seconds) / size)} ${unit}`;
    return ago.replace("{}", words);
  };
  // The year of the reader's zone, which may not be the machine's.
  const year = new Intl.DateTimeFormat(locale, { timeZone, year: "numeric" });
  const named = (text) => text.replace("UTC", "GMT");
  const exact = (then) => named((year.format(then) === year.format(new Date()) ? thisYear : absolute).format(then));

  const dayOf = (years) => new Intl.DateTimeFormat(locale, { timeZone, day: "numeric", month: "short", ...years });
  const thisYearsDay = dayOf({}), otherDay = dayOf({ year: "numeric" });
  const day = (then) => (year.format(then) === year.format(new Date()) ? thisYearsDay : otherDay).format(then);

  const remaining = (seconds) => {
    if (seconds <= 0) return now;
    const days = Math.floor(seconds / 86400), hours = Math.floor(seconds / 3600) % 24, minutes = Math.floor(seconds / 60) % 60;
    if (days) return `${days} ${d} ${hours} ${h}`;
    if (hours) return `${hours} ${h} ${minutes} ${min}`;
    return minutes ? `${minutes} ${min}` : briefly;
  };

  const showTimes = (root) => {
    for (const time of root.querySelectorAll("time[data-moment]")) {
      const then = new Date(time.dateTime), seconds = (then - Date.now()) / 1000;
      if (Number.isNaN(then.getTime())) continue;
      // “Closes in now” is no sentence.
      const countdown = seconds <= 0 && time.closest("[data-over]");
      if (countdown) {
        countdown.textContent = countdown.dataset.over;
        continue;
      }
      // With a clock that is behind, a moment lies ahead, which is no “2 h ago”; the title has the hour.
      const words = { ago: seconds > 60 ? day(then) : since(seconds), left: remaining(seconds) }[time.dataset.moment] ?? exact(then);
      if (time.textContent !== words) time.textContent = words;
      const title = named(absolute.format(then)) + (timeZone === "UTC" ? "" : ` (${timeZone})`);
      if (time.title !== title) time.title = title;
    }
  };

  // On paper “2 h ago” says nothing, and “in 3 d” gets old.
  addEventListener("beforeprint", () => {
    for (const time of document.querySelectorAll('time:is([data-moment="ago"], [data-moment="left"])')) {
      const when = exact(new Date(time.dateTime));
      time.textContent = time.dataset.moment === "ago" ? when : `${time.textContent} (${when})`;
    }
  });
  addEventListener("afterprint", () => showTimes(document));

  const focusErrors = (root) => root.querySelector(".errors")?.focus();

  const begin = (root) => {
    showTimes(root);
    focusErrors(root);
  };

  setInterval(() => showTimes(document), 30_000);
  document.addEventListener("DOMContentLoaded", () => begin(document));
  document.addEventListener("htmx:afterSettle", (event) => begin(event.target));

  // A poll says which version it has, and an unchanged one is not swapped in again.
  document.addEventListener("htmx:configRequest", (event) => {
    const etag = event.detail.elt.dataset.etag;
    if (etag) event.detail.headers["If-None-Match"] = etag;
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 304) event.detail.shouldSwap = false;
  });
  // Another page than was asked for, such as that for signing in, is no part of this one.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, requestConfig } = event.detail;
    if (requestConfig.verb !== "get" || new URL(xhr.responseURL).pathname === new URL(requestConfig.path, location).pathname) return;
    event.detail.shouldSwap = false;
    location.replace(location.pathname + location.search);
  });
  // What a reader opened stays open when its part of the page is renewed.
  let opened = {};
  document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    opened = { id: target.id, which: [...target.querySelectorAll("details")].map((details) => details.open) };
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (!target.id || target.id !== opened.id) return;
    target.querySelectorAll("details").forEach((details, index) => (details.open ||= opened.which[index] ?? false));
  });
  // Nobody's place in the table is taken from under them while they use it.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt } = event.detail;
    if (elt.dataset.etag && (document.hidden || elt.contains(document.activeElement))) event.preventDefault();
  });

  document.addEventListener("htmx:xhr:progress", (event) => {
    const bar = event.target.querySelector?.("progress");
    // What comes back after the upload tells its progress by the same event: a full bar stays full.
    if (!bar || !event.detail.lengthComputable || (!bar.hidden && bar.value === bar.max)) return;
    bar.hidden = false;
    bar.max = event.detail.total;
    bar.value = event.detail.loaded;
  });

  document.addEventListener("change", (event) => {
    const zone = event.target.closest?.(".drop-zone");
    const name = zone?.querySelector("[data-file-name]");
    if (name) name.textContent = [...event.target.files].map((file) => file.name).join(", ");
  });
  document.addEventListener("change", ({ target }) => {
    if (target.dataset.shows) document.getElementById(target.dataset.shows).type = target.checked ? "text" : "password";
  });
  for (const [type, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    document.addEventListener(type, (event) => event.target.closest?.(".drop-zone")?.classList.toggle("is-over", over));
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
    say("Copied.");
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });

  document.addEventListener("click", (event) => { if (event.target.closest?.("button[data-print]")) print(); });

  // A menu closes when one looks elsewhere.
  const closeMenus = (but) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(but)) menu.open = false;
  };
  document.addEventListener("click", (event) => closeMenus(event.target));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(null); });

  // On a phone the chosen tab may stand beyond the edge.
  for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
    const strip = tab.closest(".tabs");
    strip.scrollLeft = tab.offsetLeft + tab.offsetWidth / 2 - strip.clientWidth / 2;
  }

  const say = (words) => {
    const region = document.getElementById("announcements");
    if (region) region.textContent = words;
  };
  document.addEventListener("announce", (event) => say(event.detail?.value ?? ""));
})();
