// Keys, and times in the reader's zone. Each page works without it.
"use strict";
(() => {
  const two = (number) => String(number).padStart(2, "0");

  // Shows the times below an element in the zone of the browser.
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
  };
  window.pushrouter = { localize };
  localize(document);

  // Marks the row that the keys are at.
  const move = (step) => {
    const rows = [...document.querySelectorAll("table.pushes tbody tr")];
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
