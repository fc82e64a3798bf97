#!/usr/bin/env python3
"""Removes the disks of both machines of a pair under load: a third one starts from the database, and all is counted.

recount.py [--rate N] [--seconds S] [--seed N] [--programs DIR] [--keep]

Producers send at a steady rate, through the loss. A pair loses its disks for good when half of the time is over, behind
a snapshot and batches that were deleted. At the end report, campaigns, ids, events of the tracker and entries of the
third machine are compared with what the producers know by themselves. It needs Debian's postgresql.
"""

import argparse
import json
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter

import engine as engines
from engine import PATIENCE, Engine, Failure, check, run, wait_until
from nodes import Node, Pair, write_handlers
from oracle import ledger

HERE = pathlib.Path(__file__).resolve().parents[2]
LEASE = 1
PRODUCERS, DEVICES, CAMPAIGNS = 4, 200, 5
# A message is opened once when it has been acknowledged for so long, in seconds: by then it was shown.
SETTLED = 3
# How many pushes are opened, if the time suffices.
OPENED = 0.2
KINDS = ("push", "plain", "open", "session", "log")
WEIGHTS = (55, 25, 8, 2, 10)


class Producer(threading.Thread):
    """Sends without waiting for answers, and again what was not acknowledged on the connection before."""

    def __init__(self, number, seed, nodes, rate):
        super().__init__(daemon=True)
        self.number, self.generator, self.nodes = number, random.Random(f"{seed} producer {number}"), nodes
        self.interval, self.is_over, self.trouble = 1 / rate, False, None
        self.place, self.connection, self.rest, self.pause = 0, None, b"", 0
        # By the id: the line of what is not acknowledged, in the order of sending; the numbers; what each one is.
        self.waiting, self.numbers, self.facts = {}, {}, {}
        # Messages that may be opened, with the time of their acknowledgement; and when something was acknowledged.
        self.messages, self.times, self.count, self.again = [], [], 0, 0

    def run(self):
        try:
            due = time.monotonic()
            while self.waiting or not self.is_over:
                now = time.monotonic()
                lines = []
                while due <= now and not self.is_over:
                    lines.append(self.draw(now))
                    due += self.interval
                try:
                    self.exchange(b"".join(lines))
                except (OSError, ValueError):
                    self.turn()
        except Exception as error:
            self.trouble = error if isinstance(error, Failure) else Failure(f"producer {self.number}: {error!r}")

    def draw(self, now):
        self.count += 1
        identifier = f"p{self.number}-{self.count:07}"
        kind, = self.generator.choices(KINDS, WEIGHTS)
        if kind == "open" and not (self.messages and self.messages[0][1] < now - SETTLED):
            kind = "plain"
        device = f"device{self.generator.randrange(DEVICES)}"
        facts = {"id": identifier, "platform": "android", "app": "shop"}
        if kind == "push":
            # One that is opened later has a device of its own: others may have influenced the session that it begins.
            is_opened = self.generator.random() < OPENED
            device = f"phone{identifier}" if is_opened else device
            fact = f"c{self.generator.randrange(CAMPAIGNS)}", device, is_opened
            facts.update(op="deliver", device=device, external_id="u" + device, payload={
                "data": {"_ab": "true", "cid": fact[0], "t": "A parcel", "a": f"Order {self.count}"}})
        elif kind == "plain":
            fact = None
            facts.update(op="deliver", device=device, payload={"data": {"job": "none"}})
        elif kind == "open":
            message, _ = self.messages.pop(0)
            fact = message
            facts.update(op="interact", kind="opened", message=self.numbers[message], device=self.facts[message][1][1])
        elif kind == "session":
            # Of a device that gets no push: no push has influenced it.
            fact = f"visitor{identifier}"
            facts.update(op="session", kind="start", device=fact, external_id="u" + fact)
        else:
            fact = f"u{self.generator.randrange(DEVICES)}", self.count
            facts.update(
                op="log", braze_id=fact[0], kind="custom_event", name="seen",
                properties={"producer": self.number, "n": self.count})
        self.facts[identifier] = kind, fact
        line = json.dumps(facts, separators=(",", ":")).encode() + b"\n"
        self.waiting[identifier] = line
        return line

    def exchange(self, lines):
        if not self.connection:
            # New lines wait with the rest.
            self.connection = self.nodes[self.place].connect("inject", 1)
            lines, self.rest = b"".join(self.waiting.values()), b""
            self.again += len(self.waiting)
        if lines:
            self.connection.settimeout(5)
            self.connection.sendall(lines)
        self.connection.settimeout(0.005)
        try:
            received = self.connection.recv(1 << 18)
        except TimeoutError:
            return
        if not received:
            raise ConnectionError("the end")
        *replies, self.rest = (self.rest + received).split(b"\n")
        for reply in replies:
            self.take(json.loads(reply))

    def take(self, reply):
        identifier = reply.get("id")
        if not reply["ok"]:
            check(reply["error"]["code"] in ("unavailable", "overloaded"), f"{self.facts.get(identifier)}: {reply}")
            raise ConnectionError(reply["error"]["code"])
        if self.waiting.pop(identifier, None) is None:
            before = self.numbers.get(identifier)
            check(before == reply["seq"], f"{identifier} was {before}, and is {reply}")
            return
        self.numbers[identifier] = reply["seq"]
        self.times.append(time.monotonic())
        kind, fact = self.facts[identifier]
        if kind == "push" and fact[2]:
            self.messages.append((identifier, self.times[-1]))

    def turn(self):
        if self.connection:
            self.connection.close()
        self.connection, self.place = None, (self.place + 1) % len(self.nodes)
        time.sleep(0.02)


class Recount:
    """What the producers know, beside what a machine says."""

    def __init__(self, node, programs, producers):
        self.node, self.programs, self.problems = node, programs, []
        self.numbers, self.facts = {}, {}
        for producer in producers:
            self.numbers.update(producer.numbers)
            self.facts.update(producer.facts)

    def expect(self, what, found, wanted):
        if found != wanted:
            text = f"{found} in place of {wanted}"
            if isinstance(found, dict):
                keys = [key for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key)]
                text = f"{len(keys)} differ: " + ", ".join(
                    f"{key}: {found.get(key)} in place of {wanted.get(key)}" for key in sorted(keys, key=repr)[:5])
            self.problems.append(f"{what}: {text}")

    def of(self, kind):
        return {identifier: fact for identifier, (one, fact) in self.facts.items() if one == kind}

    def pushctl(self, *words):
        return json.loads(run([
            self.programs / "pushctl", *words, "--config", self.node.root / "etc", "--state", self.node.state,
            "--format", "json"]))

    def check(self):
        database = ledger(self.node)
        pushes, opens, sessions, logs = (self.of(kind) for kind in ("push", "open", "session", "log"))
        plain = len(self.of("plain"))
        rows = database.execute("SELECT id, seq FROM requests").fetchall()
        self.expect("requests", len(rows), len(self.facts))
        self.expect("ids and numbers", dict(rows), self.numbers)
        # Every outcome is there once, and it is that of its request.
        outcomes = Counter(database.execute("SELECT seq, outcome FROM invocations"))
        wanted = {"push": "handed_to_tracker", "plain": "handled", "open": "handed_to_tracker"}
        self.expect("outcomes", outcomes, Counter(
            (self.numbers[identifier], wanted[kind])
            for identifier, (kind, _) in self.facts.items() if kind in wanted))

        report = self.pushctl("report")
        self.expect("requests of the report", report["requests"], len(self.facts))
        self.expect("callbacks of the report", report["accepted"], len(pushes) + len(opens) + plain)
        self.expect(
            "outcomes of the report", {name: count for name, count in report["outcomes"].items() if count},
            {"handed_to_tracker": len(pushes) + len(opens), "handled": plain})

        received = Counter(campaign for campaign, *_ in pushes.values())
        opened = Counter(pushes[message][0] for message in opens.values())
        people = {
            campaign: len({device for one, device, _ in pushes.values() if one == campaign}) for campaign in received}
        self.expect("campaigns", {
            it["campaign_id"]: (it["received"], it["direct_opens"], it["influenced_opens"], it["unique_recipients"])
            for it in self.pushctl("campaigns")["campaigns"]
        }, {it: (received[it], opened[it], 0, people[it]) for it in received})

        events = Counter()
        for identifier, (campaign, device, _) in pushes.items():
            events["Received", campaign, "u" + device, self.numbers[identifier]] += 1
        for message in opens.values():
            campaign, device, _ = pushes[message]
            events["Open", campaign, "u" + device, self.numbers[message]] += 1
            events["SessionStart", None, "u" + device, None] += 1
        for visitor in sessions.values():
            events["SessionStart", None, "u" + visitor, None] += 1
        told = Counter(
            (kind.rsplit(".", 1)[1], campaign, person, delivery if campaign else None)
            for kind, campaign, person, delivery in database.execute(
                "SELECT kind, campaign_id, external_user_id, delivery FROM events"))
        self.expect("events", told, events)

        entries = Counter(
            (person, name, state, *(json.loads(data)[key] for key in ("producer", "n")))
            for person, name, state, data in database.execute("SELECT identifier, name, state, data FROM entries"))
        self.expect("entries", entries, Counter(
            (person, "seen", "queued", int(identifier[1:].split("-")[0]), count)
            for identifier, (person, count) in logs.items()))
        database.close()
        print(f"{len(pushes)} pushes, {plain} other deliveries, {len(opens)} opens, {len(sessions)} sessions, "
              f"{len(logs)} entries, {sum(told.values())} events")
        return self.problems


class Test:
    def __init__(self, root, options):
        self.root, self.options = root, options
        write_handlers(root)
        self.engine = Engine(root, False)
        self.nodes = [self.node(name) for name in "abc"]
        self.producers = [
            Producer(number, options.seed, self.nodes, options.rate / PRODUCERS) for number in range(PRODUCERS)]

    def node(self, name):
        return Node(name, self.root, self.options.programs.resolve(), self.engine.uri, "engine", LEASE, "device")

    def acknowledged(self):
        for producer in self.producers:
            if producer.trouble:
                raise producer.trouble
        return sum(len(producer.numbers) for producer in self.producers)

    def send(self, seconds):
        """Until producers have had acknowledgements for so many seconds of load."""
        goal = self.acknowledged() + self.options.rate * seconds
        begin = time.monotonic()
        wait_until("producers get on", lambda: self.acknowledged() >= goal, PATIENCE + 3 * seconds)
        return self.options.rate * seconds / (time.monotonic() - begin)

    def snapshots(self):
        return self.engine.sql("SELECT number FROM push_snapshots WHERE state = 'counts' ORDER BY number")

    def run(self):
        run(self.nodes[0].command("--init"))
        for node in self.nodes[:2]:
            node.start()
        Pair(self.nodes[:2]).wait_whole()
        for producer in self.producers:
            producer.start()
        before = self.send(self.options.seconds / 2)
        wait_until("there are two snapshots", lambda: self.acknowledged() and len(self.snapshots()) > 1)
        self.engine.sql(
            "UPDATE push_batches SET at = at - interval '1 hour' "
            "WHERE number < (SELECT max(number) - 100 FROM push_batches)")
        first = wait_until(
            "batches are deleted", lambda: int(self.engine.sql("SELECT min(number) FROM push_batches")[0]))
        lost = time.monotonic()
        for node in self.nodes[:2]:
            # Its supervisor does not start it again.
            node.is_stopping = True
            node.signal(signal.SIGKILL)
        for node in self.nodes[:2]:
            node.join(PATIENCE)
            shutil.rmtree(node.state)
        kept, tail = self.snapshots(), self.engine.sql("SELECT max(number) FROM push_batches")[0]
        third = self.nodes[2]
        third.start()
        wait_until("the third one leads", lambda: third.leads)
        print(f"the chain begins with batch {first}, the snapshots are behind {kept}, the last batch is {tail}")
        leads = time.monotonic() - lost
        after = self.send(self.options.seconds / 2)
        for producer in self.producers:
            producer.is_over = True
        for producer in self.producers:
            producer.join(PATIENCE)
            check(not producer.is_alive(), "a producer does not end")
        count = self.acknowledged()
        self.settle(third)
        times = sorted(it for producer in self.producers for it in producer.times)
        wait = max(two - one for one, two in zip(times, times[1:]))
        print(f"{count} acknowledged, {before:.0f}/s before and {after:.0f}/s after the loss of both disks, "
              f"{sum(producer.again for producer in self.producers)} sent again; the third one led after "
              f"{leads:.2f} s, longest time without an acknowledgement {wait:.2f} s")
        return Recount(third, self.options.programs, self.producers).check()

    @staticmethod
    def settle(node):
        with node.connect("read", PATIENCE) as connection, connection.makefile("rb") as lines:
            connection.sendall(b'{"op":"sync","timeout_ms":60000}\n')
            reply = json.loads(lines.readline())
        check(reply.get("complete"), f"the ledger does not get on: {reply}")

        def is_decided():
            database = ledger(node)
            try:
                return database.execute("SELECT count(*) FROM invocation_rows WHERE outcome IS NULL").fetchone() == (0,)
            finally:
                database.close()

        wait_until("everything has an outcome", is_decided, pause=0.2)

    def close(self):
        for producer in self.producers:
            producer.is_over = True
        for node in self.nodes:
            if node.process:
                node.end()
        self.engine.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not engines.PROGRAMS:
        print("left out: a pair that loses both disks: postgresql is not installed")
        return
    root = pathlib.Path(tempfile.mkdtemp(prefix="fleet.", dir="/tmp"))
    root.chmod(0o755)
    test, problems = None, ["it did not end"]
    try:
        test = Test(root, options)
        problems = test.run()
    except Failure as failure:
        problems = [str(failure)]
    finally:
        if test:
            test.close()
        if problems or options.keep:
            print(f"its files are in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    print(f"seed {options.seed}: {options.rate} requests a second")
    for problem in problems:
        print(f"VIOLATION: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
