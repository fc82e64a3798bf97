#!/usr/bin/env python3
"""Runs a pair of daemons that share a log in PostgreSQL, and does to it whatever may happen to its machines.

fleet.py [--fault NAME]... [--times N] [--seed N] [--seconds S] [--standby] [--programs DIR] [--keep]
fleet.py --short
fleet.py --full

Producers send to both nodes until each request is acknowledged, handlers write down that they ran, and supervisors
start nodes again. When the faults are over and nothing is in flight, a third node starts with an empty disk, and what
must hold is checked: see oracle.py. It prints a line for each fault, and ends with 1 when something does not hold. A
fault is done --times times, or for --seconds at most; chaos draws among all of them by the seed. --standby gives the
database a synchronous standby; faults that need one are left out without it. --short takes less than a minute. --full
does each fault as often as a release needs.
It needs Debian's postgresql.
"""

import argparse
import itertools
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

import engine as engines
from engine import Engine, Failure, check, run, wait_until
from nodes import Node, Pair, write_handlers
from oracle import Oracle, ledger
from producers import Producer, Record

HERE = pathlib.Path(__file__).resolve().parents[2]
LEASE = 1
# What a fault that needs no standby is done in the short form, and how often.
SHORT = {"kill": 4, "stop": 3, "term": 4, "immediate": 3}
# How often each fault is done in full, without and with a standby.
FULL = {
    False: {"kill": 200, "stop": 100, "term": 50, "immediate": 50, "engine-kill": 50, "terminate": 50, "cancel": 50,
            "disk": 20, "leader-disk": 20, "chaos": 100},
    True: {"kill": 50, "promote": 50, "promote-waiting": 20, "terminate": 50, "cancel": 50, "chaos": 100},
}


class Faults:
    """What happens to a pair. Each method causes a fault and takes away its cause."""

    WITH_STANDBY = {"promote", "promote-waiting"}
    NAMES = [
        "kill", "stop", "term", "immediate", "engine-kill", "terminate", "cancel", "disk", "leader-disk", "promote",
        "promote-waiting"]

    def __init__(self, pair, engine, generator):
        self.pair, self.engine, self.generator = pair, engine, generator
        functions = ("pg_cancel_backend", "pg_terminate_backend", None)
        self.ways = itertools.cycle([(function, is_killed) for is_killed in (False, True) for function in functions])

    def names(self):
        return [name for name in self.NAMES if self.engine.has_standby or name not in self.WITH_STANDBY]

    def do(self, name):
        getattr(self, name.replace("-", "_"))()

    def signal_leader(self, number, leader=None):
        leader = leader or self.pair.leader()
        ends = len(leader.ends)
        leader.signal(number)
        wait_until(f"{leader.name} has ended", lambda: len(leader.ends) > ends)

    def kill(self):
        """The leader's process dies."""
        self.signal_leader(signal.SIGKILL)

    def term(self):
        """The leader is told to stop, and gives the lease back."""
        self.signal_leader(signal.SIGTERM)

    def stop(self):
        """The leader stands still past its lease, and goes on."""
        leader = self.pair.leader()
        leader.signal(signal.SIGSTOP)
        time.sleep(LEASE * self.generator.uniform(1.0, 2.5))
        leader.signal(signal.SIGCONT)

    def immediate(self):
        """The database ends at once, and starts again."""
        self.engine.restart(signal.SIGQUIT, self.generator.choice((0, 0.5, 1.5 * LEASE)))

    def engine_kill(self):
        """All of the database's processes die, and it starts again."""
        self.engine.restart(signal.SIGKILL, self.generator.choice((0, 0.5, 1.5 * LEASE)))

    def terminate(self):
        self.end_session("pg_terminate_backend")

    def cancel(self):
        self.end_session("pg_cancel_backend")

    def end_session(self, function):
        """The session that appends, or what it is doing, ends; with a standby, while it waits for that."""
        if not self.engine.has_standby:
            for _ in range(20):
                self.engine.end_log_session(function)
            return
        with self.engine.held_standby():
            self.engine.wait_for_waiter()
            self.engine.end_log_session(function)
            time.sleep(self.generator.choice((0, 0.1, 0.5)))

    def disk(self):
        """The follower's disk is empty when it starts again."""
        self.pair.other(self.pair.leader()).lose_disk()

    def leader_disk(self):
        """The leader's machine is replaced by an empty one."""
        self.pair.leader().lose_disk()

    def promote(self):
        """The database's machine is lost, and its standby takes its place."""
        self.engine.primary.stop(signal.SIGKILL)
        self.engine.promote()

    def promote_waiting(self):
        """The same while an append waits for the standby, maybe after its wait was cut off, or its leader died."""
        # While the standby is held for longer than a lease nobody leads.
        leader = self.pair.leader()
        with self.engine.held_standby(is_lost=True):
            self.engine.wait_for_waiter()
            function, is_leader_killed = next(self.ways)
            if function:
                self.engine.end_log_session(function)
            # What is visible now, nobody else has. The follower may read it, and the leader must not acknowledge it.
            time.sleep(self.generator.choice((0.2, 0.4, 0.8)))
            if is_leader_killed:
                self.signal_leader(signal.SIGKILL, leader)
            self.engine.primary.stop(signal.SIGKILL)
        self.engine.promote()


class Test:
    def __init__(self, seed, options, has_standby):
        self.begin = time.monotonic()
        # The path of a socket has 107 bytes at most, and postgres must reach its own.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="fleet.", dir="/tmp"))
        self.root.chmod(0o755)
        self.generator = random.Random(f"{seed} faults")
        self.programs, self.nodes, self.producers, self.engine = options.programs.resolve(), [], [], None
        self.record, self.done, self.current = Record(), [], "none"
        self.seed, self.options, self.has_standby = seed, options, has_standby

    def start(self):
        write_handlers(self.root)
        self.engine = Engine(self.root, self.has_standby)
        self.nodes = [self.node(name) for name in "ab"]
        run(self.nodes[0].command("--init"))
        self.pair = Pair(self.nodes)
        for node in self.nodes:
            node.start()
        self.pair.wait_whole()
        self.faults = Faults(self.pair, self.engine, self.generator)
        self.producers = [
            Producer(number, self.seed, self.pair, self.record, self.options.pause)
            for number in range(self.options.producers)]
        for producer in self.producers:
            producer.start()
        self.wait_acknowledgements()

    def node(self, name):
        durability = "standby" if self.has_standby else "engine"
        return Node(name, self.root, self.programs, self.engine.uri, durability, LEASE)

    def run(self, plan, seconds):
        """Does faults, each so many times, and checks what is left."""
        self.start()
        end = self.begin + seconds
        # In turn: where time is short each fault happens once before one happens again.
        turns = [name for turn in range(max(plan.values())) for name, times in plan.items() if turn < times]
        for name in turns:
            if time.monotonic() > end:
                print(f"{len(turns) - len(self.done)} of {len(turns)} faults were not done within {seconds:g} s")
                break
            drawn = self.generator.choice(self.faults.names()) if name == "chaos" else name
            time.sleep(self.generator.uniform(0.1, 0.5))
            begin = time.monotonic()
            self.current = drawn
            self.faults.do(drawn)
            self.pair.wait_whole()
            self.wait_acknowledgements()
            self.done.append((drawn, begin, time.monotonic()))
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
                return database.execute("SELECT count(*) FROM invocation_rows WHERE outcome IS NULL").fetchone() == (0,)
            finally:
                database.close()

        wait_until("everything has an outcome", is_decided, pause=0.2)
        self.nodes.append(self.node("c"))
        self.nodes[-1].start()
        self.pair.wait_whole()

    def judge(self):
        oracle = Oracle(self.nodes, self.engine, self.record, self.root / "ran")
        oracle.check()
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
            f"({outcomes}); {oracle.runs} runs of handlers, {oracle.repeated_runs} of them again; "
            f"{self.record.untold} outcomes not told; {oracle.batches} batches, {oracle.terms} terms; "
            f"ends of nodes: {sum(len(node.ends) for node in self.nodes)}")
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
        if is_kept:
            print(f"its files are in {self.root}")
        else:
            shutil.rmtree(self.root, ignore_errors=True)


def do(plan, seed, options, has_standby, seconds):
    """Whether all holds."""
    said = ", ".join(f"{name} {times}" for name, times in plan.items())
    print(f"seed {seed}, {'with' if has_standby else 'without'} a standby: {said}", flush=True)
    test, holds = Test(seed, options, has_standby), False
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
    parser.add_argument("--fault", action="append", choices=[*Faults.NAMES, "chaos"])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, default=3600, help="no fault begins later")
    parser.add_argument("--standby", action="store_true")
    parser.add_argument("--producers", type=int, default=4)
    parser.add_argument("--pause", type=float, default=0.03, help="a producer's between two requests, in seconds")
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not engines.PROGRAMS or os.geteuid() == 0 and not shutil.which("setpriv"):
        print("left out: a pair of daemons: postgresql is not installed")
        return
    if options.full:
        plans = [(plan, has_standby, 7200) for has_standby, plan in FULL.items()]
    elif options.short:
        plans = [(SHORT, False, 35)]
    else:
        plans = [({name: options.times for name in options.fault or ["chaos"]}, options.standby, options.seconds)]
    # What was started is ended then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if not all([do(plan, options.seed, options, has_standby, seconds) for plan, has_standby, seconds in plans]):
        sys.exit(1)


if __name__ == "__main__":
    main()
