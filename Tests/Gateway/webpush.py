#!/usr/bin/env python3
"""pywebpush, unmodified, against the gateway as the push service of a browser.

webpush.py [--programs DIR] [--cache DIR]

Below "pushctl dev", by its variables: both encodings, every status, bodies that no browser can read, the ends of
subscriptions. Then, while it sends, gateway and daemon are killed: every push that was answered 201 is there, once.
Without PyPI: "left out", and why.
"""
import argparse
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from gateway import HERE, environments

direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # The page is not behind a proxy.


# The client, by the Python of its environment.

def pushctl(*words):
    ended = subprocess.run(["pushctl", "webpush", *words], capture_output=True, text=True, timeout=60)
    if ended.returncode != 0:
        sys.exit(f"pushctl webpush {' '.join(words)}: {ended.stderr}")
    return ended.stdout


def pushes(page, query, count=1, seconds=20):
    end = time.monotonic() + seconds
    while True:
        words = urllib.parse.urlencode({"query": f"{query} -is:pending", "limit": 500})
        found = json.load(direct.open(f"{page}/api/pushes?{words}"))["pushes"]
        if len(found) >= count or time.monotonic() > end:
            return found
        time.sleep(0.05)


def status(subscription, text="Hello", **more):
    """The status of a send, and its Location."""
    import pywebpush

    try:
        answer = pywebpush.webpush(subscription, text, **more)
        return answer.status_code, answer.headers["location"]
    except pywebpush.WebPushException as error:
        body = error.response.json()
        if body["code"] != error.response.status_code or "more_info" not in body:
            sys.exit(f"an answer without Mozilla's form: {body}")
        return error.response.status_code, error.response.headers.get("retry-after")


WRONG = []


def check(name, got, wanted):
    if got != wanted:
        WRONG.append(name)
    print(("good: " if got == wanted else "WRONG: ") + name + ("" if got == wanted else f": {got}, wanted {wanted}"), flush=True)


def client():
    from py_vapid import Vapid02

    page = os.environ["PUSHROUTER_PAGE"]
    vapid = Vapid02()
    vapid.generate_keys()
    from cryptography.hazmat.primitives import serialization
    point = vapid.public_key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    key = base64.urlsafe_b64encode(point).decode().rstrip("=")
    proof = lambda **claims: {"vapid_private_key": vapid, "vapid_claims": {"sub": "mailto:ops@example.com", **claims}}

    plain = json.loads(pushctl("subscribe", "--app", "shop", "--device", "plain"))
    own = json.loads(pushctl("subscribe", "--app", "shop", "--device", "own", "--external-id", "anna", "--key", key))
    check("a subscription has the form of a browser's", sorted(own), ["endpoint", "expirationTime", "keys"])
    text = json.dumps({"title": "T", "ab_cu": "x"})
    for encoding in ["aes128gcm", "aesgcm"]:
        got = status(own, text, content_encoding=encoding, ttl=60, headers={"urgency": "high", "topic": "upd"}, **proof())
        check(f"{encoding} is answered 201", got[0], 201)
        [push] = pushes(page, f"device:own id:{got[1].split('/')[-1]}")
        check(f"{encoding} reaches the worker of the user's device", [push["title"], push["external_id"], push["callback"]],
              ["T", "anna", "push"])
    check("a push without a proof is 201", status(plain)[0], 201)
    check("a plain text reaches the worker", [push["callback"] for push in pushes(page, "device:plain")], ["push"])

    check("a missing proof is 401", status(own)[0], 401)
    check("a proof for another origin is 403", status(own, **proof(aud="https://push.example"))[0], 403)
    check("a proof beyond a day is 403", status(own, **proof(exp=int(time.time()) + 90_000))[0], 403)
    other = Vapid02()
    other.generate_keys()
    check("the proof of another sender is 403",
          status(own, vapid_private_key=other, vapid_claims={"sub": "mailto:a@example.com"})[0], 403)
    check("3,993 bytes are 201", status(plain, "x" * 3993)[0], 201)
    check("3,994 bytes are 413", status(plain, "x" * 3994)[0], 413)
    check("a guessed endpoint is 404", status(plain | {"endpoint": plain["endpoint"][:-1] + "_"})[0] in (404, 201), True)
    for name in ["400", "401", "403", "404", "410", "413", "429", "500", "502", "503"]:
        there = plain | {"endpoint": plain["endpoint"].rsplit("/", 1)[0] + f"/err-{name}+ra"}
        check(f"err-{name} is {name}", status(there), (int(name), "1"))
    foreign = json.loads(pushctl("subscribe", "--app", "shop", "--device", "foreign"))
    got = status(foreign | {"keys": plain["keys"]})
    check("the keys of another subscription are 201", got[0], 201)
    [push] = pushes(page, "device:foreign")
    check("such a push has its cause", [push["outcome"], push["reason_code"], "other keys" in push["sentence"]],
          ["swallowed", "unreadable_message", True])

    check("the list has all", len(pushctl("list").splitlines()), 3)
    again = json.loads(pushctl("subscribe", "--app", "shop", "--device", "foreign"))
    check("a second subscription ends the first", [status(foreign)[0], status(again)[0]], [410, 201])
    pushctl("unsubscribe", again["endpoint"])
    pushctl("unsubscribe", "--app", "shop", "--device", "own")
    check("an end is 410", [status(again)[0], status(own, **proof())[0], status(plain)[0]], [410, 410, 201])


def sender(path):
    """Sends without end: a line for each push, with its number, and its Location if it was answered 201."""
    import requests

    subscription = json.load(open(path))
    number = 0
    while True:
        number += 1
        try:
            code, location = status(subscription, json.dumps({"title": f"n{number}"}))
        except requests.RequestException as error:
            code, location = type(error).__name__, None
            time.sleep(0.02)
        print(json.dumps([number, code, location]), flush=True)


# The kills.

class Machine:
    def __init__(self, programs, root):
        self.programs, self.root = programs, root
        for name in ["run", "config/handlers.d", "config/routes.d"]:
            os.makedirs(f"{root}/{name}")
        open(f"{root}/config/handlers.d/nobody.handler", "w").write("[Handler]\nType=discard\n")
        open(f"{root}/config/routes.d/10-all.route", "w").write("[Match]\n[Route]\nHandler=nobody\n")
        self.port, self.page_port = free_port(), free_port()
        self.start_daemon()
        self.start_gateway()
        self.page = self.start("pushrouter-web", "--state", f"{root}/state", "--listen", f"127.0.0.1:{self.page_port}")

    def start(self, name, *words):
        return subprocess.Popen(
            [f"{self.programs}/{name}", "--config", f"{self.root}/config", "--runtime", f"{self.root}/run", *words],
            stderr=open(f"{self.root}/{name}.log", "ab"))

    def start_daemon(self):
        self.daemon = self.start("pushrouterd", "--state", f"{self.root}/state")
        wait(lambda: connects(f"{self.root}/run/inject.sock"), "the daemon")

    def start_gateway(self):
        self.gateway = self.start(
            "pushrouter-gateway", "--state", f"{self.root}/gateway", "--listen",
            f"127.0.0.1:{self.port},unix:{self.root}/run/gateway.sock")
        wait(lambda: connects(f"{self.root}/run/gateway.sock"), "the gateway")

    def end(self):
        for process in [self.page, self.gateway, self.daemon]:
            process.send_signal(signal.SIGTERM)
        return [process.wait(30) for process in [self.page, self.gateway, self.daemon]]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def connects(path):
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def wait(is_so, what):
    end = time.monotonic() + 60
    while not is_so():
        if time.monotonic() > end:
            sys.exit(f"waited a minute for {what} in vain")
        time.sleep(0.02)


def kills(programs, python, root):
    machine = Machine(programs, root)
    subscription = subprocess.run(
        [f"{programs}/pushctl", "webpush", "subscribe", "--runtime", f"{root}/run", "--gateway", f"{root}/run/gateway.sock",
         "--address", f"localhost:{machine.port}", "--app", "shop", "--device", "chrome"], check=True, capture_output=True)
    open(f"{root}/subscription.json", "wb").write(subscription.stdout)
    output = open(f"{root}/sent", "wb")
    loop = subprocess.Popen(
        [python, os.path.abspath(__file__), "--send", f"{root}/subscription.json"], stdout=output,
        env={"PATH": os.environ["PATH"], "REQUESTS_CA_BUNDLE": f"{root}/gateway/ca.pem"})
    sent = lambda: [json.loads(line) for line in open(f"{root}/sent") if line.endswith("\n")]
    good = lambda: [entry for entry in sent() if entry[1] == 201]
    for process, start in [("gateway", machine.start_gateway), ("daemon", machine.start_daemon)] * 3:
        before = len(good())
        wait(lambda: len(good()) > before + 15, "pushes")
        victim = getattr(machine, process)
        victim.kill()
        victim.wait()
        start()
    before = len(good())
    wait(lambda: len(good()) > before + 5, "pushes after the last kill")
    loop.kill()
    loop.wait()
    taken = good()
    failed = [entry for entry in sent() if entry[1] != 201]
    page = f"http://127.0.0.1:{machine.page_port}"
    # A push that a kill left without an answer may be there, too: the count alone does not say that the last one is.
    wanted, end = {entry[2].split("/")[-1] for entry in taken}, time.monotonic() + 20
    while True:
        found = pushes(page, "device:chrome", len(taken))
        ids = [push["message_id"] for push in found]
        if wanted <= set(ids) or time.monotonic() > end:
            break
        time.sleep(0.05)
    titles = [push["title"] for push in found]
    lost = [entry for entry in taken if ids.count(entry[2].split("/")[-1]) != 1]
    twice = {title for title in titles if titles.count(title) > 1}
    print(f"{len(taken)} pushes were answered 201, {len(failed)} failed, and {len(found)} are in the ledger", flush=True)
    ends = machine.end()
    check("six kills lost nothing that was answered 201", lost, [])
    check("no push came twice", twice, set())
    check("the programs ended well", ends, [0, 0, 0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=".build/debug")
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/pushrouterd-tests"))
    parser.add_argument("--client", action="store_true")
    parser.add_argument("--send")
    arguments = parser.parse_args()
    if arguments.client:
        client()
        sys.exit(1 if WRONG else 0)
    if arguments.send:
        return sender(arguments.send)
    programs = os.path.abspath(arguments.programs)
    os.makedirs(arguments.cache, exist_ok=True)
    python = environments(arguments.cache, {"webpush"})["webpush"]
    with tempfile.TemporaryDirectory() as root:
        words = [f"{programs}/pushctl", "dev", "--temporary", "--port", "0", "--gateway-port", "0", "--", python,
                 os.path.abspath(__file__), "--client"]
        ended = subprocess.run(
            words, stdout=subprocess.PIPE, text=True, timeout=300, cwd=root,
            env={"PATH": f"{programs}:{os.environ['PATH']}", "HOME": root, "TMPDIR": root})
        print(ended.stdout, end="", flush=True)
        if ended.returncode != 0:
            sys.exit("web push is not as at a browser's service")
        kills(programs, python, f"{root}/kills")
    if WRONG:
        sys.exit("kills lost web pushes, or doubled them")


main()
