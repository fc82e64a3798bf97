#!/usr/bin/env python3
"""The latency of a small request beside each operation at its largest documented size.

    Tests/Benchmarks/beside.py [--programs DIR] [--most MS] [OPERATION...]

Starts a daemon for each operation, with the shipped limits. One client does the operation again and again, another sends
small deliveries one after the other. Prints the p99 of the small ones alone and beside the operation, and ends with status
1 if an operation adds more than MS milliseconds (10) to it. Quote figures of a quiet machine only.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

SMALL = {"op": "deliver", "app": "small", "platform": "android", "device": "own", "payload": {"k": "v"}}
LENGTH = 250_000


class Line:
    """A connection that sends objects as lines and reads one line for each."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        reply = json.loads(self.file.readline())
        if not reply.get("ok") and "error" not in reply:
            raise SystemExit(f"beside.py: no reply to {request['op']}: {reply}")
        return reply


class Daemon:
    def __init__(self, programs, configuration, routes=1):
        self.directory = tempfile.mkdtemp(prefix="beside-")
        for name in ("handlers.d", "routes.d"):
            os.makedirs(f"{self.directory}/config/{name}")
        self.write("pushrouterd.conf", "[Dispatch]\nMode=relay\n" + configuration)
        self.write("handlers.d/j.handler", "[Handler]\nType=journal\n")
        self.write("handlers.d/fails.handler", "[Handler]\nType=exec\nExec=/bin/false\n")
        self.write("routes.d/10-fails.route", "[Match]\nData=fails\n[Route]\nHandler=fails\n")
        for number in range(routes):
            self.write(f"routes.d/20-{number:05}.route", f"[Match]\nData=key{number}\n[Route]\nHandler=j\n")
        self.write("routes.d/99.route", "[Route]\nHandler=j\n")
        environment = dict(
            os.environ, CONFIGURATION_DIRECTORY=self.directory + "/config", STATE_DIRECTORY=self.directory + "/state",
            RUNTIME_DIRECTORY=self.directory + "/run")
        self.journal = open(self.directory + "/journal", "wb")
        self.process = subprocess.Popen(
            [programs + "/pushrouterd"], env=environment, stdin=subprocess.DEVNULL, stdout=self.journal,
            stderr=self.journal)
        while not os.path.exists(self.directory + "/run/inject.sock"):
            if self.process.poll() is not None:
                raise SystemExit(open(self.directory + "/journal").read())
            time.sleep(0.01)

    def write(self, name, text):
        with open(f"{self.directory}/config/{name}", "w") as file:
            file.write(text)

    def line(self, name="inject"):
        return Line(f"{self.directory}/run/{name}.sock")

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory)


def subscribe(line, topic, count, prefix="t"):
    for first in range(0, count, 1000):
        line.ask({"op": "topic", "kind": "subscribe", "project": "p", "topic": topic, "unknown": "register",
                  "platform": "android", "app": "a",
                  "tokens": [f"{prefix}{n}" for n in range(first, min(count, first + 1000))]})


# Each operation: what is done before the measurement, and what is done again and again beside it.

def deliver(daemon):
    line = daemon.line()
    return lambda n: line.ask({"op": "deliver", "app": "a", "payload": {"k": "v" * LENGTH}})


def log(daemon):
    line = daemon.line()
    attributes = [{"name": f"attribute_{k}", "value": "v" * 200} for k in range(1000)]
    return lambda n: line.ask({"op": "log", "app": "a", "device": "d", "external_id": f"u{n}", "attributes": attributes})


def topic_new(daemon):
    line = daemon.line()
    return lambda n: subscribe(line, f"{n}" + "x" * 890, 1000, prefix=f"{n}-")


def topic_many(daemon):
    line = daemon.line()
    return lambda n: subscribe(line, f"{n}" + "x" * 890, 1000)


def publish_small(daemon):
    line = daemon.line()
    subscribe(line, "t", 10_000)
    return lambda n: line.ask({"op": "publish", "project": "p", "topic": "t", "payload": {"k": "v"}})


def publish_long(daemon):
    line = daemon.line()
    subscribe(line, "t", 10_000)
    return lambda n: line.ask({"op": "publish", "project": "p", "topic": "t", "payload": {"k": "v" * LENGTH}})


def publish_condition(daemon):
    line = daemon.line()
    subscribe(line, "t", 10_000)
    return lambda n: line.ask({"op": "publish", "project": "p", "condition": "'t' in topics && !('u' in topics)",
                               "payload": {"k": "v"}})


def interact(daemon):
    line = daemon.line()
    return lambda n: line.ask({"op": "interact", "kind": "tap", "device": f"d{n}", "app": "a", "platform": "android",
                               "payload": {"_ab": "true", "cid": "c" * 1000, "t": "t", "a": "v" * LENGTH}})


def repeat(daemon):
    line = daemon.line()
    request = {"op": "deliver", "id": "one", "app": "a", "payload": {"k": "v" * LENGTH}}
    return lambda n: line.ask(request)


def replay(daemon):
    line, control = daemon.line(), daemon.line("control")
    dead = [line.ask({"op": "deliver", "app": "a", "payload": {"fails": "1", "k": "v" * LENGTH}})["seq"]
            for _ in range(60)]

    def act(n):
        if n == 0:
            control.ask({"op": "sync", "timeout_ms": 60000})
        control.ask({"op": "replay", "requests": dead})
    return act


def erase(daemon):
    line, control = daemon.line(), daemon.line("control")
    for n in range(2000):
        line.ask({"op": "deliver", "app": "a", "device": f"d{n}", "external_id": f"u{n % 20}", "payload": {"k": "v" * 2000}})
    return lambda n: control.ask({"op": "erase", "external_id": f"u{n % 20}"})


def flush(daemon):
    line, control = daemon.line(), daemon.line("control")
    attributes = [{"name": f"attribute_{k}", "value": "v"} for k in range(1000)]
    for n in range(50):
        line.ask({"op": "log", "app": "a", "device": f"d{n}", "external_id": f"u{n}", "attributes": attributes})
    return lambda n: control.ask({"op": "flush"})


def status(daemon):
    read = daemon.line("read")
    return lambda n: read.ask({"op": "status"})


def reload(daemon):
    control = daemon.line("control")
    return lambda n: control.ask({"op": "reload"})


OPERATIONS = {function.__name__: function for function in (
    deliver, log, topic_new, topic_many, publish_small, publish_long, publish_condition, interact, repeat, replay, erase,
    flush, status, reload)}


def latencies(line, seconds):
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        line.ask(SMALL)
        times.append(time.monotonic() - begin)
        time.sleep(0.001)
    return sorted(times)


def quantile(times, share):
    return 1000 * times[min(len(times) - 1, int(len(times) * share))]


def measure(name, options):
    daemon = Daemon(options.programs, options.configuration, routes=2000 if name == "reload" else 1)
    try:
        act = OPERATIONS[name](daemon)
        line = daemon.line()
        latencies(line, 0.2)
        alone = latencies(line, options.seconds)
        done, ends = [], threading.Event()

        def run():
            while not ends.is_set():
                act(len(done))
                done.append(None)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        beside = latencies(line, options.seconds)
        ends.set()
        worker.join(60)
        added = quantile(beside, 0.99) - quantile(alone, 0.99)
        print(f"{name:18} {len(done):6} times, small requests: {len(beside):5}, p99 alone {quantile(alone, 0.99):7.2f} ms, "
              f"beside {quantile(beside, 0.99):7.2f} ms, added {added:7.2f} ms, longest {quantile(beside, 1):7.2f} ms",
              flush=True)
        return added <= options.most
    finally:
        daemon.stop()


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--programs", default=".build/release")
parser.add_argument("--most", type=float, default=10, help="milliseconds that an operation may add to the p99")
parser.add_argument("--seconds", type=float, default=4)
parser.add_argument("--configuration", default="", help="more lines of [Dispatch]")
parser.add_argument("operations", nargs="*", metavar="OPERATION", help=", ".join(OPERATIONS))
arguments = parser.parse_args()
arguments.programs = os.path.abspath(arguments.programs)
results = [measure(name, arguments) for name in arguments.operations or OPERATIONS]
sys.exit(0 if all(results) else 1)
