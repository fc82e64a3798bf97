#!/usr/bin/python3
"""Measures the page beside a daemon under load.

usage: page.py PROGRAMS [--deliveries N] [--rate N] [--seconds N]

Fills a ledger, lets the page build its index, and asks for lists, pushes and the live stream with five clients while
deliveries come in at a rate. Prints the times, the page's memory, the ledger's bytes a delivery, and how many deliveries a
second the daemon takes at most without the page and with it.
"""
import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


def line(number):
    device = f"d{number % 20000}"
    campaign = f"c{number % 50}"
    data = {"_ab": "true", "cid": campaign, "t": "Title", "a": f"Text {number}"} if number % 2 else {"job": "x"}
    return json.dumps({
        "op": "deliver", "platform": "android", "app": f"app{number % 5}", "device": device, "external_id": f"u{number % 20000}",
        "payload": {"data": data},
    }, separators=(",", ":")).encode() + b"\n"


class Feeder:
    """Writes lines to inject.sock, and reads the replies."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.replies = 0
        self.refused = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while chunk := self.socket.recv(1 << 18):
            rest += chunk
            *lines, rest = rest.split(b"\n")
            self.replies += len(lines)
            self.refused += sum(b'"ok":false' in one for one in lines)

    def send(self, first, count, rate=None, window=4096):
        begin, base = time.monotonic(), self.replies
        for sent in range(0, count, 100):
            self.socket.sendall(b"".join(line(first + sent + place) for place in range(min(100, count - sent))))
            if rate:
                time.sleep(max(0, begin + (sent + 100) / rate - time.monotonic()))
            while sent - (self.replies - base) > window:
                time.sleep(0.001)
        while self.replies - base < count:
            time.sleep(0.001)
        return count / (time.monotonic() - begin)


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000 if times else float("nan")


def memory(process):
    with open(f"/proc/{process.pid}/status") as status:
        facts = dict(one.split(":", 1) for one in status.read().splitlines() if ":" in one)
    return int(facts["VmRSS"].split()[0]) / 1024, int(facts["VmHWM"].split()[0]) / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--deliveries", type=int, default=200_000)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--seconds", type=int, default=15)
    arguments = parser.parse_args()
    programs, root = os.path.abspath(arguments.programs), tempfile.mkdtemp(prefix="page.")
    for folder in ("config/handlers.d", "config/routes.d", "state", "run"):
        os.makedirs(f"{root}/{folder}")
    with open(f"{root}/config/pushrouterd.conf", "w") as file:
        file.write("[Daemon]\nRequestsInFlightMax=100000\n[Log]\nLevel=err\n")
    places = ["--config", f"{root}/config", "--state", f"{root}/state", "--runtime", f"{root}/run"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": open(f"{root}/log", "w")}
    daemon = subprocess.Popen([f"{programs}/pushrouterd", *places], **quiet)
    while not os.path.exists(f"{root}/run/inject.sock"):
        time.sleep(0.05)
    feeder = Feeder(f"{root}/run/inject.sock")
    count = arguments.deliveries
    alone = feeder.send(0, count)
    print(f"without the page: {alone:,.0f} deliveries a second ({count:,})")
    port = 28080
    page = subprocess.Popen([f"{programs}/pushrouter-web", *places, "--listen", f"127.0.0.1:{port}"], **quiet)

    def ask(client, path):
        client.request("GET", path)
        answer = client.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {body[:200]}")
        return body

    client = http.client.HTTPConnection("127.0.0.1", port)
    while True:
        try:
            ask(client, "/help")
            break
        except OSError:
            client.close()
            time.sleep(0.1)
    # The ledger lags behind the log after such a burst.
    while json.loads(ask(client, "/api/pushes?limit=1"))["pushes"][0]["seq"] < count:
        time.sleep(0.1)
    # The index exists once a search without a match has read everything.
    begin = time.monotonic()
    while json.loads(ask(client, "/api/pushes?query=device:nobody"))["next"] is not None:
        time.sleep(0.2)
    print(f"index: {time.monotonic() - begin:.1f} s for {count:,}, memory {memory(page)[0]:.1f} MiB")
    times, stop, lag = {}, threading.Event(), []

    def measure(seed):
        chance, own = random.Random(seed), http.client.HTTPConnection("127.0.0.1", port)
        while not stop.is_set():
            kind = chance.choice(["device", "user", "campaign", "handler", "push", "list"])
            number = chance.randrange(count)
            path = {
                "device": f"/?query=device:d{number % 20000}", "user": f"/?query=user:u{number % 20000}",
                "campaign": f"/?query=campaign:c{number % 50 | 1}", "handler": "/?query=handler:nobody",
                "push": f"/push/{number + 1}", "list": "/",
            }[kind]
            begin = time.monotonic()
            ask(own, path)
            times.setdefault(kind, []).append(time.monotonic() - begin)
            time.sleep(0.05)

    def listen():
        own = socket.create_connection(("127.0.0.1", port))
        own.sendall(b"GET /events?query=device:live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        rest = b""
        while not stop.is_set():
            rest += own.recv(1 << 16)
            subscribed.set()
            while (end := rest.find(b"\n\n")) >= 0:
                event, rest = rest[:end], rest[end + 2:]
                if b"event: push" in event:
                    lag.append(time.monotonic() - probes.pop(0))

    probes, subscribed = [], threading.Event()
    threads = [threading.Thread(target=measure, args=(seed,), daemon=True) for seed in range(5)]
    threads.append(threading.Thread(target=listen, daemon=True))
    for thread in threads:
        thread.start()
    prober = Feeder(f"{root}/run/inject.sock")

    def probe():
        # An event of an earlier probe would be taken for that of the next one.
        subscribed.wait()
        while not stop.is_set():
            probes.append(time.monotonic())
            prober.socket.sendall(json.dumps({
                "op": "deliver", "platform": "android", "device": "live", "payload": {"data": {"job": "x"}}}).encode() + b"\n")
            time.sleep(0.5)

    threading.Thread(target=probe, daemon=True).start()
    reached = feeder.send(count, arguments.rate * arguments.seconds, rate=arguments.rate)
    stop.set()
    print(f"load: {reached:,.0f} deliveries a second beside five clients and a stream, {feeder.refused} refused")
    for kind, found in sorted(times.items()):
        print(f"{kind:9} p50 {percentile(found, 0.5):7.1f} ms  p95 {percentile(found, 0.95):7.1f} ms  ({len(found)})")
    print(f"stream    p50 {percentile(lag, 0.5):7.1f} ms  p95 {percentile(lag, 0.95):7.1f} ms  ({len(lag)}) from the sender's line to the event")
    print(f"page: memory {memory(page)[0]:.1f} MiB now, {memory(page)[1]:.1f} at most")
    beside = feeder.send(2 * count, min(count, 200_000))
    print(f"with the page, nobody asking: {beside:,.0f} deliveries a second, {beside / alone:.3f} of that without")
    page.send_signal(signal.SIGTERM)
    page.wait()
    daemon.send_signal(signal.SIGTERM)
    daemon.wait()
    size = sum(os.path.getsize(f"{root}/state/{name}") for name in ("ledger.db", "ledger.db-wal") if os.path.exists(f"{root}/state/{name}"))
    print(f"ledger: {size / (feeder.replies + prober.replies):.0f} bytes a delivery")
    subprocess.run(["rm", "-rf", root], check=True)


main()
