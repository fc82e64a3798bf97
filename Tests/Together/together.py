#!/usr/bin/env python3
"""Runs the daemon with handlers of all kinds side by side, and does everything to it at once, in an order by a seed.

together.py [--seed N]... [--seconds S] [--legs N] [--programs DIR] [--acts NAME,...] [--preload LIBRARY] [--keep]

Exec, worker, socket and http handlers, observers, notifications and the forwarder run side by side, with producers;
acts come one after the other: their other ends close, die, stall and come back, reloads change and remove handlers, readers
read, persons are erased, the disk is full and the clock goes back for a while, the daemon is stopped and killed. Then everything that must hold is checked: see checks.py. It
ends with 1 and the seed, the last acts and the daemon's last words when something does not hold. In an hour or more a
pair of acts that never came one after the other is a failure, too. SIGTERM ends the acts early, and the checks come.
--acts does only these, to find what a failure needs. --legs does it so often; each leg begins with the state that the
former left.
It needs Debian's dbus-daemon, python3-dbus and python3-gi.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter

import checks
import journal
from acts import Acts
from clients import Client, Producer, Record, Requests, exchange
from configuration import KINDS
from installation import PATIENCE, Failure, Installation, check, wait_until
from watch import Watch

HERE = pathlib.Path(__file__).resolve().parents[2]
PRODUCERS = 4
# After so many seconds each pair of acts must have happened.
ALL_PAIRS = 3600
# The memory, in KiB, that a run may have beyond a new idle one: the allocator keeps it.
MEMORY = 96 << 10


def libraries(preload, directory):
    """What the daemon runs with: a clock, and by default what ends it when it closes a descriptor that epoll watches."""
    if not shutil.which("gcc"):
        print("left out: descriptors that are closed while they are watched, clocks: gcc is not installed")
        return []

    def built(name, source):
        path = directory / f"bin/{name}.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", path, HERE / "Tests" / source, "-ldl"], check=True)
        return path

    found = [built("clock", "Fleet/preload/clock.c")]
    if preload == "watched":
        found.append(built("watched", "WatchedDescriptors/Preload.c"))
    elif preload != "none":
        found.append(pathlib.Path(preload).resolve())
    return found


class Walk:
    """Draws the order of acts: by the seed, and first to pairs that have not been."""

    def __init__(self, names, seed):
        self.names, self.generator = names, random.Random(f"{seed} walk")
        self.acts, self.pairs, self.before = Counter(), Counter(), None

    def unseen(self, name):
        return [other for other in self.names if not self.pairs[name, other]]

    def next(self):
        # When every pair from the current act was walked, walks on to an act with missing pairs.
        choices = self.unseen(self.before) or [name for name in self.names if self.unseen(name)] or self.names
        act = self.generator.choice(choices)
        self.acts[act] += 1
        if self.before:
            self.pairs[self.before, act] += 1
        self.before = act
        return act

    def missing(self):
        return [(one, other) for one in self.names for other in self.names if not self.pairs[one, other]]

    def print(self):
        print("acts: " + ", ".join(f"{name} {self.acts[name]}" for name in self.names))
        total = len(self.names) ** 2
        happened = total - len(self.missing())
        print(f"pairs: {happened} of {total}; how often the act of a line came just before that of a column:")
        print(f"{'':15}" + "".join(f"{number:4}" for number in range(1, len(self.names) + 1)))
        for number, one in enumerate(self.names, 1):
            print(f"{number:2} {one:13}" + "".join(f"{self.pairs[one, other] or '.':>4}" for other in self.names))


class Test:
    def __init__(self, seed, seconds, programs, preload, names, former=None):
        self.seed, self.seconds = seed, seconds
        self.begin = time.monotonic()
        self.gate = threading.Event()
        if former:
            self.installation, self.record, self.erasures = former.installation, former.record, former.erasures
            self.trouble = former.trouble
        else:
            self.installation, self.record, self.trouble = Installation(programs, seed), Record(), []
            self.installation.preload = libraries(preload, self.installation.root)
            self.erasures = checks.Erasures(self.record)
            self.record.watch = Watch(self.installation, self.trouble)
            self.record.watch.start()
        self.producers = [
            Producer(f"{seed} p{number}", self.installation, self.record, self.gate, self.trouble)
            for number in range(PRODUCERS)]
        self.acts = Acts(self.installation, self.record, self.erasures, self.producers, self.gate, seed)
        self.walk = Walk(names, seed)
        self.done = []

    def run(self):
        self.installation.begin_leg()
        self.installation.start()
        self.gate.set()
        for producer in self.producers:
            producer.start()
        while time.monotonic() < self.begin + self.seconds:
            act = self.walk.next()
            self.done.append((time.monotonic() - self.begin, act))
            self.acts.do(act)
            self.look()
            time.sleep(self.acts.generator.choice((0, 0, 0.05, 0.2)))
        self.done.append((time.monotonic() - self.begin, "the end"))
        self.finish()
        missing = self.walk.missing()
        check(self.seconds < ALL_PAIRS or not missing, f"pairs of acts that never happened: {missing}")

    def look(self):
        self.installation.check_alive()
        if self.trouble:
            raise self.trouble[0]

    def finish(self):
        """Nothing is left, and all that was told agrees."""
        installation = self.installation
        installation.ends.is_calm = True
        self.acts.quiet()
        self.look()
        self.acts.settle()
        for producer in self.producers:
            producer.is_over = True
        for producer in self.producers:
            producer.join(PATIENCE)
        installation.configuration.is_bare = True
        self.acts.reload()
        wait_until("all processes of handlers have ended", lambda: not installation.handler_processes())
        wait_until("status knows of no process", lambda: not installation.status()["handler_processes"])
        installation.ends.dismiss("forwarder")
        descriptors, memory = installation.descriptors(), installation.resident()
        installation.terminate()
        self.check_all()
        decided = self.counts()
        installation.start()
        fresh = installation.descriptors()
        # SQLite keeps a closed connection's descriptor of the database open while another connection has a lock, and
        # gives it to the next connection. Each connection has one of the WAL, too, which is closed and counted.
        descriptors, fresh = (
            [name for name in names if not name.endswith("/ledger.db")] for names in (descriptors, fresh))
        check(
            len(descriptors) <= len(fresh),
            f"{len(descriptors)} descriptors are open, {len(fresh)} in a new run: {descriptors} and {fresh}")
        limit = installation.resident() + MEMORY
        check(memory <= limit, f"the daemon has {memory} KiB of memory, a new run {limit - MEMORY}")
        print(f"descriptors {len(descriptors)} (new {len(fresh)}), memory {memory} KiB (new {limit - MEMORY})")
        client = Client(installation, self.record)
        requests = Requests(random.Random(f"{self.seed} last"), f"{self.seed}last", self.record)
        exchange(client, [requests.delivery() for _ in range(20)])
        client.hang_up()
        self.acts.settle()
        installation.sync()
        after = self.counts()
        grown = {name: counts - decided.get(name, Counter()) for name, counts in after.items()}
        checks.compare_metrics(checks.metrics(installation), grown, "since the start the ledger has")
        store = installation.status()["store"]
        print(
            f"log {store['log_used_bytes'] >> 10} of {store['log_limit_bytes'] >> 10} KiB used, ledger "
            f"{store['ledger_bytes'] >> 10} KiB")
        installation.terminate()

    def counts(self):
        with self.installation.ledger() as ledger:
            return checks.counts_of_rows(ledger)

    def check_all(self):
        """With the daemon stopped: the whole of the ledger, against all that was told."""
        installation = self.installation
        ledger = installation.ledger()
        problem = ledger.execute("PRAGMA integrity_check").fetchone()[0]
        check(problem == "ok", f"the ledger: {problem}")
        checks.check_all_decided(ledger)
        rows = checks.check_requests(ledger, self.record, self.erasures)
        made = checks.check_publishes(ledger, self.record, self.erasures)
        ran = checks.check_attempts(installation)
        checks.check_reports(installation, ledger)
        checks.check_events(ledger)
        lost = journal.compare(installation.runs, ledger, self.erasures.of_ids())
        taken = checks.check_taken(installation, ledger, self.record, self.erasures)
        killed = sum(run.end == "kill" for run in installation.runs)
        print(
            f"{len(self.record.acknowledged)} acknowledged, the longest silence while requests waited "
            f"{self.record.watch.longest:.1f} s; {rows} in the ledger, {made} of them by publishes; {ran} runs of exec handlers; "
            f"{len(installation.runs)} runs of the daemon, {killed} killed; {lost} outcomes without an entry in the "
            f"journal; {taken} entries taken by the endpoint; other ends came back {installation.ends.ended} times")
        self.print_ends(ledger)
        ledger.close()

    def print_ends(self, ledger):
        """How often each handler's end came to pass, by the outcomes that the ledger has for it."""
        ends = {}
        query = "SELECT body, handler, outcome FROM requests JOIN invocations USING (seq) WHERE operation = 'deliver'"
        for row in ledger.execute(query):
            if row["handler"] in KINDS and b'"end":"' in row["body"]:
                end = row["body"].split(b'"end":"')[1].split(b'"')[0].decode()
                ends.setdefault((row["handler"], end), Counter())[row["outcome"]] += 1
        for handler in KINDS:
            kinds = []
            for (name, end), counts in sorted(ends.items()):
                if name == handler:
                    outcomes = ", ".join(f"{outcome} {count}" for outcome, count in sorted(counts.items()))
                    kinds.append(f"{end} {counts.total()} ({outcomes})")
            print(f"ends of {handler}: {'; '.join(kinds)}")
        print("besides: " + ", ".join(f"{event} {count}" for event, count in sorted(self.acts.events.items())))

    def cause_of(self, error):
        """The end of the daemon, where that is behind an error of an act."""
        try:
            for _ in range(50):
                self.look()
                time.sleep(0.1)
        except Failure as failure:
            return failure
        return "".join(traceback.format_exception(error))

    def tell_failure(self, failure, arguments):
        print(f"\nFAILED after {time.monotonic() - self.begin:.1f} s with seed {self.seed}: {failure}")
        print("the last acts: " + ", ".join(f"{act} ({at:.1f} s)" for at, act in self.done[-30:]))
        for run in self.installation.runs[-2:]:
            print(f"the last lines of run {run.number} of the daemon ({run.end or 'not ended by the test'}):")
            print("".join(f"    {line[:240]}\n" for line in run.text().splitlines()[-30:]), end="")
        print(f"its files are in {self.installation.root}")
        print(f"again: {sys.executable} {__file__} --seed {self.seed} {arguments}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--legs", type=int, default=1)
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument(
        "--preload", default="watched", help="a library for the daemon; none; or, by default, Tests/WatchedDescriptors")
    parser.add_argument("--acts", default=",".join(Acts.NAMES), help="only these, to find what a failure needs")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    programs = options.programs.resolve()
    again = f"--seconds {options.seconds:g} --legs {options.legs} --programs {programs} --preload {options.preload}"
    if options.acts != ",".join(Acts.NAMES):
        again += f" --acts {options.acts}"
    for seed in options.seed or [random.SystemRandom().randrange(1 << 32)]:
        test = None
        for leg in range(options.legs):
            name = f"seed {seed}" + (f", leg {leg + 1}" if options.legs > 1 else "")
            print(f"{name}, {options.seconds:g} s", flush=True)
            test = Test(
                f"{seed}.{leg}" if leg else seed, options.seconds, programs, options.preload, options.acts.split(","), test)
            if not do(test, again, options.keep, leg + 1 == options.legs):
                sys.exit(1)
            print(f"{name}: all holds, after {time.monotonic() - test.begin:.0f} s", flush=True)


def do(test, again, is_kept, is_last):
    """Does one leg; tells whether all holds."""
    failed = True
    # SIGTERM: no further acts, but all checks.
    signal.signal(signal.SIGTERM, lambda *_: setattr(test, "seconds", 0))
    try:
        test.run()
        failed = False
    except Failure as failure:
        test.tell_failure(failure, again)
    except Exception as error:
        # Any error of an act: mostly a daemon that is gone.
        test.tell_failure(test.cause_of(error), again)
    finally:
        if not failed:
            test.walk.print()
        if failed or is_last:
            test.installation.close(is_kept=failed or is_kept)
    return not failed


if __name__ == "__main__":
    main()
