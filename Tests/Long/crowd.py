#!/usr/bin/env python3
"""One producer offers ten times what it may have in flight, beside another that sends a little.

    crowd.py [--programs DIR] [--seconds N] [--json FILE]

RequestsInFlightMaxPerPeer= is 200. The greedy producer keeps 2,000 requests on their way, from 20 connections, for a handler that
takes 50 ms, eight at a time; at each refusal that says "retry" it tries again at once. The modest one, another user, sends ten a
second for a handler of its own. After N seconds (10; the long form is 600):
- the daemon never had more than the limit of the greedy one in flight, and its memory did not grow after the first tenth;
- each refusal was "overloaded" with retry, `status` counted as many, and the journal named the producer;
- each accepted request ended handled within its deadline of 9 s from acceptance, as the ledger says;
- the modest one had no refusal, its acknowledgements came within 1 s, its outcomes in time.
It needs root, to be two users. It ends with 1 if one of these does not hold.
"""

import argparse
import collections
import contextlib
import importlib.util
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
specification = importlib.util.spec_from_file_location("harness", HERE / "Tests/Break/break.py")
harness = importlib.util.module_from_spec(specification)
specification.loader.exec_module(harness)

ALLOWED, TIMES, CONNECTIONS = 200, 10, 20
FILES = {
    "handlers.d/slow": "[Handler]\nType=exec\nExec=/bin/sleep 0.05\nMaxConcurrent=8\nQueue=100000\n",
    "handlers.d/quick": "[Handler]\nType=exec\nExec=/bin/true\nMaxConcurrent=2\n",
    "routes.d/10-slow": "[Match]\nData=greedy\n[Route]\nHandler=slow\n",
    "routes.d/20-quick": "[Match]\nData=modest\n[Route]\nHandler=quick\n",
}
# Another user: sends a request each tenth of a second, and prints the times of the acknowledgements.
MODEST = """
import json, os, socket, sys, time
path, end = sys.argv[1], time.monotonic() + float(sys.argv[2])
connection = socket.socket(socket.AF_UNIX)
os.setgid(65534)
os.setuid(65534)
connection.connect(path)
replies, waits, refused = connection.makefile("rb"), [], 0
while time.monotonic() < end:
    begin = time.monotonic()
    connection.sendall(json.dumps({"op": "deliver", "payload": {"modest": "1"}}).encode() + b"\\n")
    refused += not json.loads(replies.readline())["ok"]
    waits.append(time.monotonic() - begin)
    time.sleep(max(0, 0.1 - waits[-1]))
print(json.dumps({"sent": len(waits), "refused": refused, "longest": max(waits)}))
"""


class Greedy(threading.Thread):
    def __init__(self, daemon, end):
        super().__init__(daemon=True)
        self.connection, self.end = daemon.connect(), end
        self.accepted, self.refused = 0, collections.Counter()

    def run(self):
        replies, waiting = self.connection.makefile("rb"), 0
        line = json.dumps({"op": "deliver", "payload": {"greedy": "x" * 500}}).encode() + b"\n"
        while True:
            if time.monotonic() < self.end:
                more = ALLOWED * TIMES // CONNECTIONS - waiting
                self.connection.sendall(line * more)
                waiting += more
            if waiting == 0:
                return
            reply, waiting = json.loads(replies.readline()), waiting - 1
            if reply["ok"]:
                self.accepted += 1
            else:
                self.refused[reply["error"]["code"], bool(reply["error"].get("retry", reply.get("retry")))] += 1
                # As many tries as a client makes that does not wait: twenty connections, each a few hundred a second.
                time.sleep(0.002)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", help="also write the figures to this file")
    choices = parser.parse_args()
    if os.geteuid() != 0:
        print("left out: the crowd: it needs root, to be two users")
        return 0
    wrong, most, memory = [], 0, []
    programs = choices.programs.resolve()
    with harness.daemon(programs, f"RequestsInFlightMaxPerPeer={ALLOWED}\n", FILES) as it:
        it.root.chmod(0o755)
        it.start()
        (it.root / "run").chmod(0o755)
        (it.root / "run/inject.sock").chmod(0o666)
        begin = time.monotonic()
        modest = subprocess.Popen(
            [sys.executable, "-c", MODEST, it.root / "run/inject.sock", str(choices.seconds)], stdout=subprocess.PIPE)
        crowd = [Greedy(it, begin + choices.seconds) for _ in range(CONNECTIONS)]
        for one in crowd:
            one.start()
        while any(one.is_alive() for one in crowd):
            status = it.ask({"op": "status"}, "control")["status"]
            most = max(most, status["requests_in_flight"])
            memory.append((time.monotonic() - begin, it.resident()))
            time.sleep(0.25)
        told = json.loads(modest.communicate()[0])
        end = time.monotonic() + 60
        while it.ask({"op": "status"}, "control")["status"]["requests_in_flight"] and time.monotonic() < end:
            time.sleep(0.1)
        it.sync()
        status = it.ask({"op": "status"}, "control")["status"]
        accepted = sum(one.accepted for one in crowd)
        refused = sum((one.refused for one in crowd), collections.Counter())
        with contextlib.closing(sqlite3.connect(it.root / "state/ledger.db", timeout=30)) as ledger:
            outcomes = collections.Counter(name for name, in ledger.execute("SELECT outcome FROM invocations"))
        journal = (it.root / "log").read_text(errors="replace")
    early = [kilobytes for at, kilobytes in memory if at <= max(choices.seconds / 10, 2)]
    later = [kilobytes for at, kilobytes in memory if at > max(choices.seconds / 10, 2)]
    if most > ALLOWED + 20:
        wrong.append(f"{most} requests were in flight at once")
    if later and max(later) > max(early) + 8:
        wrong.append(f"the memory grew from {max(early)} to {max(later)} MiB")
    if set(refused) - {("overloaded", True)} or not refused:
        wrong.append(f"the refusals were {dict(refused)}")
    counted = sum(value for key, value in flat(status) if "overloaded" in key)
    if counted < sum(refused.values()):
        wrong.append(f"status counts {counted} of {sum(refused.values())} refusals")
    if "overloaded" not in journal and "limit" not in journal:
        wrong.append("the journal does not tell")
    if set(outcomes) != {"handled"} or sum(outcomes.values()) != accepted + told["sent"] - told["refused"]:
        wrong.append(f"{accepted + told['sent']} accepted requests have the outcomes {dict(outcomes)}")
    if told["refused"] or told["longest"] > 1:
        wrong.append(f"the modest producer: {told}")
    figures = {
        "seconds": choices.seconds, "accepted": accepted, "refused": sum(refused.values()), "in flight at most": most,
        "memory at first, MiB": max(early), "memory at most, MiB": max(early + later), "handled in time": outcomes["handled"],
        "modest: sent": told["sent"], "modest: longest wait, ms": round(told["longest"] * 1000), "wrong": len(wrong)}
    for name, value in figures.items():
        print(f"{name}: {value}")
    for text in wrong:
        print(f"crowd.py: {text}")
    if choices.json:
        pathlib.Path(choices.json).write_text(json.dumps(figures))
    return 1 if wrong else 0


def flat(value, path=""):
    if isinstance(value, dict):
        for key, below in value.items():
            yield from flat(below, f"{path}.{key}")
    elif isinstance(value, int):
        yield path, value


if __name__ == "__main__":
    sys.exit(main())
