"""Producers: they send each request under its id to one node after the other until it is acknowledged."""

import json
import random
import threading
import time

from engine import PATIENCE, Failure, check, wait_until

DEVICES = [f"device{number}" for number in range(12)]
# The members of a topic, and the lengths of the texts that are published to it.
MEMBERS = [f"member{number:02}" for number in range(24)]
TOPIC = {"project": "shop", "topic": "news"}
TEXTS = (10, 10, 3_000, 60_000, 200_000)
# A payload for the tracker.
BRAZE = {"_ab": "true", "cid": "c1", "t": "A parcel", "a": "It is on its way"}
# After so long without a reply the producer changes to the other node. Some wait until a stopped leader resumes.
REPLY_PATIENCE = (0.3, 5)
CONNECT_PATIENCE = 0.3
# The longest wait for an outcome on one connection.
OUTCOME_PATIENCE = 3


class Request:
    def __init__(self, identifier, facts):
        self.id, self.is_waited_for, self.is_publish = identifier, "wait" in facts, facts["op"] == "publish"
        self.line = json.dumps({"id": identifier, **facts}, separators=(",", ":")).encode() + b"\n"
        # Its number, the times of the first send and of the acknowledgement, the reply, the number of promised
        # outcomes, and the received ones: n to outcome.
        self.seq = self.sent = self.at = self.reply = self.outcomes = None
        self.told = {}


class Record:
    """What producers were told, and when."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged, self.times, self.problems = [], [], []
        self.repeats = self.untold = 0

    def acknowledge(self, request, reply):
        with self.lock:
            self.times.append(time.monotonic())
            if request.seq is None:
                request.seq, request.at, request.reply = reply["seq"], self.times[-1], reply
                self.acknowledged.append(request)
            else:
                self.repeats += 1
                if request.reply != reply:
                    self.problems.append(f"{request.id} was acknowledged by {request.reply}, then by {reply}")
            request.outcomes = reply.get("outcomes", request.outcomes)

    def tell(self, request, line):
        with self.lock:
            before = request.told.setdefault(line["n"], line["outcome"])
            if before != line["outcome"]:
                self.problems.append(f"{request.id} {line['n']}: told {before}, then {line['outcome']}")


def subscribe(pair):
    """Subscribes the members of the topic. To repeat it changes nothing."""
    line = json.dumps({"op": "topic", "kind": "subscribe", "unknown": "register", "platform": "android", "app": "shop",
                       **TOPIC, "tokens": MEMBERS}).encode() + b"\n"

    def is_subscribed():
        for node in pair.nodes:
            try:
                with node.connect("inject", CONNECT_PATIENCE) as connection, connection.makefile("rb") as lines:
                    connection.sendall(line)
                    if json.loads(lines.readline() or b"{}").get("ok"):
                        return True
            except (OSError, ValueError):
                continue
        return False

    wait_until("the members of the topic are subscribed", is_subscribed)


class Producer(threading.Thread):
    def __init__(self, number, seed, pair, record, pause):
        super().__init__(daemon=True)
        self.prefix, self.generator = f"p{number}", random.Random(f"{seed} producer {number}")
        self.pair, self.record, self.pause = pair, record, pause
        self.place = number % len(pair.nodes)
        self.count, self.mine, self.connections = 0, [], {}
        self.is_over, self.trouble = False, None

    def run(self):
        try:
            while not self.is_over:
                if self.mine and self.generator.random() < 0.05:
                    # Repeats an acknowledged request: the reply has the same number.
                    self.send(self.generator.choice(self.mine[-100:]))
                else:
                    request = self.draw()
                    self.send(request)
                    self.mine.append(request)
                time.sleep(self.generator.uniform(0, 2 * self.pause))
        except Exception as error:  # What nobody thought of ends the test, not only the thread.
            self.trouble = error if isinstance(error, Failure) else Failure(f"producer {self.prefix}: {error!r}")

    def draw(self):
        self.count += 1
        identifier = f"{self.prefix}-{self.count:06}"
        device = self.generator.choice(DEVICES)
        facts = {"platform": "android", "app": "shop", "device": device, "external_id": "u" + device}
        way = self.generator.random()
        if way < 0.1 and self.mine:
            facts.update(op="interact", kind="opened", message=self.generator.choice(self.mine[-20:]).seq)
            del facts["external_id"]
        elif way < 0.15:
            facts.update(op="session", kind="start")
        elif way < 0.17:
            text = self.generator.choice(TEXTS) * "x"
            job = self.generator.choice(("run", "none"))
            payload = {"data": {"job": job, "text": text}}
            facts = {"op": "publish", **TOPIC, "message_id": identifier, "payload": payload}
        else:
            job = self.generator.choice(("run", "run", "again", "none", "braze"))
            facts.update(op="deliver", payload={"data": BRAZE if job == "braze" else {"job": job}})
            if self.generator.random() < 0.3:
                facts["wait"] = "outcome"
        return Request(identifier, facts)

    # One request

    def send(self, request):
        """Until it is acknowledged, and the outcomes are told where it waits for them."""
        end = time.monotonic() + PATIENCE
        is_acknowledged = False
        while not (is_acknowledged and (not request.is_waited_for or len(request.told) >= request.outcomes)):
            if time.monotonic() > end or self.is_over and is_acknowledged:
                check(is_acknowledged, f"{request.id} is not acknowledged within {PATIENCE} s")
                self.record.untold += 1
                return
            try:
                is_acknowledged = self.exchange(request) or is_acknowledged
            except (OSError, ValueError):
                self.drop(self.place)
                self.turn()

    def turn(self):
        """To the other node, after a moment."""
        self.place = (self.place + 1) % len(self.pair.nodes)
        time.sleep(self.generator.uniform(0.005, 0.03))

    def exchange(self, request):
        """Whether the node acknowledges it. The outcomes that it waits for are read, too."""
        lines = self.connected()
        connection = self.connections[self.place][0]
        connection.settimeout(self.generator.choice(REPLY_PATIENCE))
        request.sent = request.sent or time.monotonic()
        connection.sendall(request.line)
        reply = self.read(lines)
        if reply.get("id") != request.id:
            raise Failure(f"the reply to {request.id} is {reply}")
        if not reply["ok"]:
            error = reply["error"]
            check(error["code"] in ("unavailable", "overloaded"), f"{request.line} is refused: {reply}")
            check(error["retry"], f"retry is not true: {reply}")
            self.turn()
            return False
        self.record.acknowledge(request, reply)
        if request.is_waited_for:
            connection.settimeout(OUTCOME_PATIENCE)
            for _ in range(reply["outcomes"]):
                line = self.read(lines)
                check(line.get("id") == request.id and "outcome" in line, f"the outcome of {request.id} is {line}")
                self.record.tell(request, line)
        return True

    def read(self, lines):
        line = lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the end")
        return json.loads(line)

    def connected(self):
        if self.place not in self.connections:
            connection = self.pair.nodes[self.place].connect("inject", CONNECT_PATIENCE)
            self.connections[self.place] = connection, connection.makefile("rb")
        return self.connections[self.place][1]

    def drop(self, place):
        connection = self.connections.pop(place, None)
        if connection:
            for part in reversed(connection):
                part.close()
