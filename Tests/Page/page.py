#!/usr/bin/env python3
"""The page in a browser, beside unmodified firebase-admin, programs that are killed, and clients that attack.

    Tests/Page/page.py PROGRAMS [--cache DIR] [--only WORDS] [--pictures DIR] [--readme]

PROGRAMS has pushrouterd, pushrouter-web, pushrouter-gateway and pushctl. Debian's chromium is driven by Playwright, and
axe-core looks at each view. Each step prints a line, below it what is wrong; the test ends with 1 if anything is. Without
chromium or PyPI: "left out", and why. --only: the steps whose names have one of the words, and the first one. --pictures:
screenshots. --readme: packaging/readme/page.png made anew.
"""
import argparse
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[2]
CHROMIUM = "/usr/bin/chromium"
PACKAGES = ["playwright==1.65.2", "axe-playwright-python==0.1.8", "firebase-admin==7.7.0", "pillow"]
# The longest wait for an event: a slower program is wrong.
PATIENCE = 20
wrong = []


def left_out(why):
    print(f"left out: {why}", flush=True)


def check(is_right, what):
    if not is_right:
        wrong.append(what)
        print(f"  wrong: {what}", flush=True)
    return is_right


class Wrong(Exception):
    """A step cannot go on."""


def need(is_right, what):
    if not is_right:
        raise Wrong(what)


def wait_until(what, condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        need(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(0.01)


# MARK: The test's own code


def python_with_packages(cache):
    """The Python program of an environment with the packages, which is made once; None, and a line: there is none."""
    place = pathlib.Path(cache) / f"page-{hashlib.sha256(' '.join(PACKAGES).encode()).hexdigest()[:12]}"
    python = place / "bin/python3"
    if (place / "complete").exists():
        return python
    subprocess.run(["rm", "-rf", place], check=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    if subprocess.run([sys.executable, "-m", "venv", place], capture_output=True).returncode != 0:
        return left_out("python3-venv is not installed")
    got = subprocess.run([python, "-m", "pip", "-q", "--retries", "1", "--timeout", "15", "install", *PACKAGES],
                         capture_output=True, text=True)
    if got.returncode != 0:
        return left_out(f"PyPI gives no {' '.join(PACKAGES)}: {got.stderr.strip().splitlines()[-1:]}")
    (place / "complete").touch()
    return python


# MARK: A sender


def send():
    """Unmodified firebase-admin: reads a JSON object a line, sends it as a message, and says when and how that ended."""
    started = time.time()
    import firebase_admin
    from firebase_admin import credentials, messaging

    firebase_admin.initialize_app(credentials.Certificate(sys.argv[2]))
    for line in sys.stdin:
        fields, begun = json.loads(line), time.time()
        told = {"started": started, "begun": begun}
        if fields.get("notification"):
            fields["notification"] = messaging.Notification(**fields["notification"])
        try:
            told["name"] = messaging.send(messaging.Message(**fields))
        except Exception as error:
            told["raised"] = f"{type(error).__name__}: {error}"
        print(json.dumps(told | {"ended": time.time()}), flush=True)


class Sender:
    """A process of firebase-admin."""

    def __init__(self, stack):
        bundle = f"{stack.root}/gateway/ca.pem"
        proxy = f"http://127.0.0.1:{stack.ports['gateway']}"
        self.process = subprocess.Popen(
            [sys.executable, HERE, "--send", stack.account], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={"PATH": os.environ["PATH"], "HOME": str(stack.root), "SSL_CERT_FILE": bundle, "REQUESTS_CA_BUNDLE": bundle,
                 "HTTPS_PROXY": proxy, "https_proxy": proxy, "PYTHONWARNINGS": "ignore"})

    def begin(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def end(self):
        line = self.process.stdout.readline()
        need(line, "firebase-admin ended")
        return json.loads(line)

    def send(self, **message):
        self.begin(**message)
        told = self.end()
        need("name" in told, f"firebase-admin raised {told.get('raised')}")
        return told

    def stop(self):
        self.process.stdin.close()
        check(self.process.wait(PATIENCE) == 0, "firebase-admin did not end well")


# MARK: The programs


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


HANDLERS = {
    # Runs until the test releases it: a push comes twice in the stream, undecided and done.
    "gated": ("#!/bin/sh\nwhile [ ! -e {root}/open ]; do sleep 0.02; done\n", "Data=gated yes"),
    "good": ("#!/bin/sh\nexec cat >/dev/null\n", "Data=order_id *"),
    "bad": ("#!/bin/sh\necho 'the <b>database</b> is gone' >&2\nexit 1\n", "Data=job *"),
}


class Stack:
    """A daemon, its page, and perhaps a gateway, in a directory."""

    def __init__(self, programs, root, mode="device", gateway=True):
        self.programs, self.root = programs, root
        for folder in ["config/handlers.d", "config/routes.d", "state", "run", "gateway"]:
            (root / folder).mkdir(parents=True)
        (root / "config/pushrouterd.conf").write_text(f"[Dispatch]\nMode={mode}\n")
        for name, (script, match) in HANDLERS.items():
            program = root / f"{name}.sh"
            program.write_text(script.format(root=root))
            program.chmod(0o755)
            (root / f"config/handlers.d/{name}.handler").write_text(
                f"[Handler]\nType=exec\nExec={program}\n" + ("[Retry]\nAttempts=1\n" if mode == "relay" else ""))
            (root / f"config/routes.d/50-{name}.route").write_text(f"[Match]\n{match}\n[Route]\nHandler={name}\n")
        self.ports = {"page": free_port()}
        self.base = f"http://127.0.0.1:{self.ports['page']}"
        self.processes = {}
        self.start("daemon")
        if gateway:
            self.ports["gateway"] = free_port()
            self.make_account()
            self.start("gateway")
        self.start("page")

    def make_account(self):
        self.account = self.root / "account.json"
        key = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True).stdout
        self.account.write_text(json.dumps({
            "type": "service_account", "project_id": "demo", "private_key_id": "k1", "private_key": key, "client_id": "1",
            "client_email": "push@demo.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token"}))

    def start(self, what):
        root, common = self.root, ["--config", self.root / "config", "--runtime", self.root / "run"]
        words = {
            "daemon": ["pushrouterd", *common, "--state", root / "state"],
            "gateway": ["pushrouter-gateway", *common, "--state", root / "gateway", "--listen",
                        f"127.0.0.1:{self.ports.get('gateway')},unix:{root}/gateway.sock"],
            "page": ["pushrouter-web", *common, "--state", root / "state", "--gateway", root / "gateway.sock", "--listen",
                     f"127.0.0.1:{self.ports['page']}"],
        }[what]
        with open(root / f"{what}.log", "ab") as log:
            process = subprocess.Popen([self.programs / words[0], *words[1:]], stdout=log, stderr=log)
        self.processes[what] = process

        def is_up():
            need(process.poll() is None, f"{words[0]} ended: {(root / f'{what}.log').read_text()[-500:]}")
            if what == "daemon":
                return connects(socket.AF_UNIX, str(root / "run/inject.sock"))
            return connects(socket.AF_INET, ("127.0.0.1", self.ports[what]))

        wait_until(f"{words[0]} listens", is_up)

    def kill(self, what):
        self.processes[what].send_signal(signal.SIGKILL)
        self.processes[what].wait()

    def stop(self):
        for what in ["page", "gateway", "daemon"]:
            process = self.processes.get(what)
            if process and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    check(process.wait(30) == 0, f"{what} ended with {process.returncode}")
                except subprocess.TimeoutExpired:
                    check(False, f"{what} does not end on SIGTERM")
                    process.kill()
                    process.wait()

    def inject(self, *requests):
        """Requests over inject.sock; the replies."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.root / "run/inject.sock"))
            lines, replies = client.makefile("r"), []
            for request in requests:
                client.sendall(json.dumps(request).encode() + b"\n")
                reply = json.loads(lines.readline())
                need(reply["ok"], f"the daemon refuses {str(request)[:200]}: {reply}")
                replies.append(reply)
            return replies

    def get(self, path, **more):
        return Answer(self.ports["page"], path, **more)

    def pushes(self, query, **more):
        """The pushes that match, by the API."""
        words = {"query": query, "limit": 500} | more
        while True:
            found = self.get(f"/api/pushes?{urllib.parse.urlencode(words)}")
            if found.status == 204:
                return []
            # A search that stopped after 50 ms continues where it stopped.
            if found.json["pushes"] or not found.json["next"] or "wait" in words:
                return found.json["pushes"]
            words["before"] = found.json["next"]

    def wait_for_push(self, query, is_right=lambda push: True):
        """The first push that matches and is as it should be; the API waits, no loop does."""
        return wait_until(f"a push with {query}", lambda: next(
            (push for push in self.pushes(query, wait="5s") if is_right(push)), None))


def connects(family, address):
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


class Answer:
    """One answer over HTTP; the headers are as given, for attacks."""

    def __init__(self, port, path, method="GET", body=None, headers=None, timeout=PATIENCE):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        body = body.encode() if isinstance(body, str) else body
        headers = {"Host": f"127.0.0.1:{port}"} | (headers or {})
        if body is not None:
            headers["Content-Length"] = str(len(body))
        elif method == "POST":
            headers["Content-Length"] = "0"
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        self.status, self.headers = answer.status, answer.headers
        self.text = answer.read().decode(errors="replace")
        connection.close()

    @property
    def json(self):
        need(self.status == 200, f"the API answers {self.status}: {self.text[:300]}")
        return json.loads(self.text)


# MARK: Payloads to show

MARKUP = ("<script>window.taken=1;document.title='taken'</script><img src=http://evil.example/i.png onerror=\"window.taken=2\">"
          "<a href=\"javascript:window.taken=3\">link</a></textarea></pre></table></title><style>*{display:none}</style>")
# Terminal escapes, marks of text direction, and a line separator.
MARKS = "\x1b[31m\x1b]0;taken\x07\u202e\u2066\u200f\u2028end"


def hostile():
    text = MARKUP + MARKS
    # A name has at most 255 bytes.
    name = (MARKS + MARKUP)[:200]
    return {
        "platform": "android", "app": name, "device": "evil-" + name, "external_id": name, "id": "evil",
        "payload": {"notification": {"title": text, "body": "x" * 100_000 + text, "image": "http://evil.example/image.png",
                                     "icon": "javascript:window.taken=4"},
                    "data": {text: text, "title": text, "k]]>": "y" * 20_000}}}


def hostile_long():
    """A text of 200 KiB, in the line of one request."""
    return {"platform": "android", "app": "shop", "device": "evil-long",
            "payload": {"data": {"title": MARKUP, "body": MARKUP + "long " * 40_960}}}


def hostile_buttons():
    """10,000 buttons."""
    return {"platform": "web", "app": "shop", "device": "evil-buttons",
            "payload": {"notification": {"title": MARKUP, "body": "b",
                                         "actions": [{"action": f"{n}", "title": "<"} for n in range(8)] +
                                                    [{"action": "x"}] * 9_992}}}


def fixtures():
    """A few dozen payloads of others, each for its platform."""
    folder = ROOT / "Tests/Fixtures/payloads"
    expected = {}
    for path in sorted(folder.glob("*/*.json")):
        name = path.parent.name
        if name == "providers":
            continue
        payload = json.loads(path.read_text())
        is_apple = "aps" in payload or "apns" in path.stem or "ios" in str(path)
        platform = "web" if name == "braze-web" else "ios" if is_apple else "android"
        expected[str(path.relative_to(folder))] = {"op": "deliver", "platform": platform, "app": "com.example.shop",
                                                   "device": f"{platform}-1", "external_id": "anna", "payload": payload}
    return expected


def braze(cid):
    """What Braze sends: data alone, all of it text."""
    return {"_ab": "true", "t": "Spring is here", "a": "20 % off until Sunday", "n": "7", "p": "0", "cid": cid,
            "extra": "{\"meal\":\"Risotto\"}"}


class Browser:
    """Pages of one stack; anything that a page says to the console or asks of another host is wrong."""

    def __init__(self, browser, stack):
        self.browser, self.stack = browser, stack

    @contextlib.contextmanager
    def page(self, script=True, is_quiet=True, **more):
        context = self.browser.new_context(java_script_enabled=script, reduced_motion="reduce", accept_downloads=True,
                                           **{"viewport": {"width": 1280, "height": 900}} | more)
        context.set_default_timeout(PATIENCE * 1000)
        base = self.stack.base
        said, foreign = [], []

        def refuse(route):
            foreign.append(route.request.url)
            route.abort()

        context.route(lambda url: not url.startswith((base + "/", "data:")), refuse)
        page = context.new_page()
        page.base, page.said = base, said
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        try:
            yield page
        finally:
            context.close()
        for url in foreign:
            check(False, f"asked another host: {url}")
        for text in said if is_quiet else []:
            check(False, f"the console of a page: {text}")

    def go(self, page, path, status=200):
        answer = page.goto(self.stack.base + path)
        check(answer.status == status, f"{path}: status {answer.status}")
        # Chromium itself logs a page whose status is not 200 to the console.
        if status != 200:
            page.said[:] = [text for text in page.said if f"status of {status}" not in text]
        return answer


AXE = """options => axe.run(document, options).then(found => found.violations.map(
  one => `${one.id} (${one.impact}): ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 150)).join(" | ")}`))"""


def look(page, axe, name, rules=None):
    """axe-core finds nothing."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": {"type": "rule", "values": rules}} if rules else {})
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(axe)
    for violation in page.evaluate(AXE, options):
        check(False, f"{name}: axe: {violation}")


def look_for_width(page, name, width=375):
    found = page.evaluate("document.documentElement.scrollWidth")
    check(found <= width, f"{name}: the document is {found} px wide at {width} px")


def look_for_heads(page, name):
    check(page.title().strip(" -") not in ("", "pushrouter"), f"{name}: no title")
    check(page.locator("h1").count() == 1 and page.locator("h1").inner_text().strip(), f"{name}: not one h1 with a text")


def list_of(page):
    """The numbers in the list, from top to bottom."""
    return page.evaluate("[...document.querySelectorAll('#pushes > li')].map(row => Number(row.dataset.seq))")


def row(page, seq):
    return page.locator(f"#p{seq}")


# JavaScript that records the events of the page's stream, with their times; runs before any script of the page.
LISTENING = """
window.heard = []; window.opened = 0;
const Own = window.EventSource;
window.EventSource = class extends Own {
  constructor(...words) {
    super(...words);
    this.addEventListener("open", () => window.opened++);
    this.addEventListener("push", event => window.heard.push((/data-seq="(\\d+)"/.exec(event.data) || [])[1]));
  }
};
window.shownAt = {};
document.addEventListener("DOMContentLoaded", () => {
  const body = document.querySelector("#pushes");
  if (body) new MutationObserver(() => {
    for (const row of body.children) window.shownAt[row.dataset.seq] ??= Date.now();
  }).observe(body, { childList: true });
});
"""


@contextlib.contextmanager
def live_page(browser, path, **more):
    """An open list whose stream has begun."""
    with browser.page(**more) as page:
        page.add_init_script(LISTENING)
        browser.go(page, path)
        wait_until("the stream is open", lambda: page.evaluate("window.opened > 0"))
        yield page


# MARK: The steps


class Steps:
    def __init__(self, arguments, playwright, root):
        self.arguments, self.root = arguments, root
        self.programs = arguments.programs
        self.chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--no-proxy-server", "--disable-gpu"])
        import axe_playwright_python

        self.axe = next(pathlib.Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text()
        self.stacks = []

    def stack(self, name, **more):
        stack = Stack(self.programs, self.root / name, **more)
        self.stacks.append(stack)
        return stack

    def stop(self):
        self.chromium.close()
        for stack in self.stacks:
            stack.stop()

    # 1

    def programs_start(self):
        self.device = self.stack("device")
        self.relay = self.stack("relay", mode="relay", gateway=False)
        self.browser, self.relays = Browser(self.chromium, self.device), Browser(self.chromium, self.relay)
        self.sender = Sender(self.device)
        stack, accepted = self.device, 0
        for name, request in fixtures().items():
            try:
                stack.inject(request)
                accepted += 1
            except Wrong:
                # Some payloads are refused.
                pass
        check(accepted >= 60, f"only {accepted} payloads were accepted")
        evil = [{"op": "deliver"} | request for request in (hostile(), hostile_long(), hostile_buttons())]
        self.evil, self.evil_long, self.evil_buttons = [reply["seq"] for reply in stack.inject(*evil)]
        app = {"platform": "android", "app": "com.example.shop", "device": "pixel-1"}
        done, tapped = [reply["seq"] for reply in stack.inject(
            {"op": "deliver", **app, "external_id": "anna", "payload": {"data": {"order_id": "1017", "title": "Your order"}}},
            {"op": "deliver", **app, "external_id": "anna", "payload": {"data": braze("launch")}})]
        self.done = done
        stack.inject(
            {"op": "session", "kind": "start", **app, "external_id": "anna"},
            {"op": "interact", "kind": "opened", "message": tapped, **app},
            {"op": "session", "kind": "end", **app},
            {"op": "token", "kind": "new", **app, "token": "token-of-pixel-1-0123456789"},
            {"op": "device", **app, "state": "foreground", "notifications": "denied"},
            {"op": "log", "kind": "custom_event", "name": "bought", "suite": "s", **app},
            {"op": "publish", "project": "demo", "topic": "news", "message_id": "m1", "payload": {"data": {"order_id": "1"}}})
        last = self.relay.inject(
            {"op": "deliver", **app, "payload": {"data": {"order_id": "1"}}},
            *[{"op": "deliver", **app, "device": f"pixel-{n}", "payload": {"data": {"job": "1", "title": f"Job {n}"}}}
              for n in range(3)])[-1]["seq"]
        stack.wait_for_push("outcome:handled app:com.example.shop", lambda push: push["seq"] == done)
        self.relay.wait_for_push("is:dead", lambda push: push["seq"] == last)
        self.dead = last
        return f"{accepted} payloads, and 3 hostile ones"

    # 2

    def views(self):
        """Path, status, and on which stack."""
        own, relay = self.browser, self.relays
        return [
            (own, "/", 200), (own, "/?query=app%3Acom.example.*+-is%3Areplay", 200), (own, "/?query=nothing%3A", 400),
            (own, "/?query=device%3Anobody", 200), (own, f"/push/{self.done}", 200), (own, f"/explain?push={self.done}", 200),
            (own, f"/push/{self.evil}", 200), (own, f"/push/{self.evil_long}", 200), (own, f"/push/{self.evil_buttons}", 200),
            (own, "/explain", 200), (own, "/devices", 200), (own, "/senders", 200),
            (own, "/campaigns", 200), (own, "/deadletters", 200), (own, "/report", 200),
            (own, "/report?since=-1h&by=handler%2Cplatform&baseline=-2h", 200), (own, "/senders", 200), (own, "/help", 200),
            (own, "/login", 200), (own, "/push/999999", 404), (own, "/nowhere", 404), (relay, "/deadletters", 200),
            (relay, f"/push/{self.dead}", 200), (relay, "/report", 200)]

    def look_at(self, page, name):
        """In light, in dark, and at the width of a phone."""
        look_for_heads(page, name)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            look(page, self.axe, f"{name} in {scheme}", None if scheme == "light" else ["color-contrast"])
        for width in (768, 375):
            page.set_viewport_size({"width": width, "height": 800})
            look_for_width(page, name, width)
        look(page, self.axe, f"{name} at 375 px", ["color-contrast", "scrollable-region-focusable", "target-size"])
        page.set_viewport_size({"width": 1280, "height": 900})

    def views_are_right(self):
        views = self.views()
        for browser in (self.browser, self.relays):
            with browser.page() as page:
                for path, status in [view[1:] for view in views if view[0] is browser]:
                    browser.go(page, path, status)
                    self.look_at(page, path)
                if browser is not self.browser:
                    continue
                browser.go(page, "/explain")
                page.get_by_label("Payload").fill(json.dumps({"data": braze("x")}))
                page.get_by_role("button", name="Explain", exact=True).click()
                page.locator("#result").wait_for()
                check("braze" in page.locator("#result").inner_text().lower(), "explain does not name Braze")
                self.look_at(page, "/explain after POST")
        return f"{len(views) + 1} views, each in light, dark and 375 px"

    def views_without_script(self):
        views = self.views()
        for browser in (self.browser, self.relays):
            with browser.page(script=False, viewport={"width": 375, "height": 800}) as page:
                for path, status in [view[1:] for view in views if view[0] is browser]:
                    browser.go(page, path, status)
                    look_for_heads(page, f"{path} without script")
                    look_for_width(page, f"{path} without script")
                    check(page.locator("script:not([src])").count() == 0, f"{path}: a script of its own")
        return f"{len(views)} views"

    # 3

    def keyboard(self):
        browser = self.browser
        with browser.page() as page:
            from playwright.sync_api import expect

            browser.go(page, "/")
            page.keyboard.press("/")
            expect(page.locator("#query")).to_be_focused()
            page.keyboard.type("campaign:launch")
            page.keyboard.press("Enter")
            page.wait_for_url("**/?query=campaign*")
            expect(page.locator("#pushes > li")).to_have_count(1)
            browser.go(page, "/?query=app%3Acom.example.shop")
            rows = list_of(page)
            for key, place in [("j", 0), ("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0), ("j", 1)]:
                page.keyboard.press(key)
                here = page.evaluate("document.activeElement.closest('#pushes li')?.dataset.seq")
                check(here == str(rows[place]), f"after {key} the row is {here}, not {rows[place]}")
            page.keyboard.press("Enter")
            expect(page.locator("#pane article.push")).to_contain_text(f"#{rows[1]}")
            expect(page.locator("#pane h1")).to_be_focused()
            check(page.locator(".row[aria-current]").count() == 1, "more than one row looks chosen")
            page.keyboard.press("Escape")
            here = page.evaluate("document.activeElement.closest('#pushes li')?.dataset.seq")
            check(here == str(rows[1]), f"after Escape the focus is at {here}, not at the chosen row {rows[1]}")
            # Shared or loaded again, the address shows the same push.
            check(f"push={rows[1]}" in page.url, f"the address {page.url} does not name the chosen push")
            page.reload()
            expect(page.locator("#pane article.push")).to_contain_text(f"#{rows[1]}")
            browser.go(page, f"/push/{self.done}")
            for _ in range(40):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Tap":
                    break
            expect(page.get_by_role("button", name="Tap", exact=True)).to_be_focused()
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            check(outline == "solid", "the focus on Tap cannot be seen")
            before = self.last_interaction()
            # Playwright waits within this call, so the filter of requests answers meanwhile and the form is awaited
            # there.
            with page.expect_navigation():
                page.keyboard.press("Enter")
            wait_until("Tap by Enter", lambda: self.last_interaction() > before)
            page.keyboard.press("?")
            page.wait_for_url("**/help#keys")

    def last_interaction(self):
        found = self.device.pushes("op:interact", limit=1)
        return found[0]["seq"] if found else 0

    # 4

    def live(self):
        from playwright.sync_api import expect

        stack, browser = self.device, self.browser
        (stack.root / "open").unlink(missing_ok=True)
        with live_page(browser, "/") as page:
            before = list_of(page)
            # A sender of its own, because its start counts.
            sender = Sender(stack)
            told = sender.send(token="live-1", data={"gated": "yes", "title": "Held"})
            # A wait ends with the outcome, unless the query asks for what runs.
            push = stack.wait_for_push("device:live-1 is:pending")
            seq = push["seq"]
            row(page, seq).wait_for()
            expect(row(page, seq)).to_contain_text("Held")
            expect(row(page, seq)).to_contain_text("Running")
            shown = page.evaluate("seq => window.shownAt[seq]", str(seq)) / 1000
            from_start, from_send, from_end = [shown - told[when] for when in ("started", "begun", "ended")]
            check(list_of(page)[0] == seq and seq not in before, "the push is not the first row")
            row(page, seq).locator("a").click()
            pane = page.locator("#pane article.push")
            expect(pane).to_contain_text("Running")
            (stack.root / "open").touch()
            expect(row(page, seq)).to_contain_text("Handled")
            expect(pane).to_contain_text("In time")
            heard = page.evaluate("window.heard.map(Number)").count(seq)
            check(heard >= 2, f"the stream told the push {heard} times, not twice")
            check(list_of(page).count(seq) == 1, "a push that was told twice has two rows")
            # A new push does not move the page for a reader further down.
            page.mouse.move(300, 500)
            page.mouse.wheel(0, 700)
            scrolled = "Math.max(window.scrollY, document.querySelector('.list').scrollTop)"
            wait_until("the list is scrolled", lambda: page.evaluate(f"{scrolled} > 300"))
            rows = list_of(page)
            sender.send(token="live-2", data={"order_id": "2"})
            button = page.locator("#new")
            expect(button).to_be_visible()
            expect(button).to_have_text("1 new")
            sender.send(token="live-3", data={"order_id": "3"})
            expect(button).to_have_text("2 new")
            check(list_of(page) == rows, "the list changed under who reads it")
            check(page.evaluate(f"{scrolled} > 300"), "the list scrolled by itself")
            # The reader can reach the button: it is visible.
            in_sight = button.evaluate("b => { const r = b.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight }")
            check(in_sight, "the button \"2 new\" is out of sight for who has scrolled down (page.css: .live)")
            button.click()
            expect(button).to_be_hidden()
            new = [stack.wait_for_push(f"device:live-{n}")["seq"] for n in (3, 2)]
            expect(row(page, new[0])).to_be_in_viewport()
            check(list_of(page)[:2] == new, f"the new ones are not on top: {list_of(page)[:3]}")
            check(len(list_of(page)) <= 50, "more than 50 rows stay")
            sender.stop()
            # The numbers on the saved searches follow the stream.
            problems = page.locator(".chips a", has_text="Problems")
            former = problems.inner_text()
            stack.inject({"op": "deliver", "platform": "android", "app": "com.example.shop", "device": "live-4",
                          "payload": {"notification": {"title": "Lost"}, "data": braze("lost")}})
            expect(problems).not_to_have_text(former)
        check(from_end < 1, f"the row came {from_end * 1000:.0f} ms after the answer to the sender")
        return (f"the row is there {from_start * 1000:.0f} ms after the sender's start, {from_send * 1000:.0f} ms after its "
                f"send began, {from_end * 1000:+.0f} ms after its end")

    # 5

    def whole(self):
        from playwright.sync_api import expect

        stack, browser = self.device, self.browser
        with live_page(browser, "/?query=campaign%3Aspring") as page:
            self.sender.send(token="whole-1", data=braze("spring"))
            seq = stack.wait_for_push("device:whole-1")["seq"]
            row(page, seq).wait_for()
            row(page, seq).get_by_role("link").click()
            # On a wide screen the push is beside the list.
            expect(page.locator("#pane article.push h1")).to_be_visible()
            expect(page.locator("#path")).to_contain_text("fire-admin-python/7.7.0")
            expect(page.locator(".facts").first).to_contain_text("spring")
            page.get_by_role("button", name="Tap", exact=True).click()
            expect(page.locator("#receipts")).to_contain_text("open")
            with page.expect_download() as download:
                page.evaluate(f"location.href = '/push/{seq}/scenario'")
            scenario = stack.root / f"push-{seq}.jsonl"
            download.value.save_as(scenario)
            # The list is live again.
            browser.go(page, "/campaigns")
            opens = page.locator("tr", has=page.get_by_role("rowheader", name="spring", exact=True)).first
            heads = page.locator("table", has=opens).locator("thead th").all_inner_texts()
            cells = opens.locator("th, td").all_inner_texts()
            figures = dict(zip(heads, cells))
            check(figures.get("Received") == "1" and figures.get("Direct") == "1", f"the campaign's figures: {figures}")
        tested = subprocess.run([self.programs / "pushctl", "test", "--config", stack.root / "config", scenario],
                                capture_output=True, text=True)
        check(tested.returncode == 0 and "2 of 2" in tested.stdout, f"pushctl test: {tested.stdout}{tested.stderr}")
        return tested.stdout.strip().splitlines()[-1] if tested.stdout.strip() else ""

    def killed(self):
        stack, browser = self.device, self.browser
        # The browser logs connection errors while a program is killed: they are no fault of the page.
        with live_page(browser, "/?query=title-kill", is_quiet=False) as page:
            number, answered, again = 0, [], 0
            for what in ("page", "gateway", "daemon"):
                opened = page.evaluate("window.opened")
                for _ in range(3):
                    number += 1
                    told = self.sender.send(token=f"kill-{number}", data={"order_id": str(number), "title": "title-kill"})
                    answered.append(told["name"])
                # The kill comes in the middle of a send.
                number += 1
                message = {"token": f"kill-{number}", "data": {"order_id": str(number), "title": "title-kill"}}
                self.sender.begin(**message)
                stack.kill(what)
                stack.start(what)
                told = self.sender.end()
                while "name" not in told:
                    again += 1
                    need(again < 20, f"firebase-admin does not come through any more: {told}")
                    self.sender.begin(**message)
                    told = self.sender.end()
                answered.append(told["name"])
                if what == "page":
                    wait_until("a new stream", lambda: page.evaluate("window.opened") > opened)
                number += 1
                answered.append(self.sender.send(
                    token=f"kill-{number}", data={"order_id": str(number), "title": "title-kill"})["name"])
            told = {name.rsplit("/", 1)[-1] for name in answered}

            def lost():
                return told - {push["message_id"] for push in stack.pushes("title-kill")}

            wait_until("each push that was answered is in the ledger", lambda: not lost())
            known = [push["seq"] for push in stack.pushes("title-kill")]
            check(len(told) == number, f"{number} pushes have {len(told)} names")
            wait_until(f"the open list has the {len(known)} pushes of the ledger, the newest first, each once",
                       lambda: list_of(page) == known)
            # A handler that ran when the daemon was killed does not run again: its push ends without it.
            wait_until("each is done", lambda: page.locator("#pushes > li", has_text="Running").count() == 0)
            streams = page.evaluate("window.opened")
        return f"{number} pushes, {len(known)} in the list, {again} sent again, {streams} streams"

    # 6

    def without_script(self):
        from playwright.sync_api import expect

        stack, browser = self.device, self.browser
        seq = stack.inject({"op": "deliver", "platform": "android", "app": "com.example.bare", "device": "bare-1",
                            "payload": {"data": braze("bare")}})[0]["seq"]
        stack.wait_for_push("device:bare-1")
        with browser.page(script=False) as page:
            browser.go(page, f"/push/{seq}")
            page.get_by_role("button", name="Tap", exact=True).click()
            page.wait_for_url(f"**/push/{seq}")
            expect(page.locator("#receipts")).to_contain_text("open")
            browser.go(page, "/devices")
            form = page.locator("tr", has=page.get_by_role("link", name="bare-1", exact=True)).locator("details")
            form.locator("summary").click()
            form.get_by_label("State of the app").select_option("foreground")
            form.get_by_role("button", name="Set").click()
            page.wait_for_url("**/devices")
            expect(page.locator("tr", has_text="bare-1")).to_contain_text("foreground")
            browser.go(page, f"/push/{seq}")
            page.locator("summary", has_text="Send again").click()
            page.get_by_role("button", name="Send", exact=True).click()
            page.wait_for_url(re.compile(rf"/push/(?!{seq}$)\d+$"))
            found = page.locator(".facts").first.inner_text()
            check("foreground" in found, f"a push that is sent again does not find the device's state: {found}")
            again = int(page.url.rsplit("/", 1)[1])
            browser.go(page, f"/push/{again}")
            page.locator("summary", has_text="Send again").click()
            form = page.locator("form[action$='/send']")
            form.get_by_label("State of the app").select_option("terminated")
            form.get_by_role("button", name="Send", exact=True).click()
            page.wait_for_url(re.compile(rf"/push/(?!{again}$)\d+$"))
            expect(page.locator(".facts").first).to_contain_text("terminated")
            browser.go(page, "/?query=device%3Abare-1")
            check("3 alike" in page.locator("#pushes").inner_text(), "the list without script has not the 3 pushes alike")
        with self.relays.page(script=False) as page:
            self.relays.go(page, "/deadletters")
            page.get_by_label(f"Choose #{self.dead}").check()
            page.get_by_role("button", name="Replay the chosen ones").click()
            expect(page.locator("main")).to_contain_text("1 request replayed, 0 refused")

    # 7

    def hostile_payload(self):
        browser = self.browser
        with live_page(browser, "/?query=device%3Aevil-*") as page:
            check(page.locator("#pushes > li").count() == 3, "the list has not the 3 hostile pushes")
            # The stream shows them too.
            more = self.device.inject({"op": "deliver"} | hostile() | {"id": "another"})[0]["seq"]
            row(page, more).wait_for()
            self.nothing_taken(page, "the list")
            check("<script>window.taken" in row(page, more).inner_text(), "the list does not show the text as text")
            for seq in (self.evil, self.evil_long, self.evil_buttons, more):
                for path in (f"/push/{seq}", f"/explain?push={seq}"):
                    browser.go(page, path)
                    self.nothing_taken(page, path)
                    shown = page.locator("main").inner_text() + "".join(
                        page.locator("textarea").evaluate_all("all => all.map(one => one.value)"))
                    check("<script>window.taken" in shown or "\\u003cscript" in shown, f"{path}: the text is not there")
                browser.go(page, f"/push/{seq}")
                lines = page.evaluate("(e => e.clientHeight / parseFloat(getComputedStyle(e).lineHeight))"
                                      "(document.querySelector('article.push h1'))")
                check(lines <= 2.2, f"/push/{seq}: its title takes {lines:.0f} lines")
                buttons = page.locator(".acts form").count()
                check(buttons <= 20, f"/push/{seq} has {buttons} forms")
            for path in ("/devices", "/campaigns", "/senders", "/report"):
                browser.go(page, path)
                self.nothing_taken(page, path)
            browser.go(page, "/?query=" + urllib.parse.quote(f'"{MARKUP}"'), 200 if '"' not in MARKUP else 200)
            self.nothing_taken(page, "the search")
            browser.go(page, "/" + urllib.parse.quote(MARKUP, safe=""), 404)
            self.nothing_taken(page, "the error page")
            browser.go(page, "/explain")
            page.get_by_label("Payload").fill(json.dumps(hostile()["payload"]))
            page.get_by_role("button", name="Explain", exact=True).click()
            page.locator("#result").wait_for()
            self.nothing_taken(page, "explain")

    def nothing_taken(self, page, name):
        check(page.evaluate("typeof window.taken === 'undefined' && document.title !== 'taken'"), f"{name}: a script ran")
        found = page.evaluate("""() => [...document.querySelectorAll('script:not([src^="/assets/"]), img, iframe, style, '
            + '[onerror], [onload], a[href^="javascript:"], link[href*="evil"]')].map(e => e.outerHTML.slice(0, 100))""")
        check(not found, f"{name}: a part of the payload is a part of the page: {found}")
        text = page.evaluate("document.body.innerText")
        bad = sorted({f"U+{ord(c):04X}" for c in text if c in "\x00\x07\x1b\u202e\u2066\u200f"})
        check(not bad, f"{name}: shows characters that nobody sees: {', '.join(bad)}")

    # 8

    def attacks(self):
        stack = self.device
        port, done = stack.ports["page"], self.done
        form = re.search(r'name="form" value="(\w+)"', stack.get(f"/push/{done}").text)
        need(form, "the page of a push has no form")
        body, kind = f"form={form.group(1)}", {"Content-Type": "application/x-www-form-urlencoded"}
        tap, api = f"/push/{done}/tap", f"/api/pushes/{done}/tap"
        program = {"X-Pushrouter": "1"}
        before = self.last_interaction()
        for name, status, path, more in [
            ("a foreign Host", 421, "/", {"headers": {"Host": f"evil.example:{port}"}}),
            ("no Host", (400, 421), "/", {"headers": {"Host": None}}),
            ("a foreign Host asks the API", 421, "/api/pushes", {"headers": {"Host": "rebound.example"}}),
            ("a foreign Host listens", 421, "/events", {"headers": {"Host": "rebound.example"}}),
            ("a host that begins rightly", 421, "/", {"headers": {"Host": "localhost.evil.example"}}),
            ("localhost", 200, "/", {"headers": {"Host": f"localhost:{port}"}}),
            ("a form from another origin", 403, tap,
             {"method": "POST", "body": body, "headers": kind | {"Origin": "http://evil.example"}}),
            ("a form from no origin", 403, tap, {"method": "POST", "body": body, "headers": kind | {"Origin": "null"}}),
            ("a form from another port", 403, tap,
             {"method": "POST", "body": body, "headers": kind | {"Origin": "http://127.0.0.1:1"}}),
            ("a form across sites", 403, tap,
             {"method": "POST", "body": body, "headers": kind | {"Sec-Fetch-Site": "cross-site"}}),
            ("a form of the same site", 403, tap,
             {"method": "POST", "body": body, "headers": kind | {"Sec-Fetch-Site": "same-site"}}),
            ("a form without a token", 403, tap, {"method": "POST", "body": "", "headers": kind}),
            ("a form with a wrong token", 403, tap, {"method": "POST", "body": "form=0123", "headers": kind}),
            ("a form that is another type", 403, tap,
             {"method": "POST", "body": body, "headers": {"Content-Type": "text/plain"}}),
            ("the API without its header", 403, api, {"method": "POST"}),
            ("the API across sites", 403, api, {"method": "POST", "headers": program | {"Sec-Fetch-Site": "cross-site"}}),
            ("a GET that would tap", 405, tap, {}),
            ("another method", 405, "/", {"method": "DELETE"}),
            ("a path that climbs", 404, "/assets/..%2f..%2fetc%2fpasswd", {}),
        ]:
            answer = stack.get(path, **more)
            wanted = status if isinstance(status, tuple) else (status,)
            check(answer.status in wanted, f"{name}: {answer.status}, not {status}: {answer.text[:100]!r}")
            check("access-control-allow-origin" not in answer.headers, f"{name}: CORS")
        check(self.last_interaction() == before, "an attack tapped")
        # A proxy is a user over a Unix socket; any client can write a header.
        forged = stack.get("/", headers={"X-Forwarded-User": "ceo", "X-Forwarded-Host": "evil.example"})
        check(forged.status == 200 and "ceo" not in forged.text and "evil.example" not in
              re.sub(r"(?s)<main.*", "", forged.text), "a forged proxy header is believed")
        policy = forged.headers.get("Content-Security-Policy", "")
        for word in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]:
            check(word in policy, f"no {word} in the policy: {policy}")
        check(forged.headers.get("X-Content-Type-Options") == "nosniff", "no nosniff")
        # The same form, sent by the page itself, is accepted.
        right = stack.get(tap, method="POST", body=body, headers=kind | {
            "Origin": stack.base, "Sec-Fetch-Site": "same-origin"})
        check(right.status == 303, f"the page's own form: {right.status}")

    def login(self):
        from playwright.sync_api import expect

        secret = self.root / "token"
        secret.write_text("0123456789abcdef-own\n")
        secret.chmod(0o600)
        with self.another_page("secret", config=f"[Web]\nToken={secret}\n") as other:
            for path, status in [("/", 303), ("/api/pushes", 401), ("/events", (303, 401)), ("/help", 303), ("/login", 200)]:
                got = Answer(other.port, path).status
                check(got in (status if isinstance(status, tuple) else (status,)), f"without the token {path} is {got}")
            check(Answer(other.port, "/api/pushes", headers={"Authorization": "Bearer no"}).status == 401, "a wrong token")
            check(Answer(other.port, "/api/pushes", headers={"Authorization": "Bearer 0123456789abcdef-own"}).status == 200,
                  "the right token")
            check(Answer(other.port, "/?token=0123456789abcdef-own").status == 303, "a token in a query is taken")
            with Browser(self.chromium, other).page(is_quiet=False) as page:
                page.goto(other.base + "/")
                page.wait_for_url("**/login")
                page.get_by_label("Token").fill("wrong")
                page.get_by_role("button", name="Log in").click()
                expect(page.get_by_role("alert")).to_be_visible()
                page.get_by_label("Token").fill("0123456789abcdef-own")
                page.keyboard.press("Enter")
                page.wait_for_url(other.base + "/")
                expect(page.locator("#pushes > li").first).to_be_visible()
                cookie = page.context.cookies()[0]
                check(cookie["httpOnly"] and cookie["sameSite"] == "Strict", f"the cookie: {cookie}")

    @contextlib.contextmanager
    def another_page(self, name, words=(), config="", runtime=None):
        """Another program over the ledger of the first daemon."""
        stack, port = self.device, free_port()
        root = self.root / name
        (root / "config").mkdir(parents=True)
        (root / "config/web.conf").write_text(config)
        with open(root / "log", "ab") as log:
            process = subprocess.Popen(
                [*words, self.programs / "pushrouter-web", "--config", root / "config", "--state", stack.root / "state",
                 "--runtime", runtime or stack.root / "run", "--listen", f"127.0.0.1:{port}"], stdout=log, stderr=log)

        def is_up():
            need(process.poll() is None, f"another page ended: {(root / 'log').read_text()[-500:]}")
            return connects(socket.AF_INET, ("127.0.0.1", port))

        try:
            wait_until("another page listens", is_up)
            found = argparse.Namespace(port=port, base=f"http://127.0.0.1:{port}", process=process)
            yield found
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(PATIENCE)

    def reader(self):
        """A user who may read, and do nothing."""
        if os.geteuid() != 0:
            return left_out("only root starts a page as another user")
        # The state directory without a user of its group, as the unit has the group pushrouterd.
        self.root.chmod(0o755)
        self.programs_for_others()
        run = self.device.root / "run"
        for socket_name in ("inject.sock", "control.sock"):
            (run / socket_name).chmod(0o600)
        try:
            with self.another_page("reader", [
                    "setpriv", "--reuid=65534", "--regid=0", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]) as other:
                browser = Browser(self.chromium, other)
                browser.stack = other
                with browser.page() as page:
                    browser.go(page, "/")
                    check(page.locator("#pushes > li").count() > 0, "the reader's list has no pushes")
                    check("only reads" in page.locator("header").text_content(), "the header does not say that it only reads")
                    for path in (f"/push/{self.done}", "/devices", "/deadletters", "/report"):
                        browser.go(page, path)
                        forms = page.locator("form[method=post]").count()
                        check(forms == 0, f"the reader's {path} has {forms} buttons")
                        check(page.locator(".problem").count() == 0, f"the reader's {path} has a problem")
                # The form token of the page that may act: no page shows it here, so the test takes it from explain.
                form = re.search(r'name="form" value="(\w+)"', Answer(other.port, "/explain").text).group(1)
                kind = {"Content-Type": "application/x-www-form-urlencoded"}
                before = self.last_interaction()
                for path, body in [(f"/push/{self.done}/tap", ""), (f"/push/{self.done}/send", ""),
                                   ("/devices", "&device=pixel-1&state=foreground"), ("/session", "&kind=start"),
                                   ("/deadletters/purge", "&requests=1"), (f"/push/{self.done}/replay", "")]:
                    got = Answer(other.port, path, method="POST", body=f"form={form}{body}", headers=kind)
                    check(got.status == 403, f"the reader's POST {path}: {got.status}")
                got = Answer(other.port, f"/api/pushes/{self.done}/tap", method="POST", headers={"X-Pushrouter": "1"})
                check(got.status == 403, f"the reader's POST by the API: {got.status}")
                check(self.last_interaction() == before, "the reader tapped")
        finally:
            for socket_name in ("inject.sock", "control.sock"):
                (run / socket_name).chmod(0o660)
        # A directory of sockets without inject.sock.
        bare = self.root / "bare"
        bare.mkdir()
        (bare / "read.sock").symlink_to(run / "read.sock")
        with self.another_page("missing", runtime=bare) as other:
            text = Answer(other.port, f"/push/{self.done}").text
            check("only reads" in text and "method=\"post\"" not in text, "without inject.sock there are buttons")
            got = Answer(other.port, f"/api/pushes/{self.done}/tap", method="POST", headers={"X-Pushrouter": "1"})
            check(got.status == 403, f"without inject.sock a POST by the API: {got.status}")

    def programs_for_others(self):
        """Another user must get at the program: it is copied where everybody may read."""
        check(os.access(self.programs, os.X_OK), "the programs cannot be reached")

    def beside(self, other, path):
        """Seconds that the page took for a path, and that another page without the hostile clients took for the same.

        A busy machine slows both, so a bound on the first is told from the second."""
        seconds = []
        for port in (other.port, self.device.ports["page"]):
            begun = time.monotonic()
            check(Answer(port, path).status == 200, f"{path} is not answered beside hostile clients")
            seconds.append(time.monotonic() - begun)
        return seconds

    def streams(self):
        with self.another_page("beside-streams") as other:
            return self.streams_beside(other)

    def streams_beside(self, other):
        stack = self.device
        port, open_streams = stack.ports["page"], []
        request = f"GET /events?query= HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()

        def stream(small=True):
            client = socket.socket()
            if small:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(PATIENCE)
            client.connect(("127.0.0.1", port))
            client.sendall(request)
            return client

        def head(client):
            return client.recv(256).split(b"\r\n")[0].decode()

        try:
            # The browser's streams may still be ending.
            first = wait_until("a stream begins", lambda: (lambda c: c if "200" in head(c) else c.close())(stream()))
            open_streams.append(first)
            for _ in range(31):
                open_streams.append(wait_until("32 streams begin", lambda: (
                    lambda c: c if "200" in head(c) else c.close())(stream())))
            refused = stream()
            check("503" in head(refused), "the 33rd stream is not refused")
            refused.close()
            longest, usual, count = 0.0, 0.0, 0
            big = {"op": "deliver", "platform": "android", "app": "com.example.shop", "device": "flood",
                   "payload": {"data": {"order_id": "1", "title": "t" * 500}}}
            for _ in range(10):
                stack.inject(*[big] * 40)
                count += 40
                usual, longest = map(max, (usual, longest), self.beside(other, "/"))
            check(longest < 1 + 5 * usual, f"the page took {longest:.2f} s while 32 streams did not read, "
                  f"another page {usual:.2f} s")
            wait_until("each push of the flood is in the list", lambda: len(stack.pushes("device:flood")) == count)
        finally:
            for client in open_streams:
                client.close()
        after = wait_until("a stream begins again", lambda: (lambda c: c if "200" in head(c) else c.close())(stream()))
        after.close()
        return f"{count} pushes, the page within {longest * 1000:.0f} ms"

    def connections(self):
        with self.another_page("beside-connections") as other:
            return self.connections_beside(other)

    def connections_beside(self, other):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        need(hard >= 2048, f"only {hard} files may be open")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
        stack, clients, longest, usual = self.device, [], 0.0, 0.0
        try:
            for number in range(1000):
                client = socket.create_connection(("127.0.0.1", stack.ports["page"]), timeout=PATIENCE)
                if number % 2:
                    client.sendall(b"GET / HTTP/1.1\r\nHo")
                clients.append(client)
            for _ in range(10):
                usual, longest = map(max, (usual, longest), self.beside(other, "/help"))
            check(longest < 1 + 5 * usual, f"a good client waited {longest:.2f} s, at another page {usual:.2f} s")
        finally:
            for client in clients:
                client.close()
        return f"a good client within {longest * 1000:.0f} ms"

    # 9

    def pictures(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        views = [("list", "/"), ("push", f"/push/{self.done}"), ("report", "/report"), ("campaigns", "/campaigns"),
                 ("devices", "/devices"), ("hostile", f"/push/{self.evil}"), ("explain", "/explain"), ("help", "/help")]
        with self.browser.page() as page:
            for name, path in views:
                self.browser.go(page, path)
                for scheme, width in [("light", 1280), ("dark", 1280), ("light", 375)]:
                    page.emulate_media(color_scheme=scheme)
                    page.set_viewport_size({"width": width, "height": 900})
                    page.screenshot(path=folder / f"{name}-{scheme if width > 375 else 375}.png", full_page=name != "hostile")
        return str(folder)

    def readme(self):
        """The list with a push beside it as README shows them: at most 200 KB."""
        from PIL import Image

        stack = self.stack("readme")
        shop = {"platform": "android", "app": "com.example.shop", "device": "pixel-1", "external_id": "anna"}
        phone = {"platform": "ios", "app": "com.example.shop", "device": "iphone-2", "external_id": "ben"}
        stack.inject(
            {"op": "deliver", **shop, "payload": {"data": {"order_id": "1017", "title": "Your order is on its way"}}},
            {"op": "deliver", **phone, "payload": {"aps": {"alert": {"title": "New message", "body": "from Ben"}}}},
            {"op": "deliver", **shop, "payload": {"data": {"job": "1", "title": "Sync the basket"}}},
            {"op": "deliver", "platform": "web", "app": "shop.example", "device": "firefox-3",
             "payload": {"notification": {"title": "Back in stock", "body": "The blue one"}}})
        sender = Sender(stack)
        sender.send(token="pixel-7", data=braze("spring"))
        sender.send(token="pixel-8", notification={"title": "Table is ready", "body": "Come in"})
        sender.send(token="pixel-9", data={"order_id": "1018", "title": "Your order is packed"})
        sender.stop()
        tapped = stack.wait_for_push("device:pixel-7")["seq"]
        stack.inject({"op": "interact", "kind": "opened", "platform": "android", "device": "pixel-7", "message": tapped})
        stack.wait_for_push("device:pixel-9", lambda push: push["outcome"] == "handled")
        wait_until("the tap counts", lambda: stack.pushes("device:pixel-7")[0]["opened"])
        browser, picture = Browser(self.chromium, stack), ROOT / "packaging/readme/page.png"
        with browser.page(viewport={"width": 1280, "height": 720}) as page:
            browser.go(page, "/")
            page.locator("#pushes .row").nth(2).click()
            page.locator("#pane article.push h1").wait_for()
            shot = self.root / "page.png"
            page.screenshot(path=shot)
        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.open(shot).convert("RGB").quantize(64).save(picture, optimize=True)
        size = picture.stat().st_size
        check(size <= 200_000, f"{picture} has {size} bytes")
        return f"{picture.relative_to(ROOT)}, {size // 1000} KB"

    def run(self):
        all_steps = [
            ("programs and pushes", self.programs_start), ("views", self.views_are_right),
            ("views without script", self.views_without_script), ("keyboard alone", self.keyboard), ("live", self.live),
            ("the whole", self.whole), ("kill -9 of each program", self.killed), ("acts without script", self.without_script),
            ("hostile payload", self.hostile_payload), ("attacks", self.attacks), ("login", self.login),
            ("a reader's page", self.reader), ("32 streams that do not read", self.streams),
            ("1,000 connections that say nothing", self.connections)]
        if self.arguments.pictures:
            all_steps.append(("pictures", lambda: self.pictures(pathlib.Path(self.arguments.pictures))))
        if self.arguments.readme:
            all_steps.append(("the picture of README", self.readme))
        words = self.arguments.only
        for index, (name, step) in enumerate(all_steps):
            if words and index > 0 and not any(word in name for word in words.split(",")):
                continue
            begun, before = time.monotonic(), len(wrong)
            told = ""
            try:
                told = step()
            except Exception as error:
                check(False, f"{name}: {type(error).__name__}: {error}")
                if index == 0:
                    break
            state = "right" if len(wrong) == before else f"{len(wrong) - before} things are wrong"
            print(f"{name}: {state}, {time.monotonic() - begun:.1f} s" + (f" ({told})" if told else ""), flush=True)
        if hasattr(self, "sender"):
            self.sender.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/pushrouterd-tests"))
    parser.add_argument("--only")
    parser.add_argument("--pictures")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.programs = arguments.programs.resolve()
    if not arguments.inside:
        if not os.path.exists(CHROMIUM):
            return left_out("chromium is not installed")
        python = python_with_packages(arguments.cache)
        if python:
            os.execv(python, [str(python), str(HERE), *sys.argv[1:], "--inside"])
        return
    from playwright.sync_api import sync_playwright

    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="page") as directory, sync_playwright() as playwright:
        steps = Steps(arguments, playwright, pathlib.Path(directory))
        try:
            steps.run()
        finally:
            steps.stop()
    print(f"page: {'right' if not wrong else f'{len(wrong)} things are wrong'}, {time.monotonic() - begun:.1f} s", flush=True)
    sys.exit(bool(wrong))


if sys.argv[1:2] == ["--send"]:
    send()
else:
    main()
