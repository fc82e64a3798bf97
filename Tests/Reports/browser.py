"""Opens the pages of `pushctl report` and `pushctl campaigns` in a browser, as people do.

browser.py PUSHROUTERD PUSHCTL [PICTURES]

It makes a ledger with the daemon, puts random rows into it and opens both pages in headless Chromium: light, dark and
400 pixels wide. Nothing may be written to the console, nothing may be wider than the window, every drawing needs a name,
every table a caption and headings, every text its contrast. With PICTURES, a directory, it leaves a picture of each.
Without Chromium it says what is left out. Exit status: 0 all is well, 1 something is not.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report  # noqa: E402

LONG = "20-" + "a-route-with-a-very-long-name-" * 3
NAMES = ("chromium", "chromium-browser", "google-chrome")
ALLOWED_TIME = 60
problems = []

# JavaScript that lists the page's faults, each as a sentence. The browser runs it in the page, which has no script of
# its own. On a small screen the window grows with elements that are too wide, so WIDTH stands for the requested width.
CHECKS = r"""
(() => {
  const wrong = [];
  const say = (holds, what) => { if (!holds) wrong.push(what); };
  const root = document.documentElement;
  say(root.scrollWidth <= WIDTH, `${root.scrollWidth} pixels wide`);
  say(root.lang === "en", "no language");
  say(document.title !== "", "no title");
  say(document.querySelectorAll("h1").length === 1, "not one main heading");
  const named = node => {
    const ids = (node.getAttribute("aria-labelledby") || "").split(" ").filter(id => id);
    const text = ids.map(id => document.getElementById(id)?.textContent.trim() || "");
    return text.length > 0 && text.every(part => part !== "") || (node.getAttribute("aria-label") || "") !== "";
  };
  const drawings = document.querySelectorAll("svg");
  // The strip of a handler stands beside its words.
  drawings.forEach((node, i) =>
    say(node.hasAttribute("role") ? named(node) : node.getAttribute("aria-hidden") === "true", `drawing ${i} has no name`));
  const tables = document.querySelectorAll("table");
  say(tables.length > 2, "no tables");
  tables.forEach(table => {
    const caption = table.caption?.textContent.trim() || "";
    say(caption !== "", "a table without caption");
    for (const head of table.tHead?.rows[table.tHead.rows.length - 1].cells || [])
      say(head.tagName === "TH" && head.scope === "col" && head.textContent !== "", `${caption}: a column without heading`);
    say(table.tHead?.rows.length > 0, `${caption}: no headings`);
    for (const row of table.tBodies[0].rows)
      say(row.cells[0].tagName === "TH" && row.cells[0].scope === "row", `${caption}: a row without heading`);
    const box = table.parentElement;
    say(box.scrollWidth <= box.clientWidth || box.tabIndex === 0 && named(box), `${caption}: cannot be scrolled with keys`);
  });
  const last = [...document.querySelectorAll("table")].filter(table => table.tHead.rows.length === 2)
    .map(table => table.tHead.rows[1].cells[5]);
  if (WIDTH >= 1200)
    last.forEach(cell => say(cell.getBoundingClientRect().right <= WIDTH, "the longest time is out of sight"));
  document.querySelectorAll("[role=region]").forEach(node => say(named(node), "a region without name"));
  document.querySelectorAll("a").forEach(link =>
    say(link.hash !== "" && document.getElementById(link.hash.slice(1)), `a link to nothing: ${link.href}`));
  const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
  say(new Set(ids).size === ids.length, "an identifier is given twice");
  const levels = [...document.querySelectorAll("h1,h2,h3")].map(node => Number(node.tagName[1]));
  say(levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1), "a heading skips a level");

  const channels = colour => colour.match(/[\d.]+/g).map(Number);
  const luminance = colour => {
    const [r, g, b] = channels(colour).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = node => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const seen = new Set();
  const compare = (node, colour, least) => {
    if (colour === "none" || channels(colour)[3] === 0) return;
    const value = contrast(colour, ground(node));
    if (value < least) seen.add(`${node.tagName} ${node.className.baseVal ?? node.className}: contrast ${value.toFixed(2)}`);
  };
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (texts.currentNode.data.trim() === "" || ["TITLE", "DESC"].includes(node.tagName.toUpperCase())) continue;
    const style = getComputedStyle(node);
    compare(node, node instanceof SVGElement ? style.fill : style.color, 4.5);
  }
  document.querySelectorAll("svg rect").forEach(node => {
    const style = getComputedStyle(node);
    say(Number(style.fillOpacity) === 1, "a cell that is thinned out");
    compare(node, style.fill === "none" ? style.stroke : style.fill, 3);
  });
  // Lines of the grid only divide.
  document.querySelectorAll("svg line:not(.g)").forEach(node => compare(node, getComputedStyle(node).stroke, 3));
  return [...new Set(wrong), ...seen];
})()
"""


class Browser:
    """A headless Chromium that is driven over its debugging pipe; it has no port."""

    def __init__(self, program, home):
        reads, self.output = os.pipe()
        self.input, writes = os.pipe()

        def place():
            # The browser reads descriptor 3 and writes 4; duplicates them first, because each number may be the
            # other's.
            copies = os.dup(reads), os.dup(writes)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        # A container has neither a sandbox for root nor a display.
        arguments = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            f"--user-data-dir={home}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            arguments, close_fds=False, preexec_fn=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(reads)
        os.close(writes)
        os.set_blocking(self.input, False)
        self.rest, self.number, self.events = b"", 0, []

    def message(self):
        end = time.monotonic() + ALLOWED_TIME
        while b"\0" not in self.rest:
            try:
                read = os.read(self.input, 1 << 16)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError("the browser does not answer") from None
                time.sleep(0.01)
                continue
            if not read:
                raise EOFError("the browser ended")
            self.rest += read
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        line = json.dumps(request).encode() + b"\0"
        while line:
            line = line[os.write(self.output, line):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, event):
        while all(seen["method"] != event for seen in self.events if "method" in seen):
            self.events.append(self.message())

    def open(self, page, width, scheme, picture):
        """Returns what is wrong with a page."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable", session)
        self.ask(
            "Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1,
            mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.ask("Page.navigate", session, url=page.as_uri())
        self.wait("Page.loadEventFired")
        result = self.ask("Runtime.evaluate", session, expression=CHECKS.replace("WIDTH", str(width)), returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"the checks failed: {result['exceptionDetails']}")
        wrong = list(result["result"]["value"])
        dark = self.ask(
            "Runtime.evaluate", session, expression="getComputedStyle(document.body).backgroundColor", returnByValue=True)
        if (dark["result"]["value"] in ("rgb(255, 255, 255)", "rgb(245, 246, 248)")) != (scheme == "light"):
            wrong.append(f"the scheme is not {scheme}")
        wrong += self.unnamed(session)
        for event in self.events:
            if event.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                wrong.append(f"console: {json.dumps(event['params'])[:300]}")
        if picture:
            shot = self.ask("Page.captureScreenshot", session, captureBeyondViewport=True)
            picture.write_bytes(base64.b64decode(shot["data"]))
        self.ask("Target.closeTarget", targetId=target)
        return wrong

    def unnamed(self, session):
        """What a screen reader cannot name, by the browser's own tree."""
        nodes = self.ask("Accessibility.getFullAXTree", session)["nodes"]
        needed = {"image", "img", "link", "region", "table", "columnheader", "rowheader", "heading"}
        roles = [(node.get("role", {}).get("value"), node.get("name", {}).get("value", "")) for node in nodes
                 if not node.get("ignored")]
        missing = [f"a {role} without a name" for role, name in roles if role in needed and not name.strip()]
        return missing if any(role == "table" for role, _ in roles) else missing + ["no table for a screen reader"]

    def close(self):
        try:
            self.ask("Browser.close")
        except (EOFError, OSError, TimeoutError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def add_campaigns(database):
    """Two campaigns' pushes and opens over four days, taps without a campaign, and taps on what nobody knows."""
    now = int(time.time())
    for index, (seq,) in enumerate(database.execute("SELECT seq FROM requests ORDER BY seq LIMIT 120").fetchall()):
        at = now - 86_400 * (index % 4)
        kinds = ["local.pushnotification.Received"] + ["users.messages.pushnotification.Open"] * (index % 3 == 0)
        for kind in kinds:
            report.insert(database, "events", dict(
                seq=seq, id=os.urandom(16), kind=kind, time=at, delivery=seq, external_user_id=f"user-{index % 50}",
                device_id="d1", app_id="com.example.shop", platform="android",
                campaign_id=("summer & <b>sale</b>", "fall")[index % 2], message_id=f"m{index}"))
        if index % 10 == 0:
            verdict = ("unattributed", "unmatched")[index // 10 % 2]
            report.insert(database, "interactions", dict(cause=seq, verdict=verdict, at=at * 1000))
    # Pushes that Android shows itself, some without a campaign.
    for index, (seq,) in enumerate(database.execute(
            "SELECT seq FROM requests JOIN invocations USING (seq) WHERE platform = 'android' AND outcome = 'handled'"
            " AND n = 0 ORDER BY seq LIMIT 30").fetchall()):
        data = {"_ab": "true", "a": "A", "t": "T"}
        if index % 5:
            data["cid"] = ("summer & <b>sale</b>", "winter")[index % 2]
        line = {"op": "deliver", "platform": "android", "payload": {"notification": {"title": "T"}, "data": data}}
        database.execute("UPDATE request_rows SET body = ?, accepted_at = accepted_at - ? WHERE seq = ?",
                         [json.dumps(line).encode(), 86_400_000 * (index % 2), seq])
        database.execute(
            "UPDATE invocation_rows SET outcome = 7, provider = 'braze', handler = NULL, route = NULL"
            " WHERE seq = ? AND n = 0", [seq])
    database.commit()


def main():
    daemon, program = sys.argv[1:3]
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    chromium = next((found for found in map(shutil.which, NAMES) if found), None)
    if not chromium:
        print("left out: chromium is not installed, so no page was opened in a browser")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        database = report.make_ledger(root, daemon, 1500)
        database.execute(
            "UPDATE invocation_rows SET route = ? WHERE (seq, n) IN (SELECT seq, n FROM invocations WHERE handler = 'broken')",
            [LONG])
        database.execute(
            "UPDATE invocation_rows SET waited_for_seq = seq - 1, waited_for_n = 0, waited_for_handler = 'crm', ahead = 60,"
            " waited_for_us = 702000 WHERE (seq, n) IN (SELECT seq, n FROM invocations WHERE outcome = 'expired')")
        add_campaigns(database)
        where = [program, "--config", root / "config", "--state", root / "state", "--runtime", root / "run"]

        def printed(*arguments):
            return subprocess.run([*where, *arguments], check=True, capture_output=True).stdout

        before = json.loads(printed("report", "--json"))
        for group in [before["histograms"]["all"], *before["histograms"]["by_handler"].values()]:
            group["exec"] = [[time // 10, count] for time, count in group["exec"]]
        (root / "before.json").write_text(json.dumps(before))
        pages = []
        for command, options in (("report", ["--baseline", root / "before.json"]), ("campaigns", [])):
            page = root / f"{command}.html"
            page.write_bytes(printed(command, "--format", "html", *options))
            pages.append(page)
        problems.extend(
            f"campaigns: no {what}" for what in ("(none in the push)", "(not known: no such push)", ">winter</th>")
            if what not in pages[1].read_text())
        problems.extend(f"report: no {what}" for what in ("exec p50", "Compared with ") if what not in pages[0].read_text())
        browser = Browser(chromium, root / "browser")
        try:
            for page in pages:
                for width, scheme in ((1200, "light"), (1200, "dark"), (400, "light"), (400, "dark")):
                    picture = pictures / f"{page.stem}-{scheme}-{width}.png" if pictures else None
                    problems.extend(
                        f"{page.stem}, {scheme}, {width} pixels: {what}" for what in browser.open(page, width, scheme, picture))
        finally:
            browser.close()
    for problem in problems:
        print(f"wrong: {problem}")
    print("pages in a browser: " + (f"{len(problems)} things are wrong" if problems else "all is well"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
