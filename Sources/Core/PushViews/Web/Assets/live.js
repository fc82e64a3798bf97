// The live list: rows come by a stream, each push is there once, and the newest 50 stay.
"use strict";
(() => {
  const table = document.querySelector("table.pushes[data-position]");
  if (!table || !window.EventSource) return;
  const body = table.tBodies[0];
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
        const isFocused = former.contains(document.activeElement);
        former.replaceWith(element);
        if (isFocused) element.querySelector("a").focus();
        continue;
      }
      const number = Number(element.dataset.seq);
      const next = [...body.rows].find((other) => Number(other.dataset.seq) < number);
      if (!next && body.rows.length >= most) continue;
      element.classList.add("fresh");
      body.insertBefore(element, next || null);
    }
    waiting = new Map();
    while (body.rows.length > most) body.lastElementChild.remove();
    button.hidden = true;
    const empty = document.getElementById("empty");
    if (empty && body.rows.length) empty.remove();
  };

  // Somebody who reads further down is not disturbed: a button tells what is new.
  const note = () => {
    if (window.scrollY > 200) {
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
    show();
  });
  window.addEventListener("scroll", () => {
    if (window.scrollY <= 200 && waiting.size) note();
  });

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
