"use strict";
(() => {
  const table = document.querySelector("#pushes[data-position]");
  if (!table || !window.EventSource) return;
  const scroller = table.closest(".list");
  const scrolled = () => Math.max(scrollY, scroller.scrollTop);
  const button = document.getElementById("new");
  const most = 50;
  let waiting = new Map();

  const row = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    const element = template.content.firstElementChild;
    if (element) window.pushrouter.prepare(element);
    return element;
  };

  const show = () => {
    for (const element of waiting.values()) {
      const former = document.getElementById(element.id);
      if (former) {
        const link = element.querySelector("a");
        const isChosen = former.querySelector("[aria-current]");
        const isFocused = former.contains(document.activeElement);
        former.replaceWith(element);
        if (isFocused) link.focus();
        if (!isChosen) continue;
        link.setAttribute("aria-current", "true");
        window.pushrouter.refresh(link);
        continue;
      }
      const number = Number(element.dataset.seq);
      const next = [...table.children].find((other) => Number(other.dataset.seq) < number);
      if (!next && table.children.length >= most) continue;
      table.insertBefore(element, next || null);
    }
    waiting = new Map();
    while (table.children.length > most) table.lastElementChild.remove();
    button.hidden = true;
    const empty = document.getElementById("empty");
    if (empty && table.children.length) empty.remove();
  };

  // For who reads further down.
  const note = () => {
    if (scrolled() <= 200) return waiting.size ? show() : undefined;
    const fresh = [...waiting.keys()].filter((id) => !document.getElementById(id)).length;
    button.textContent = `${fresh} new`;
    button.hidden = fresh === 0;
  };
  button.addEventListener("click", () => {
    scrollTo(0, 0);
    scroller.scrollTop = 0;
    show();
  });
  addEventListener("scroll", note);
  scroller.addEventListener("scroll", note);

  // A browser has six connections to a page for all tabs.
  let position = table.dataset.position;
  let stream;
  let timer;
  const stop = () => {
    clearTimeout(timer);
    if (stream) stream.close();
    stream = undefined;
  };
  const start = () => {
    stop();
    if (document.hidden) return;
    stream = new EventSource(`/events?${new URLSearchParams({ rows: "1", query: table.dataset.query, position })}`);
    stream.addEventListener("open", () => scroller.classList.remove("stale"));
    stream.addEventListener("error", () => {
      scroller.classList.add("stale");
      if (stream && stream.readyState === EventSource.CLOSED) timer = setTimeout(start, 3000);
    });
    stream.addEventListener("at", (event) => { position = event.lastEventId; });
    stream.addEventListener("chips", (event) => {
      const chips = document.querySelector(".chips");
      if (!chips.contains(document.activeElement)) chips.replaceWith(row(event.data));
    });
    stream.addEventListener("push", (event) => {
      position = event.lastEventId || position;
      const element = row(event.data);
      if (!element) return;
      waiting.set(element.id, element);
      if (waiting.size > 4 * most) waiting.delete(waiting.keys().next().value);
      note();
    });
  };
  document.addEventListener("visibilitychange", () => document.hidden ? stop() : start());
  addEventListener("pagehide", stop);
  start();
})();
