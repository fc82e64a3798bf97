"""Producers: what they send, by the seed, and what they were told."""

import json
import random
import threading
import time

from configuration import ENDS, KINDS, OBSERVERS, OWNERS
from installation import PATIENCE, Failure, check

USERS = [f"user{number}" for number in range(8)]
PLATFORMS = {"a": "android", "i": "ios", "w": "web"}
DEVICES = [letter + str(number) for letter in PLATFORMS for number in range(5)]
# The registrations that topics have: a token is the name of its device.
TOKENS = [f"sub{number}" for number in range(40)]
TOPICS = [f"topic{number}" for number in range(4)]
# The lengths of what fills a payload, with their weights: most requests are short, and a few are as long as may be.
FILLS = {0: 8, 10_000: 4, 300_000: 3, 1_000_000: 2, 5_000_000: 1, 15_000_000: 1}
# The bytes that the deliveries of one publish have together, at most about.
PUBLISH_BYTES = 4_000_000
APPS = ["shop", "news"]


class Request:
    """One request, and what became of it as far as its producer was told."""

    def __init__(self, identifier, facts, is_waited_for, fill=0):
        self.id, self.op = identifier, facts["op"]
        self.user, self.device = facts.get("external_id"), facts.get("device")
        self.message = facts.get("message")
        facts = dict(facts, id=identifier)
        if is_waited_for:
            facts["wait"] = "outcome"
        self.is_waited_for, self.facts, self.fill = is_waited_for, facts, fill
        # Its number once it was acknowledged, the number of promised outcomes, and the received ones: n to outcome.
        self.seq, self.outcomes, self.told = None, None, {}
        # The devices of a publish, as the reply has it.
        self.members = None
        self.is_refused = False
        # Whether it was sent without a reply: the ledger may have it, whatever a repeat is answered.
        self.is_unknown = False
        self.at = time.time()

    @property
    def line(self):
        """Made each time: the long ones of an hour would fill the memory."""
        facts = self.facts
        if self.fill:
            payload = facts["payload"]
            facts = {**facts, "payload": {**payload, "data": {**payload["data"], "fill": "v" * self.fill}}}
        return json.dumps(facts, separators=(",", ":")).encode() + b"\n"


class Record:
    """All requests of a run of the test: what was acknowledged, what was refused, and what nobody knows."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged, self.refused, self.unknown = [], [], []
        # Users and devices that are being erased, for which no request is made now.
        self.hushed = set()
        # The watch over their acknowledgements.
        self.watch = None

    def acknowledge(self, request, reply):
        with self.lock:
            check(
                request.seq in (None, reply["seq"]),
                f"{request.id} was acknowledged as {request.seq}, then as {reply['seq']}")
            if request.seq is None:
                self.acknowledged.append(request)
            request.seq, request.is_refused = reply["seq"], False
            request.outcomes = reply.get("outcomes", request.outcomes)
            if "members" in reply:
                check(
                    request.members in (None, reply["members"]),
                    f"{request.id} had {request.members} members, and has {reply['members']} when it comes again")
                request.members = reply["members"]

    def lose(self, requests):
        """Nobody knows what became of these."""
        with self.lock:
            for request in requests:
                if request.seq is None:
                    request.is_unknown = True
                    self.unknown.append(request)

    def by_id(self):
        """Every request by its id, whatever became of it."""
        return {request.id: request for request in self.acknowledged + self.unknown + self.refused}

    def recent(self, generator, op=None):
        """One that was acknowledged lately."""
        with self.lock:
            some = [request for request in self.acknowledged[-200:] if op in (None, request.op)]
        return generator.choice(some) if some else None


class Requests:
    """Draws requests."""

    def __init__(self, generator, name, record):
        self.generator, self.name, self.record, self.count = generator, name, record, 0

    def person(self):
        while True:
            device = self.generator.choice(DEVICES)
            # Most devices have one user; some requests name another one, or none.
            user = USERS[DEVICES.index(device) % len(USERS)]
            if self.generator.random() < 0.15:
                user = self.generator.choice(USERS)
            facts = {"app": self.generator.choice(APPS), "device": device, "platform": PLATFORMS[device[0]]}
            if self.generator.random() < 0.7:
                facts["external_id"] = user
            if self.generator.random() < 0.05:
                del facts["device"]
            if not self.record.hushed & {device, user}:
                return facts

    def make(self, facts, is_waited_for=None, fill=0):
        self.count += 1
        if is_waited_for is None:
            is_waited_for = facts["op"] in ("deliver", "token", "interact") and self.generator.random() < 0.4
        return Request(f"{self.name}-{self.count}", facts, is_waited_for, fill)

    def any(self):
        """Mostly deliveries."""
        kind = self.generator.choices(
            (self.delivery, self.braze, self.tap, self.session, self.token, self.log, self.publish),
            (24, 4, 6, 2, 2, 4, 1))[0]
        return kind()

    def end(self, kind):
        # Stalls cost a deadline each, so they are rarer.
        end = self.generator.choice(ENDS[kind])
        return "ok" if end == "stall" and self.generator.random() < 0.5 else end

    def delivery(self, job=None, end=None, is_waited_for=None, person=None):
        job = job or self.generator.choice(list(OWNERS))
        facts = {"op": "deliver", **(person or self.person())}
        data = {"job": job, "end": end or self.end(OWNERS[job]), "mark": f"{self.name}-{self.count + 1}"}
        for name in OBSERVERS:
            if self.generator.random() < 0.1:
                data[name] = "1"
                data["end"] = self.end(OBSERVERS[name])
        text = {"title": "a push", "body": f"{data['end']} it is"}
        if facts["platform"] == "android":
            if job == "desk":
                data.update(text)
            if self.generator.random() < 0.3:
                data["google.message_id"] = f"m{self.generator.randrange(200)}"
                facts["payload"] = {"extras": data}
            else:
                facts["payload"] = {"data": data}
        elif facts["platform"] == "ios":
            facts["payload"] = {"aps": {"content-available": 1}, **data}
            if job == "desk" or self.generator.random() < 0.3:
                facts["payload"]["aps"].update(alert=text)
                facts["state"] = self.generator.choice(("foreground", "background"))
        else:
            facts["payload"] = {**data, **text}
        return self.make(facts, is_waited_for)

    def long(self):
        """A delivery of any length, for the journal."""
        fill = self.generator.choices(list(FILLS), list(FILLS.values()))[0]
        facts = {"op": "deliver", **self.person(), "platform": "android"}
        facts["payload"] = {"data": {"mark": f"{self.name}-{self.count + 1}"}}
        if facts.get("device", "a")[0] != "a":
            del facts["device"]
        return self.make(facts, fill=fill)

    def publish(self, topic=None, fill=0):
        """To the devices of a topic or of two; those that are long go to the journal."""
        topic = topic or self.generator.choice(TOPICS)
        data = {"mark": f"{self.name}-{self.count + 1}"}
        if not fill and self.generator.random() < 0.5:
            job = self.generator.choice(("run", "work", "sock"))
            data.update(job=job, end=self.end(OWNERS[job]))
        facts = {
            "op": "publish", "project": "shop", "app": "shop", "message_id": f"{self.name}-p{self.count + 1}",
            "payload": {"data": data}}
        if self.generator.random() < 0.3:
            facts["condition"] = f"'{topic}' in topics || '{self.generator.choice(TOPICS)}' in topics"
        else:
            facts["topic"] = topic
        return self.make(facts, fill=fill)

    def registration(self):
        """A token that topics have gets a user."""
        token = self.generator.choice(TOKENS)
        person = {"app": "shop", "device": token, "platform": "android", "external_id": self.generator.choice(USERS)}
        if self.record.hushed & {person["external_id"], token}:
            del person["external_id"]
        return self.make({"op": "token", "kind": "new", "token": token, **person})

    def subscription(self):
        """A change of a topic's registrations. It has no id, and a repetition changes nothing."""
        tokens = self.generator.sample(TOKENS, self.generator.choice((1, 3, 10, 40)))
        return {
            "op": "topic", "kind": self.generator.choice(("subscribe", "subscribe", "unsubscribe")), "project": "shop",
            "topic": self.generator.choice(TOPICS), "tokens": tokens, "unknown": "register", "app": "shop"}

    def braze(self):
        facts = {"op": "deliver", **self.person()}
        campaign, mark = f"campaign{self.generator.randrange(4)}", f"{self.name}-{self.count + 1}"
        if facts["platform"] == "android":
            data = {"_ab": "true", "cid": campaign, "t": "Title", "a": "Text", "mark": mark, "end": self.end("track")}
            facts["payload"] = {"data": data}
        elif facts["platform"] == "ios":
            facts["payload"] = {"aps": {"alert": {"title": "T", "body": "B"}}, "ab": {"c": campaign}, "mark": mark}
        else:
            facts["payload"] = {"cid": campaign, "t": "Title", "a": "Text", "mark": mark}
        return self.make(facts)

    def tap(self):
        delivery = self.record.recent(self.generator, "deliver")
        facts = {"op": "interact", "kind": self.generator.choice(("opened", "opened", "action", "dismissed"))}
        if facts["kind"] == "action":
            facts["action"] = self.generator.choice(("yes", "no", "reply"))
            if self.generator.random() < 0.5:
                facts["text"] = "on my way"
        way = self.generator.random()
        if way < 0.7 and delivery and not self.record.hushed & {delivery.user, delivery.device}:
            facts["message"] = delivery.seq
            if delivery.device:
                facts.update(device=delivery.device, platform=PLATFORMS[delivery.device[0]])
        elif way < 0.8:
            facts["message"] = f"m{self.generator.randrange(250)}"
            facts.update(self.person())
        else:
            facts.update(self.person())
            facts["payload"] = {"job": self.generator.choice(list(OWNERS)), "end": "ok", "aps": {}}
        return self.make(facts)

    def session(self):
        return self.make({"op": "session", "kind": self.generator.choice(("start", "start", "end")), **self.person()})

    def token(self):
        kind = self.generator.choice(("new", "registered", "unregistered"))
        return self.make({"op": "token", "kind": kind, "token": f"token{self.count}", **self.person()})

    def log(self):
        facts = {"op": "log", **self.person()}
        mark = f"{self.name}-{self.count + 1}"
        if self.generator.random() < 0.7:
            facts.update(kind="custom_event", name="bought", properties={"mark": mark, "end": self.end("track")})
        else:
            facts.update(kind="custom_attributes", attributes={"mark": mark, "end": self.end("track")})
        if self.generator.random() < 0.5:
            facts["braze_id"] = f"braze{self.generator.randrange(6)}"
        else:
            facts["suite"] = self.generator.choice(("s", "t"))
        return self.make(facts)


class Producer(threading.Thread):
    """Sends requests in small pipelines for as long as the gate is open, and keeps what it is told."""

    def __init__(self, name, installation, record, gate, trouble):
        super().__init__(daemon=True)
        self.generator = random.Random(name)
        self.requests = Requests(self.generator, name.replace(" ", ""), record)
        self.installation, self.record, self.gate, self.trouble = installation, record, gate, trouble
        self.is_idle, self.is_over = threading.Event(), False
        self.connection = None

    def run(self):
        try:
            while not self.is_over:
                if not self.gate.is_set():
                    self.hang_up()
                    self.is_idle.set()
                    self.gate.wait(0.1)
                    continue
                self.is_idle.clear()
                batch = [self.draw() for _ in range(self.generator.choice((1, 1, 2, 4, 8)))]
                self.send(batch)
                time.sleep(self.generator.choice((0, 0, 0.05, 0.1, 0.3)))
        except Failure as failure:
            self.trouble.append(failure)
        except Exception as error:  # What nobody thought of ends the test, not only the thread.
            self.trouble.append(Failure(f"producer {self.name}: {error!r}"))
        finally:
            self.is_idle.set()

    def draw(self):
        """A new request, or one whose fate nobody knows once more."""
        if self.record.unknown and self.generator.random() < 0.3:
            with self.record.lock:
                if self.record.unknown:
                    return self.record.unknown.pop(0)
        return self.requests.any()

    def send(self, batch):
        exchange(self, batch)

    def hang_up(self):
        if self.connection:
            self.connection[0].close()
            self.connection = None

    def connected(self):
        end = time.monotonic() + PATIENCE
        while not self.connection:
            try:
                connection = self.installation.connect("inject")
                self.connection = connection, connection.makefile("rb")
            except OSError:
                check(time.monotonic() < end, f"no daemon takes a connection for {PATIENCE} s")
                if self.is_over or not self.gate.is_set():
                    return None
                time.sleep(0.05)
        return self.connection


def exchange(client, batch):
    """Sends requests in one piece, and reads all that is owed for them. What has no reply is of unknown fate then."""
    record = client.record
    connected = client.connected()
    if not connected:
        record.lose(batch)
        return
    connection, lines = connected
    with record.watch.wait(len(batch)) as answered:
        take_replies(client, batch, connection, lines, answered)


def take_replies(client, batch, connection, lines, answered):
    record = client.record
    waiting = list(batch)
    by_id = {request.id: request for request in batch}
    owed = {}
    try:
        connection.sendall(b"".join(request.line for request in batch))
        while waiting or owed:
            line = lines.readline()
            if not line.endswith(b"\n"):
                raise ConnectionError("the end")
            try:
                reply = json.loads(line)
            except ValueError:
                raise Failure(f"a reply that is no JSON: {line}") from None
            if "ok" not in reply:
                take_outcome(by_id[reply["id"]], reply, owed)
                continue
            request = waiting.pop(0)
            answered()
            check(reply.get("id") == request.id, f"the reply to {request.id} is {reply}")
            if reply["ok"]:
                record.acknowledge(request, reply)
                if request.is_waited_for and reply["outcomes"]:
                    owed[request.id] = reply["outcomes"]
                check(not request.is_waited_for or "outcomes" in reply, f"no outcomes in {reply}")
            else:
                code = reply["error"]["code"]
                check(code in ("overloaded", "unavailable"), f"{request.line} is refused: {reply}")
                check(reply["error"]["retry"], f"retry is not true: {reply}")
                with record.lock:
                    if request.seq is None:
                        request.is_refused = not request.is_unknown
                        record.refused.append(request)
    except TimeoutError:
        raise Failure(
            f"no word from the daemon for {PATIENCE} s; replies are owed to {[request.id for request in waiting]}, "
            f"outcomes to {owed}") from None
    except OSError:
        client.hang_up()
        record.lose(waiting)


def take_outcome(request, line, owed):
    check(request.id in owed, f"an outcome that nobody is owed: {line}")
    before = request.told.setdefault(line["n"], line["outcome"])
    check(before == line["outcome"], f"{request.id} {line['n']}: told {before}, then {line['outcome']}")
    owed[request.id] -= 1
    if not owed[request.id]:
        del owed[request.id]


class Client:
    """A client of one act, with a connection of its own."""

    def __init__(self, installation, record):
        self.installation, self.record, self.connection = installation, record, None

    def connected(self):
        if not self.connection:
            connection = self.installation.connect("inject")
            self.connection = connection, connection.makefile("rb")
        return self.connection

    def hang_up(self):
        if self.connection:
            self.connection[0].close()
            self.connection = None
