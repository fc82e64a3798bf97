#!/usr/bin/env python3
"""Suspends a pair's leader and its forwarder past the lease: nothing of theirs goes out once the other machine leads.

forward.py [--rounds N] [--seed N] [--programs DIR] [--keep]

Each machine has a forwarder and an endpoint of its own, so that it is known who sent. In every other round no
connection to the endpoint comes about until the machine stands still: its forwarder has its departure, and has sent
nothing. In the others the machine stands still at any time. What is of unknown outcome is sent again, so that what a
forwarder sends late comes twice. It needs Debian's postgresql.
"""

import argparse
import json
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import engine as engines
from engine import Engine, Failure, check, run, wait_until
from nodes import Node, Pair, write_handlers
from oracle import ledger

HERE = pathlib.Path(__file__).resolve().parents[2]
LEASE = 1
# Entries of a round, and how many one request to the endpoint has: several requests are under way at once.
ENTRIES, BATCH = 40, 5
# How /proc/net/tcp writes that a connection waits for the other end's first word.
SYN_SENT = "02"


class Endpoint(threading.Thread):
    """Where the forwarder of one machine sends. While its gate is closed no connection comes about."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.port = self.listener.getsockname()[1]
        # Our own connections that close the gate, and the ports that they came from.
        self.gate, self.plugs, self.ports = threading.Event(), [], set()
        self.gate.set()
        # The connections that last, and how many came in all.
        self.connections, self.came = set(), 0
        # Each request: when it began, and the entries it had.
        self.requests = []

    def run(self):
        while True:
            connection, (_, port) = self.listener.accept()
            self.gate.wait()
            if port in self.ports:
                self.ports.discard(port)
                connection.close()
                continue
            self.connections.add(connection)
            self.came += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as lines:
                while lines.readline():
                    begin, length = time.monotonic(), 0
                    while line := lines.readline().strip():
                        name, _, value = line.partition(b":")
                        length = int(value) if name.lower() == b"content-length" else length
                    events = json.loads(lines.read(length))["events"]
                    self.requests.append((begin, [event["properties"]["n"] for event in events]))
                    answer = b'{"message":"success"}'
                    connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        except (OSError, ValueError):
            pass
        finally:
            self.connections.discard(connection)

    def close_gate(self):
        """The thread takes one connection more and waits, and another one fills the queue."""
        self.gate.clear()
        for connection in list(self.connections):
            connection.shutdown(socket.SHUT_RDWR)
        wait_until("its connections have ended", lambda: not self.connections)
        for _ in range(2):
            plug = socket.socket()
            plug.bind(("127.0.0.1", 0))
            self.ports.add(plug.getsockname()[1])
            plug.connect(("127.0.0.1", self.port))
            self.plugs.append(plug)

    def open_gate(self):
        for plug in self.plugs:
            plug.close()
        self.plugs = []
        self.gate.set()

    @property
    def is_called(self):
        """Whether somebody tries to connect."""
        lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
        return any(line.split()[2].endswith(f":{self.port:04X}") and line.split()[3] == SYN_SENT for line in lines)


class Machine(Node):
    """A node, with a forwarder and an endpoint of its own."""

    def __init__(self, name, root, programs, uri):
        self.endpoint, self.forwarder = Endpoint(), None
        super().__init__(name, root, programs, uri, "engine", LEASE, "device")
        self.endpoint.start()

    def configure(self, *words):
        super().configure(*words)
        key = self.root / "key"
        key.write_text("a-key\n")
        key.chmod(0o600)
        with open(self.root / "etc/pushrouterd.conf", "a") as file:
            file.write(
                f"[UsersTrack]\nEndpoint=http://127.0.0.1:{self.endpoint.port}/users/track\nKeyFile={key}\n"
                f"Flush=20ms\nBatchSize={BATCH}\nTimeout=30s\nOnUnknown=retry\n")

    def start_forwarder(self):
        with open(self.root / "forwarder", "ab") as output:
            self.forwarder = subprocess.Popen(
                [self.programs / "pushrouter-forward", "--config", self.root / "etc", "--runtime", self.root / "run"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def stand_still(self):
        self.forwarder.send_signal(signal.SIGSTOP)
        self.signal(signal.SIGSTOP)

    def go_on(self):
        self.signal(signal.SIGCONT)
        self.forwarder.send_signal(signal.SIGCONT)

    def end(self):
        super().end()
        if self.forwarder:
            self.forwarder.kill()
            self.forwarder.wait()

    def states(self):
        """How many entries its ledger has in each state."""
        database = ledger(self)
        try:
            return dict(database.execute("SELECT state, count(*) FROM entries GROUP BY state"))
        finally:
            database.close()


class Test:
    def __init__(self, root, options):
        self.root, self.generator = root, random.Random(f"{options.seed} forward")
        write_handlers(root)
        self.engine = Engine(root, False)
        self.machines = [Machine(name, root, options.programs.resolve(), self.engine.uri) for name in "ab"]
        self.pair = Pair(self.machines)
        self.logged, self.once, self.longest, self.problems = 0, set(), 0, []

    def start(self):
        run(self.machines[0].command("--init"))
        for machine in self.machines:
            machine.start()
        self.pair.wait_whole()
        for machine in self.machines:
            machine.start_forwarder()

    def log(self, leader):
        """Has custom events logged, and gives their numbers."""
        numbers = range(self.logged, self.logged + ENTRIES)
        with leader.connect("inject", 5) as connection, connection.makefile("rb") as lines:
            for number in numbers:
                facts = {
                    "op": "log", "platform": "android", "app": "shop", "braze_id": f"u{number % 8}",
                    "kind": "custom_event", "name": "seen", "properties": {"n": number}}
                connection.sendall(json.dumps(facts).encode() + b"\n")
                reply = json.loads(lines.readline())
                check(reply["ok"], f"refused: {reply}")
        self.logged += ENTRIES
        return set(numbers)

    def came(self):
        """How often each entry came."""
        times = {}
        for machine in self.machines:
            for _, entries in list(machine.endpoint.requests):
                for entry in entries:
                    times[entry] = times.get(entry, 0) + 1
        return times

    def round(self, is_gated):
        leader = self.pair.wait_whole()
        other, endpoint = self.pair.other(leader), leader.endpoint
        # Its forwarder sends, and waits no longer after what it gave up in a round before.
        first = self.log(leader)
        wait_until("the first entries come", lambda: first <= self.came().keys())
        if is_gated:
            endpoint.close_gate()
        entries = self.log(leader)
        if is_gated:
            self.once |= entries
            wait_until("entries depart", lambda: leader.states().get("claimed") and endpoint.is_called)
        else:
            time.sleep(self.generator.uniform(0, 0.15))
        begin, before = time.monotonic(), endpoint.came
        leader.stand_still()
        wait_until("the other one leads", lambda: other.leads)
        leads = time.monotonic()
        wait_until("all entries come", lambda: entries <= self.came().keys())
        if is_gated:
            # The kernel connects, of which the forwarder learns when it goes on.
            endpoint.open_gate()
            wait_until("a connection comes", lambda: endpoint.came > before)
        self.longest = max(self.longest, time.monotonic() - begin)
        leader.go_on()
        if is_gated:
            wait_until(
                "the forwarder gives its connections up",
                lambda: not endpoint.connections or self.late(endpoint, leads))
        self.pair.wait_whole()
        late = self.late(endpoint, leads)
        if late:
            self.problems.append(f"{leader.name}, suspended, sent {late} when {other.name} led")

    @staticmethod
    def late(endpoint, leads):
        return [entries for begin, entries in list(endpoint.requests) if begin > leads]

    def judge(self):
        leader = self.pair.wait_whole()
        wait_until("everything is sent", lambda: leader.states() == {"sent": self.logged})
        times = self.came()
        twice = [entry for entry, count in times.items() if count > 1]
        doubled = sorted(self.once & set(twice))
        if doubled:
            self.problems.append(f"nothing of it had been sent, and it came more than once: {doubled}")
        missing = sorted(set(range(self.logged)) - times.keys())
        if missing:
            self.problems.append(f"sent, and it never came: {missing}")
        print(f"{self.logged} entries, {len(missing)} lost, {len(doubled)} of {len(self.once)} doubled that had "
              f"departed only, {len(twice) - len(doubled)} of unknown outcome sent again; suspended for "
              f"{self.longest:.1f} s at most")

    def close(self):
        for machine in self.machines:
            machine.end()
        self.engine.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not engines.PROGRAMS:
        print("left out: the forwarder of a pair: postgresql is not installed")
        return
    root = pathlib.Path(tempfile.mkdtemp(prefix="fleet.", dir="/tmp"))
    root.chmod(0o755)
    test, problems = None, ["it did not end"]
    try:
        test = Test(root, options)
        test.start()
        for number in range(options.rounds):
            test.round(is_gated=number % 2 == 0)
        test.judge()
        problems = test.problems
    except Failure as failure:
        problems = [*(test.problems if test else []), str(failure)]
    finally:
        if test:
            test.close()
        if problems or options.keep:
            print(f"its files are in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    print(f"seed {options.seed}: {options.rounds} rounds")
    for problem in problems:
        print(f"VIOLATION: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
