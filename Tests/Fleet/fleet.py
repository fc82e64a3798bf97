#!/usr/bin/env python3
"""Runs a pair of daemons that share a log in PostgreSQL, and does to it whatever may happen to its machines.

fleet.py [--fault NAME]... [--times N] [--seed N] [--seconds S] [--standby] [--network] [--clocks] [--calls]
         [--patroni] [--programs DIR] [--keep]
fleet.py --short
fleet.py --full [--plan NUMBER]... [--seconds S]

Producers send to both nodes until each request is acknowledged, handlers write down that they ran, and supervisors
start nodes again. When the faults are over and nothing is in flight, a third node starts with an empty disk, and what
must hold is checked: see oracle.py. It prints a line for each fault, and ends with 1 when something does not hold. A
fault is done --times times, or for --seconds at most; chaos draws among all that the pair has what they need for.

--standby   the database has a synchronous standby
--network   nodes and database are in network namespaces, and speak over TCP
--clocks    each node has a boot, a monotonic clock and a wall clock of its own, and the database a wall clock; they are
            in relay mode, where a request's time begins with its acceptance
--calls     the nodes' calls of libpq can fail one at a time
--patroni   the database is that of the guide: two servers with Patroni, and etcd; none of the others with it

A fault brings what it needs by itself. --short takes less than a minute. --full does each fault as often as a release
needs; --plan does one line of it alone, counted from 1. It needs Debian's postgresql.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
import traceback

import clocks
import engine as engines
import network
import patroni
from calls import DEATHS, Calls
from engine import Engine, Failure, check, run, wait_until
from exports import Export
from faults import LEASE, LONGEST_STOP, Faults
from nodes import Node, Pair, write_handlers
from oracle import Oracle, ledger
from producers import Producer, Record, subscribe

HERE = pathlib.Path(__file__).resolve().parents[2]
NODES = "abc"
# The error of each node's wall clock, in seconds.
NODE_CLOCKS = {"a": 3600, "b": 365 * 86400, "c": -3600}
# The faults of the short form, with their counts.
SHORT = {"kill": 4, "stop": 3, "term": 2, "move": 4, "immediate": 3, "trim": 2}
# The counts of the faults in the full form, with the features of the pair.
FULL = [
    (set(), {"kill": 200, "stop": 100, "term": 50, "move": 50, "drain": 20, "restart": 20, "immediate": 50,
             "engine-kill": 50, "terminate": 50, "cancel": 50, "disk": 20, "leader-disk": 20,
             "both-disks": 10, "trim": 10, "chaos": 100}),
    ({"standby"}, {"kill": 50, "move": 50, "promote": 50, "promote-waiting": 20, "terminate": 50, "cancel": 50,
                   "chaos": 100}),
    ({"network"}, {"drop-out": 30, "drop-in": 30, "drop-both": 30, "drop-follower": 30}),
    ({"clocks"}, {"engine-clock": 30, "node-clock": 30, "kill": 20}),
    ({"calls"}, {"call": len(DEATHS), "stop-complete": 30, "stop-ready": 30, "stop-exec": 30}),
    ({"standby", "network", "clocks", "calls"}, {"chaos": 200}),
    ({"patroni"}, {"patroni-kill": 20, "patroni-standby": 10, "patroni-switch": 10, "patroni-pause": 5, "kill": 10}),
]
# The rows of what is not finished.
UNFINISHED = ["invocation_rows WHERE outcome IS NULL", "fan_outs WHERE devices IS NOT NULL", "held_interactions"]
FEATURES = ["standby", "network", "clocks", "calls", "patroni"]


def missing(features, directory):
    """Why this machine cannot have a pair with these; nothing where it can."""
    if "network" in features and not network.is_possible():
        return "no namespaces of the network can be made"
    if "clocks" in features and not clocks.is_possible(directory):
        return "no namespaces of the time can be made"
    if features & {"clocks", "calls"} and not shutil.which("cc"):
        return "there is no cc"
    if "patroni" in features and not patroni.is_possible():
        return "patroni and etcd-server are not installed"
    return None


class Test:
    def __init__(self, seed, options, features):
        self.begin = time.monotonic()
        # The path of a socket has at most 107 bytes, and postgres must reach its own.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="fleet.", dir="/tmp"))
        self.root.chmod(0o755)
        self.generator = random.Random(f"{seed} faults")
        self.programs, self.nodes, self.producers, self.engine = options.programs.resolve(), [], [], None
        self.record, self.done, self.current = Record(), [], "none"
        self.export = Export(self.programs)
        self.seed, self.options, self.features = seed, options, features
        self.network = None

    def start(self):
        write_handlers(self.root)
        if "network" in self.features:
            self.network = network.Network(self.root.name, NODES)
            self.network.make()
        clock = clocks.Clock(self.root / "clock", self.library("clock")) if "clocks" in self.features else None
        self.engine = (
            patroni.Cluster(self.root) if "patroni" in self.features else
            Engine(self.root, "standby" in self.features, self.network, clock))
        self.nodes = [self.node(name) for name in NODES[:2]]
        run(self.nodes[0].command("--init"))
        self.pair = Pair(self.nodes)
        for node in self.nodes:
            node.start()
        self.pair.wait_whole()
        subscribe(self.pair)
        self.faults = Faults(self.pair, self.engine, self.generator)
        self.producers = [
            Producer(number, self.seed, self.pair, self.record, self.options.pause)
            for number in range(self.options.producers)]
        for producer in self.producers:
            producer.start()
        self.wait_acknowledgements()

    def node(self, name):
        durability = "standby" if self.features & {"standby", "patroni"} else "engine"
        mode = "relay" if "clocks" in self.features else "device"
        node = Node(name, self.root, self.programs, self.engine.uri, durability, LEASE, mode)
        if self.network:
            node.prefix += self.network.within(name)
        if "clocks" in self.features:
            node.clock = clocks.Clock(node.root / "clock", self.library("clock"))
            node.clock.set(NODE_CLOCKS[name])
            node.prefix += clocks.another_boot(node.root / "boot", 1_000_000 * (1 + NODES.index(name)))
            node.preload(node.clock.environment)
        if "calls" in self.features:
            node.calls = Calls(node.root / "calls", self.library("libpq"))
            node.preload(node.calls.environment)
        return node

    def library(self, name):
        path = self.root / f"{name}.so"
        if not path.exists():
            source = pathlib.Path(__file__).parent / f"preload/{name}.c"
            run(["cc", "-O1", "-shared", "-fPIC", "-o", path, source])
            path.chmod(0o755)
        return path

    def run(self, plan, seconds):
        """Does faults, each so many times, and checks what is left."""
        self.start()
        end = self.begin + seconds
        possible = Faults.possible(self.features)
        # Round robin: if time is short, each fault happens once before one happens again.
        turns = [name for turn in range(max(plan.values())) for name, times in plan.items() if turn < times]
        for name in turns:
            if time.monotonic() > end:
                print(f"{len(turns) - len(self.done)} of {len(turns)} faults were not done within {seconds:g} s")
                break
            drawn = self.generator.choice(possible) if name == "chaos" else name
            time.sleep(self.generator.uniform(0.1, 0.5))
            begin = time.monotonic()
            self.current = drawn
            self.faults.do(drawn)
            self.pair.wait_whole()
            self.wait_acknowledgements()
            self.done.append((drawn, begin, time.monotonic()))
            if self.export.is_possible:
                self.export.go_on(self.pair.leader())
        self.settle()
        return self.judge()

    def look(self):
        self.pair.look()
        for producer in self.producers:
            if producer.trouble:
                raise producer.trouble

    def wait_acknowledgements(self):
        """Each producer gets on."""
        before = [producer.count for producer in self.producers]

        def do_get_on():
            self.look()
            return all(producer.count > count + 1 for producer, count in zip(self.producers, before))

        wait_until("all producers get on", do_get_on)

    def settle(self):
        """Nothing is in flight, and a third node follows from nothing."""
        for producer in self.producers:
            producer.is_over = True
        for producer in self.producers:
            producer.join(engines.PATIENCE)
            check(not producer.is_alive(), f"producer {producer.prefix} does not end")
        self.look()
        leader = self.pair.wait_whole()

        def is_decided():
            self.look()
            database = ledger(leader)
            try:
                return all(database.execute(f"SELECT count(*) FROM {rows}").fetchone() == (0,) for rows in UNFINISHED)
            finally:
                database.close()

        wait_until("everything has an outcome", is_decided, pause=0.2)
        self.nodes.append(self.node("c"))
        self.nodes[-1].start()
        self.pair.wait_whole()

    def judge(self):
        # A node that SIGSTOP stops between reading the clock and starting the handler starts it late.
        stops = [LONGEST_STOP for name, *_ in self.done if name.startswith("stop")]
        oracle = Oracle(
            self.nodes, self.engine, self.record, self.root / "ran", "clocks" in self.features, max(stops, default=0))
        oracle.check()
        if self.export.is_possible:
            problem = self.export.problem(self.nodes[-1])
            oracle.expect(not problem, problem)
        lost = [request.at for request in oracle.lost]
        twice = set(oracle.run_twice)
        doubled = set(oracle.doubled)
        kinds = {}
        for drawn, begin, end in self.done:
            kinds.setdefault(drawn, []).append((begin, end))
        for name, spans in kinds.items():
            requests = [
                request for request in self.record.acknowledged
                if any(begin <= request.at <= end for begin, end in spans)]
            waits = [self.longest_wait(begin, end) for begin, end in spans]
            numbers = {request.seq for request in requests}
            print(
                f"{name}: {len(spans)} times, {len(requests)} acknowledged, "
                f"{sum(any(begin <= at <= end for begin, end in spans) for at in lost)} lost, "
                f"{len(doubled & {request.id for request in requests})} doubled, "
                f"{sum(seq in numbers for seq, _ in twice)} run twice, longest wait "
                f"p50 {statistics.median(waits):.2f} s, max {max(waits):.2f} s")
        outcomes = ", ".join(f"{outcome} {count}" for outcome, count in sorted(oracle.outcomes.items(), key=str))
        print(
            f"in all: {len(self.record.acknowledged)} acknowledged, {len(oracle.lost)} lost, {len(oracle.doubled)} "
            f"doubled, {len(oracle.run_twice)} run twice; {self.record.repeats} repeats; {oracle.decided} decided "
            f"({outcomes}); {oracle.publishes} publishes; "
            f"{oracle.runs} runs of handlers, {oracle.repeated_runs} of them again; "
            f"{self.record.untold} outcomes not told; {oracle.batches} batches, {oracle.terms} terms; "
            f"ends of nodes: {sum(len(node.ends) for node in self.nodes)}")
        if self.export.is_possible:
            print(f"{len(self.export.lines)} events exported in {self.export.times} parts")
        for is_again, errors in oracle.deadlines.items():
            if errors:
                print(
                    f"time given to {'later' if is_again else 'first'} runs: off by p50 "
                    f"{statistics.median(errors) * 1000:.0f} ms, max {max(errors) * 1000:.0f} ms, {len(errors)} runs")
        if self.faults.missed:
            print(f"calls that did not come: {self.faults.missed}")
        for violation in oracle.violations[:30]:
            print(f"VIOLATION: {violation}")
        return not oracle.violations

    def longest_wait(self, begin, end):
        """The longest time without an acknowledgement, from the last one before a fault on."""
        times = self.record.times
        inside = [at for at in times if begin <= at <= end]
        before = max((at for at in times if at < begin), default=begin)
        after = min((at for at in times if at > end), default=end)
        points = [before, *inside, after]
        return max(two - one for one, two in zip(points, points[1:]))

    def tell_failure(self, failure):
        print(f"FAILED after {time.monotonic() - self.begin:.1f} s with seed {self.seed}: {failure}")
        last = ", ".join(f"{drawn} ({at - self.begin:.1f} s)" for drawn, at, _ in self.done[-10:])
        print(f"the last faults: {last}; then {self.current}")
        for node in self.nodes:
            if node.log.exists():
                print(f"the last lines of {node.name}, whose processes ended with {node.ends[-10:]}:{node.tail(12)}")

    def close(self, is_kept):
        for producer in self.producers:
            producer.is_over = True
        for node in self.nodes:
            node.end()
        if self.engine:
            self.engine.close()
        if self.network:
            self.network.close()
        if is_kept:
            print(f"its files are in {self.root}")
        else:
            shutil.rmtree(self.root, ignore_errors=True)


def do(plan, seed, options, features, seconds):
    """Whether all holds."""
    said = ", ".join(f"{name} {times}" for name, times in plan.items())
    print(f"seed {seed}, a pair with {', '.join(sorted(features)) or 'nothing else'}: {said}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        reason = missing(features, pathlib.Path(directory))
    if reason:
        print(f"left out: {reason}")
        return True
    test, holds = Test(seed, options, features), False
    try:
        holds = test.run(plan, seconds)
    except Failure as failure:
        test.tell_failure(failure)
    except Exception as error:
        test.tell_failure("".join(traceback.format_exception(error)))
    finally:
        test.close(is_kept=not holds or options.keep)
    word = "all holds" if holds else "it does NOT hold"
    print(f"seed {seed}: {word}, after {time.monotonic() - test.begin:.0f} s", flush=True)
    return holds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", action="append", choices=[*Faults.NEEDS, "chaos"], default=[])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, help="no fault begins later: 3600, and 7200 of a plan")
    for name in FEATURES:
        parser.add_argument(f"--{name}", action="append_const", dest="features", const=name)
    parser.add_argument("--producers", type=int, default=4)
    parser.add_argument("--pause", type=float, default=0.03, help="a producer's between two requests, in seconds")
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--plan", type=int, action="append", choices=range(1, len(FULL) + 1))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not engines.PROGRAMS or os.geteuid() == 0 and not shutil.which("setpriv"):
        print("left out: a pair of daemons: postgresql is not installed")
        return
    if options.full:
        chosen = [FULL[number - 1] for number in options.plan] if options.plan else FULL
        plans = [(plan, features, options.seconds or 7200) for features, plan in chosen]
    elif options.short:
        plans = [(SHORT, set(), 35)]
    else:
        needed = set().union(options.features or (), *(Faults.NEEDS.get(name, ()) for name in options.fault))
        plans = [({name: options.times for name in options.fault or ["chaos"]}, needed, options.seconds or 3600)]
    # SIGTERM then ends the started processes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if not all([do(plan, options.seed, options, features, seconds) for plan, features, seconds in plans]):
        sys.exit(1)


if __name__ == "__main__":
    main()
