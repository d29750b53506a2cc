// What a browser does by itself: theme, keyboard, times that pass, and saying whether anybody looks.
// No data of a page is ever put into markup here.
(() => {
  "use strict";
  const KEY = "gossamer-theme";
  const themes = ["auto", "light", "dark"];

  function theme() {
    try {
      const kept = localStorage.getItem(KEY);
      return themes.includes(kept) ? kept : "auto";
    } catch {
      return "auto";
    }
  }

  function applyTheme() {
    const chosen = theme();
    if (typeof setDark === "function") setDark(chosen === "auto" ? null : chosen === "dark");
    document.documentElement.dataset.theme = chosen;
  }

  function nextTheme() {
    const chosen = themes[(themes.indexOf(theme()) + 1) % themes.length];
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      /* a browser that keeps nothing: the choice lasts as long as the page */
    }
    applyTheme();
  }

  // -- times --------------------------------------------------------------------------------------------------

  function coarse(seconds) {
    for (const [length, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
      if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
    }
    return `${Math.floor(seconds)} s`;
  }

  function told(at) {
    const passed = Date.now() / 1000 - at;
    if (passed < -1) return `in ${coarse(-passed)}`;
    return passed < 5 ? "just now" : `${coarse(passed)} ago`;
  }

  function passTime() {
    for (const each of document.querySelectorAll("time[data-at]")) {
      const at = parseFloat(each.dataset.at);
      const text = Number.isFinite(at) ? told(at) : null;
      // The node itself is the framework's: only what it says is ours.
      if (text !== null && each.firstChild && each.firstChild.nodeValue !== text) each.firstChild.nodeValue = text;
    }
  }

  // -- keyboard -----------------------------------------------------------------------------------------------

  let waiting = 0; // until when a key after "g" means a place to go to

  function typing(target) {
    return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (document.querySelector(".q-dialog__backdrop")) return;
    if (Date.now() < waiting) {
      waiting = 0;
      const link = [...document.querySelectorAll("a[data-jump]")].find((each) => each.dataset.jump === event.key);
      if (link) {
        event.preventDefault();
        window.location.assign(link.href);
        return;
      }
    }
    if (event.key === "g") {
      waiting = Date.now() + 1500;
    } else if (event.key === "/") {
      event.preventDefault();
      const box = document.getElementById("g-search");
      box?.focus();
      box?.select();
    } else if (event.key === "?") {
      event.preventDefault();
      document.getElementById("g-help")?.click();
    }
  }

  // -- whether anybody looks ----------------------------------------------------------------------------------

  function tellVisible() {
    if (window.did_handshake && typeof emitEvent === "function") emitEvent("seen", !document.hidden);
    if (!document.hidden) passTime();
  }

  document.addEventListener("keydown", pressed);
  document.addEventListener("visibilitychange", tellVisible);
  setInterval(() => document.hidden || passTime(), 1000);

  window.gossamer = { applyTheme, nextTheme };
})();
