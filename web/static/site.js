"use strict";
// Asks once for a refresh, says aloud what changed, keeps the theme. Everything works without it.
(() => {
  const doc = document.documentElement;

  const memory = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); return true; } catch { return false; } },
  };

  // The stale page asks by itself: once for each domain and window, and only when it is looked at.
  const ask = () => {
    const form = document.querySelector("form[data-ask]");
    if (!form || document.visibilityState !== "visible") return;
    const key = "asked:" + form.dataset.ask;
    const last = Number(memory.get(key));
    if (last && Date.now() - last < Number(form.dataset.window) * 1000) return;
    // Without a memory it would ask again and again after a refusal: then the button decides.
    if (memory.set(key, String(Date.now()))) form.requestSubmit();
  };
  document.addEventListener("visibilitychange", ask);

  // One announcement for each change of state, none for each tick.
  let told = null;
  const announce = () => {
    const bar = document.querySelector("[data-state]");
    const voice = document.getElementById("voice");
    if (!bar || !voice) return;
    if (told !== null && bar.dataset.state !== told) voice.textContent = bar.dataset.said;
    told = bar.dataset.state;
  };
  document.addEventListener("htmx:after:swap", announce);

  const theme = (chosen) => {
    if (chosen === "light" || chosen === "dark") doc.dataset.theme = chosen;
    else delete doc.dataset.theme;
    for (const button of document.querySelectorAll("[data-choose]")) {
      button.setAttribute("aria-pressed", String(button.dataset.choose === (chosen || "auto")));
    }
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-choose]");
    if (!button) return;
    const chosen = button.dataset.choose;
    document.cookie = `theme=${chosen}; path=/; max-age=${chosen === "auto" ? 0 : 31536000}; samesite=lax`;
    theme(chosen);
  });

  const begin = () => {
    const chooser = document.querySelector(".theme");
    if (chooser) { chooser.hidden = false; theme(doc.dataset.theme); }
    announce();
    ask();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
