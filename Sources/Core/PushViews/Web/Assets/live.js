// The live list: rows come by a stream, each push is there once, and the newest 50 stay.
"use strict";
(() => {
  const table = document.querySelector("#pushes[data-position]");
  if (!table || !window.EventSource) return;
  const body = table;
  const scroller = table.closest(".list");
  const scrolled = () => Math.max(window.scrollY, scroller.scrollTop);
  const button = document.getElementById("new");
  const most = 50;
  let waiting = new Map();
  let isScheduled = false;

  const row = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    const element = template.content.firstElementChild;
    if (element) window.pushrouter.localize(element);
    return element;
  };

  // Puts rows into the list: in place of the former row of a push, or before the rows of lower numbers.
  const show = () => {
    isScheduled = false;
    for (const element of waiting.values()) {
      const former = document.getElementById(element.id);
      if (former) {
        if (former.classList.contains("here")) element.classList.add("here");
        if (former.querySelector("[aria-current]")) element.querySelector("a").setAttribute("aria-current", "true");
        const isFocused = former.contains(document.activeElement);
        former.replaceWith(element);
        if (isFocused) element.querySelector("a").focus();
        continue;
      }
      const number = Number(element.dataset.seq);
      const next = [...body.children].find((other) => Number(other.dataset.seq) < number);
      if (!next && body.children.length >= most) continue;
      element.classList.add("fresh");
      body.insertBefore(element, next || null);
    }
    waiting = new Map();
    while (body.children.length > most) body.lastElementChild.remove();
    button.hidden = true;
    const empty = document.getElementById("empty");
    if (empty && body.children.length) empty.remove();
  };

  // Somebody who reads further down is not disturbed: a button tells what is new.
  const note = () => {
    if (scrolled() > 200) {
      const fresh = [...waiting.keys()].filter((id) => !document.getElementById(id)).length;
      button.textContent = `${fresh} new`;
      button.hidden = fresh === 0;
      return;
    }
    if (!isScheduled) {
      isScheduled = true;
      requestAnimationFrame(show);
    }
  };
  button.addEventListener("click", () => {
    window.scrollTo(0, 0);
    scroller.scrollTop = 0;
    show();
  });
  const quiet = () => { if (scrolled() <= 200 && waiting.size) note(); };
  window.addEventListener("scroll", quiet);
  scroller.addEventListener("scroll", quiet);

  const parameters = new URLSearchParams({
    rows: "1", query: table.dataset.query, position: table.dataset.position,
  });
  const stream = new EventSource(`/events?${parameters}`);
  stream.addEventListener("push", (event) => {
    const element = row(event.data);
    if (!element) return;
    waiting.set(element.id, element);
    // Only the newest are shown: more need not be kept.
    if (waiting.size > 4 * most) waiting.delete(waiting.keys().next().value);
    note();
  });
  window.addEventListener("pagehide", () => stream.close());
})();
