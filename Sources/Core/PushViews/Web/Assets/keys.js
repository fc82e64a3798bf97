// Each page works without it.
"use strict";
(() => {
  // The reader's own time beside UTC, and copies.
  const prepare = (element) => {
    for (const time of element.querySelectorAll("time")) {
      time.title = `${time.title || time.textContent} = ${new Date(time.dateTime)}`;
    }
    for (const button of element.querySelectorAll("button[data-copy]")) button.hidden = false;
  };
  window.pushrouter = { prepare };
  prepare(document);

  // Puts a part of another page into this one; the last request wins.
  let asked = 0;
  const load = async (target, selector, address, options) => {
    const number = ++asked;
    let text;
    try {
      text = await (await fetch(address, options)).text();
    } catch { return false; }
    if (number !== asked) return true;
    const part = new DOMParser().parseFromString(text, "text/html").querySelector(selector);
    if (!part) return false;
    prepare(part);
    target.replaceChildren(...(selector === "#result" ? part.childNodes : [part]));
    return true;
  };

  const pane = document.getElementById("pane");
  const isWide = () => pane && getComputedStyle(pane).display !== "none";
  const chosen = () => document.querySelector(".row[aria-current]");
  // So that the address can be shared.
  const choose = async (link, isEntered) => {
    chosen()?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    const address = new URL(location.href);
    address.searchParams.set("push", link.pathname.split("/").pop());
    history.replaceState(null, "", address);
    if (!await load(pane, "article.push", link.href)) return location.assign(link.href);
    pane.scrollTop = 0;
    if (isEntered) pane.querySelector("h1")?.focus();
  };
  // A pane in which its reader is at work stays.
  window.pushrouter.refresh = ({ href }) => {
    if (isWide() && !pane.contains(document.activeElement)) load(pane, "article.push", href);
  };
  const isPush = (link) => link && !link.classList.contains("group");
  const openMenu = () => document.querySelector("details.menu[open]");
  document.addEventListener("click", (event) => {
    const menu = openMenu();
    if (menu && !menu.contains(event.target)) menu.open = false;
    const link = event.target.closest("#pushes .row");
    if (isPush(link) && isWide() && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      choose(link, event.detail === 0);
    }
    const copy = event.target.closest("button[data-copy]");
    if (copy) {
      const text = copy.dataset.copy === "link"
        ? location.origin + copy.closest("article").dataset.path : copy.parentElement.querySelector("pre").textContent;
      navigator.clipboard.writeText(text).then(() => { copy.textContent = "Copied"; });
    }
  });

  const form = document.getElementById("explain");
  if (form) {
    let timer;
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => load(document.getElementById("result"), "#result", "/explain", {
        method: "POST", body: new URLSearchParams(new FormData(form)),
      }), 300);
    });
  }

  const move = (step) => {
    const rows = [...document.querySelectorAll("#pushes .row")];
    if (!rows.length) return;
    const here = rows.indexOf(document.activeElement);
    const other = rows.indexOf(chosen());
    const isInPane = pane.contains(document.activeElement);
    const next = here < 0 && !isInPane ? Math.max(0, other)
      : Math.min(rows.length - 1, Math.max(0, (here < 0 ? other : here) + step));
    rows[next].focus();
    rows[next].scrollIntoView({ block: "nearest" });
    if (isWide() && isPush(rows[next])) choose(rows[next]);
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.closest("input, textarea, select");
    switch (event.key) {
      case "Escape": {
        const menu = openMenu();
        if (menu) {
          menu.open = false;
          menu.firstElementChild.focus();
        } else if (isTyping) {
          event.target.blur();
        } else if (pane?.contains(document.activeElement)) {
          (chosen() || document.querySelector("#pushes .row"))?.focus();
        }
        return;
      }
      case "/":
        if (isTyping) return;
        event.preventDefault();
        document.getElementById("query").select();
        return;
      case "j": case "k":
        if (!isTyping && pane) move(event.key === "j" ? 1 : -1);
        return;
      case "?":
        if (!isTyping) location.assign("/help#keys");
    }
  });
})();
