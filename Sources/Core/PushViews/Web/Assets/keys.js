// Keys, local times, the pane, copies, and answers while one types. Each page works without it.
"use strict";
(() => {
  const two = (number) => String(number).padStart(2, "0");

  const localize = (element) => {
    if (document.documentElement.hasAttribute("data-utc")) return;
    for (const time of element.querySelectorAll("time[datetime]")) {
      const date = new Date(time.dateTime);
      if (isNaN(date)) continue;
      const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
      const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
      if (time.hasAttribute("data-short")) {
        time.textContent = clock;
        time.title = `${day} ${clock}`;
      } else {
        time.textContent = `${day} ${clock}.${String(date.getMilliseconds()).padStart(3, "0")}`;
        time.title = time.dateTime;
      }
    }
    for (const button of element.querySelectorAll("button[data-copy]")) button.hidden = false;
  };
  window.pushrouter = { localize };
  localize(document);

  // Puts a part of another page into this one; the last request wins.
  let asked = 0;
  const load = async (target, selector, address, options) => {
    const number = ++asked;
    let text;
    try {
      text = await (await fetch(address, options)).text();
    } catch { return false; }
    const part = new DOMParser().parseFromString(text, "text/html").querySelector(selector);
    if (!part || number !== asked) return false;
    localize(part);
    target.replaceChildren(...(selector === "#result" ? part.childNodes : [part]));
    return true;
  };

  const pane = document.getElementById("pane");
  const isWide = () => pane && getComputedStyle(pane).display !== "none";
  const choose = async (link) => {
    for (const other of document.querySelectorAll(".row[aria-current]")) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    if (!await load(pane, "article.push", link.href)) location.href = link.href;
    pane.scrollTop = 0;
  };
  const row = (event) => event.target.closest("#pushes .row:not(.group)");
  const closeMenus = (but) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== but) menu.open = false;
  };
  document.addEventListener("click", (event) => {
    closeMenus(event.target.closest("details.menu"));
    const link = row(event);
    if (link && isWide() && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      choose(link);
    }
    const copy = event.target.closest("button[data-copy]");
    if (copy) {
      const article = copy.closest("article").querySelector("a[href$='/scenario']");
      const path = article ? article.getAttribute("href").replace("/scenario", "") : location.pathname;
      navigator.clipboard.writeText(location.origin + path).then(() => { copy.textContent = "Copied"; });
    }
  });

  const form = document.getElementById("explain");
  if (form) {
    let timer;
    const ask = () => {
      clearTimeout(timer);
      timer = setTimeout(() => load(document.getElementById("result"), "#result", "/explain", {
        method: "POST", body: new URLSearchParams(new FormData(form)),
      }), 300);
    };
    form.addEventListener("input", ask);
  }

  const move = (step) => {
    const rows = [...document.querySelectorAll("#pushes > li")];
    if (!rows.length) return;
    const here = rows.findIndex((row) => row.classList.contains("here"));
    const next = here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step));
    if (here >= 0) rows[here].classList.remove("here");
    rows[next].classList.add("here");
    rows[next].querySelector("a").focus();
    rows[next].scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.closest("input, textarea, select");
    if (event.key === "Escape" && isTyping) return event.target.blur();
    if (event.key === "Escape") closeMenus();
    if (isTyping) return;
    switch (event.key) {
      case "/": {
        const box = document.getElementById("query");
        if (!box) return;
        event.preventDefault();
        box.focus();
        box.select();
        break;
      }
      case "j": move(1); break;
      case "k": move(-1); break;
      case "?": location.href = "/help#keys"; break;
    }
  });
})();
