#!/usr/bin/env python3
"""Sends the same requests to one daemon and to a pair that is moved and restarted meanwhile: both come to the same.

twin.py [--requests N] [--moves N] [--seed N] [--programs DIR] [--keep]

One request follows the other, so that numbers and ids are the same. Leaders and followers are told to stop, the lead
moves. Nothing that was accepted may notice: numbers, callbacks, outcomes and events are compared one by one.
It needs Debian's postgresql.
"""

import argparse
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from engine import PATIENCE, Engine, Failure, check, run, wait_until
from nodes import Node, Pair, write_handlers
from oracle import ledger

HERE = pathlib.Path(__file__).resolve().parents[2]
LEASE = 3
# The number of requests after which a delivery is certainly made.
SETTLED = 700
# The rows that must be equal, each query in an order that does not depend on the time.
QUERIES = {
    "requests": "SELECT seq, id, operation, platform, app, device, state, tracked FROM requests ORDER BY seq",
    "invocations": "SELECT seq, n, callback, route, handler, outcome, reason_code FROM invocations ORDER BY seq, n",
    "events": "SELECT seq, kind, delivery, external_user_id, device_id, app_id, campaign_id, message_id FROM events "
              "ORDER BY seq, kind, delivery",
}


class Single(Node):
    """A daemon with a log of its own."""

    def configure(self, root, *_):
        super().configure(root, "", "engine", LEASE, "device")
        (self.root / "etc/pushrouterd.conf").write_text("[Dispatch]\nHandlersMax=8\n")

    def command(self, *options):
        return [self.programs / "pushrouterd", *super().command(*options)[1:]]


def requests(seed, count):
    """Lines, each with its id."""
    generator = random.Random(f"{seed} requests")
    # Delivered pushes: those that may be opened, and those that the tracker does not take. A push that is opened has a device
    # of its own: the time decides whether a session was influenced by a push that is opened soon after.
    phones, others = [], []
    for number in range(1, count + 1):
        device = f"device{generator.randrange(20)}"
        facts = {"id": f"t-{number:07}", "platform": "android", "app": "shop", "device": device}
        way = generator.random()
        # Long ago, so that it does not depend on the time whether its turn in the lane has come.
        old = [it for it in phones[:1] if it < number - SETTLED]
        if way < 0.06 and old:
            phones.pop(0)
            elsewhere = generator.random() < 0.2
            facts.update(op="interact", kind="opened", message=old[0], device=device if elsewhere else f"phone{old[0]}")
        elif way < 0.1 and number > 3 * SETTLED:
            message = generator.choice([it for it in others[-2 * SETTLED:] if it < number - SETTLED])
            facts.update(op="interact", kind="opened", message=message)
        elif way < 0.15:
            facts.update(op="session", kind="start", external_id="u" + device)
        elif way < 0.45:
            if generator.random() < 0.3:
                phones.append(number)
                device = facts["device"] = f"phone{number}"
            campaign = f"c{generator.randrange(5)}"
            facts.update(op="deliver", external_id="u" + device, payload={
                "data": {"_ab": "true", "cid": campaign, "t": "A parcel", "a": f"Order {number}"}})
        else:
            others.append(number)
            job = generator.choice(["none"] * 8 + ["run", "again"])
            facts.update(op="deliver", external_id="u" + device, payload={"data": {"job": job}})
        yield facts["id"], json.dumps(facts, separators=(",", ":")).encode() + b"\n"


class Sender(threading.Thread):
    """Sends all requests in their order, each to one node after the other until it is answered."""

    def __init__(self, nodes, seed, count):
        super().__init__(daemon=True)
        self.nodes, self.lines = nodes, list(requests(seed, count))
        self.place = self.done = self.again = 0
        self.longest, self.connection, self.trouble, self.replies = 0, None, None, []

    def run(self):
        try:
            for identifier, line in self.lines:
                begin = time.monotonic()
                while not self.exchange(identifier, line):
                    check(time.monotonic() < begin + PATIENCE, f"{identifier} is not answered")
                    self.again += 1
                    self.drop()
                    self.place = (self.place + 1) % len(self.nodes)
                    time.sleep(0.01)
                self.longest = max(self.longest, time.monotonic() - begin)
                self.done += 1
        except Exception as error:
            self.trouble = error

    def drop(self):
        if self.connection:
            self.connection[1].close()
            self.connection[0].close()
            self.connection = None

    def exchange(self, identifier, line):
        try:
            if not self.connection:
                connection = self.nodes[self.place].connect("inject", 5)
                self.connection = connection, connection.makefile("rb")
            self.connection[0].sendall(line)
            reply = json.loads(self.connection[1].readline() or b"{}")
        except (OSError, ValueError):
            return False
        if not reply or not reply["ok"] and reply["error"]["code"] in ("unavailable", "overloaded"):
            return False
        # A refusal is a reply, too, and both daemons give it.
        self.replies.append((identifier, reply["ok"], reply.get("seq"), reply.get("error", {}).get("code")))
        return True


def move(pair, generator, programs):
    """A planned move, or the restart of a machine."""
    leader = pair.wait_whole()
    way = generator.choice(("leader", "follower", "move"))
    if way == "move":
        result = subprocess.run(
            [programs / "pushctl", "store", "move", "--config", leader.root / "etc"], capture_output=True, text=True)
        if result.returncode == 2:  # It does not know the command.
            way = "leader"
        else:
            check(result.returncode == 0, f"store move: {result.stdout} {result.stderr}")
    if way != "move":
        node = leader if way == "leader" else pair.other(leader)
        ends = len(node.ends)
        node.signal(signal.SIGTERM)
        wait_until(f"{node.name} has ended", lambda: len(node.ends) > ends)
    pair.wait_whole()
    return way


def settle(node):
    def is_decided():
        database = ledger(node)
        try:
            return database.execute("SELECT count(*) FROM invocation_rows WHERE outcome IS NULL").fetchone() == (0,)
        finally:
            database.close()

    wait_until(f"everything has an outcome at {node.name}", is_decided, pause=0.2)
    # Held interactions are decided within the grace.
    time.sleep(6)


def compare(single, other, senders):
    differences = []
    if senders[0].replies != senders[1].replies:
        differences += [f"replies: {one} and {two}" for one, two in zip(*(it.replies for it in senders)) if one != two]
    for name, query in QUERIES.items():
        one, two = (ledger(node).execute(query).fetchall() for node in (single, other))
        print(f"{name}: {len(one)} and {len(two)}")
        if one != two:
            only = [f"one daemon {it}" for it in set(one) - set(two)] + [f"pair {it}" for it in set(two) - set(one)]
            differences += [f"{name}: {it}" for it in only[:10]] or [f"{name}: in another order or number"]
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--moves", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    root = pathlib.Path(tempfile.mkdtemp(prefix="fleet.", dir="/tmp"))
    root.chmod(0o755)
    generator, nodes, engine, differences = random.Random(f"{options.seed} moves"), [], None, ["it did not end"]
    try:
        write_handlers(root)
        engine = Engine(root, False)
        nodes = [Node(name, root, options.programs.resolve(), engine.uri, "engine", LEASE, "device") for name in "ab"]
        single = Single("single", root, options.programs.resolve(), "", "", LEASE, "device")
        run(nodes[0].command("--init"))
        pair = Pair(nodes)
        for node in [*nodes, single]:
            node.start()
        pair.wait_whole()
        wait_until("the single one answers", lambda: single.leads)
        senders = [Sender([single], options.seed, options.requests), Sender(nodes, options.seed, options.requests)]
        for sender in senders:
            sender.start()
        ways = []
        for number in range(1, options.moves + 1):
            goal = options.requests * number // (options.moves + 1)
            while senders[1].done < goal:
                check(not senders[1].trouble, str(senders[1].trouble))
                time.sleep(0.01)
            ways.append(move(pair, generator, options.programs))
        for sender in senders:
            sender.join()
            check(not sender.trouble, str(sender.trouble))
        for node in (single, leader := pair.wait_whole()):
            settle(node)
        print(f"seed {options.seed}: {options.requests} requests, {', '.join(ways)}; sent again {senders[1].again} "
              f"times, longest wait of one {senders[1].longest:.2f} s")
        differences = compare(single, leader, senders)
    except Failure as failure:
        differences = [str(failure)]
    finally:
        for node in [*nodes, *([single] if "single" in locals() else [])]:
            node.end()
        if engine:
            engine.close()
        if differences or options.keep:
            print(f"its files are in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    for difference in differences:
        print(f"DIFFERENT: {difference}")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
