"""What is done to the daemon, one act after the other; producers go on meanwhile."""

import contextlib
import json
import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import checks
from clients import DEVICES, FILLS, PLATFORMS, PUBLISH_BYTES, TOKENS, TOPICS, USERS, Client, Requests, exchange
from configuration import KINDS, OWNERS, REQUEST_LENGTH
from installation import PATIENCE, check, wait_until


class Acts:
    def __init__(self, installation, record, erasures, producers, gate, seed):
        self.installation, self.record, self.erasures = installation, record, erasures
        self.producers, self.gate = producers, gate
        self.generator = random.Random(f"{seed} acts")
        self.requests = Requests(self.generator, f"{seed}acts", record)
        self.checked = 0
        self.was_full = False
        # The number of each event within an act.
        self.events = {}

    NAMES = (
        "burst", "rush", "tap", "session", "token", "log", "again", "long", "topic", "publish", "erase", "erase_busy",
        "backup", "replay", "purge", "report",
        "read", "change", "remove", "turn", "broken", "storm", "kill", "stop", "kill_starting", "kill_stopping",
        "end_service",
        "kill_worker", "forwarder", "bad_client", "custom_data", "full_disk", "clock", "quiet")

    def count(self, event):
        self.events[event] = self.events.get(event, 0) + 1

    def do(self, name):
        getattr(self, name)()

    def some(self, make, at_most=3):
        exchange(Client(self.installation, self.record), [make() for _ in range(self.generator.randint(1, at_most))])

    # Requests

    def burst(self):
        """Many deliveries in one pipeline, to one handler or to all."""
        job = self.generator.choice([None, *OWNERS])
        self.some(lambda: self.requests.delivery(job), 25)

    def rush(self):
        """Programs are started while connections and workers end."""
        client = Client(self.installation, self.record)
        for _ in range(4):
            jobs = [("run", "ok")] * 6 + [
                (job, self.generator.choice(ends)) for _ in range(3) for job, ends in (
                    ("sock", ("last", "close", "exit", "reset")), ("once", ("ok", "close", "exit")),
                    ("work", ("last", "exit", "die")), ("swap", ("ok", "last")))]
            self.generator.shuffle(jobs)
            exchange(client, [self.requests.delivery(*job) for job in jobs])

    def tap(self):
        self.some(self.requests.tap)

    def session(self):
        self.some(self.requests.session)

    def token(self):
        self.some(self.requests.token)

    def log(self):
        self.some(self.requests.log, 10)

    def again(self):
        """What was acknowledged comes again: it gets the same number, and its outcomes."""
        may_be_erased = self.erasures.predicate()
        found = [request for request in (self.record.recent(self.generator) for _ in range(5)) if request]
        exchange(
            Client(self.installation, self.record),
            list({request.id: request for request in found if not may_be_erased(request)}.values()))

    def long(self):
        """Requests of any length, one after the other or in one pipeline."""
        for _ in range(self.generator.randint(1, 2)):
            self.some(self.requests.long, 3)

    def topic(self):
        """Registrations come to topics and leave them, and some belong to a user."""
        for _ in range(self.generator.randint(1, 4)):
            request = self.requests.subscription()
            reply = self.installation.ask("inject", request)
            check(reply["ok"] or reply["error"]["retry"], f"{request}: {reply}")
        self.some(self.requests.registration)

    def publish(self):
        """Publishes of any length, to a topic that has devices."""
        topic, tokens = self.generator.choice(TOPICS), self.generator.sample(TOKENS, self.generator.choice((1, 4, 40)))
        request = {
            "op": "topic", "kind": "subscribe", "project": "shop", "topic": topic, "tokens": tokens,
            "unknown": "register", "app": "shop"}
        reply = self.installation.ask("inject", request)
        check(reply["ok"] or reply["error"]["retry"], f"{request}: {reply}")
        fill = self.generator.choice(list(FILLS))
        self.count(f"publish: {fill} bytes at most")
        self.some(lambda: self.requests.publish(topic, min(fill, PUBLISH_BYTES // len(TOKENS) * 4)))

    def bad_client(self):
        """A client that is not one: nothing of what it does costs another client anything."""
        way = self.generator.choice(("garbage", "half", "long", "flood", "gone", "deaf", "admin"))
        self.count(f"bad client: {way}")
        try:
            connection = self.installation.connect("control" if way == "admin" else "inject")
        except OSError as error:
            check(False, f"no connection: {error}")
        with connection:
            try:
                if way == "garbage":
                    connection.sendall(os.urandom(5000).replace(b"\n", b" ") + b"\n")
                    check(b'"ok":false' in connection.recv(4096), "garbage is not refused")
                elif way == "half":
                    connection.sendall(b'{"op":"deliver","payl')
                elif way == "long":
                    connection.sendall(b'{"op":"deliver","payload":{"data":{"k":"' + b"x" * REQUEST_LENGTH)
                    check(b"too_long" in connection.recv(4096), "a line that is too long is not refused")
                elif way == "flood":
                    connection.sendall(b"{}\n" * 2000)
                elif way == "admin":
                    connection.sendall(b'{"op":"status"}\n' * 20)
                else:
                    requests = [self.requests.delivery() for _ in range(30)]
                    connection.sendall(b"".join(request.line for request in requests))
                    self.record.lose(requests)
                    if way == "deaf":
                        time.sleep(0.2)
            except (BrokenPipeError, ConnectionResetError):
                pass

    # Administrators and readers

    def erase(self):
        user = self.generator.choice(USERS) if self.generator.random() < 0.6 else None
        device = None if user else self.generator.choice(DEVICES)
        self.record.hushed = {user or device}
        try:
            if self.generator.random() < 0.25:
                self.erase_without_daemon(user, device)
            else:
                self.erase_with_daemon(user, device)
        finally:
            self.record.hushed = set()

    def erase_with_daemon(self, user, device):
        last = max((request.seq for request in self.record.acknowledged), default=0)
        for _ in range(10):
            whom = {"external_id": user} if user else {"device": device}
            reply = self.installation.ask("control", {"op": "erase", **whom})
            # An entry that the forwarder has delays a person's erasure for long.
            if reply["ok"]:
                break
            check(reply["error"]["code"] == "unavailable", f"erase: {reply}")
            time.sleep(0.3)
        else:
            self.count("erase: unavailable")
            return
        self.erasures.add(user, device, time.time())
        self.count("erase: with the daemon")
        if not reply.get("complete", True):
            return
        self.check_erased(user, device, last)

    def erase_without_daemon(self, user, device):
        self.count("erase: without the daemon")
        self.installation.terminate()
        last = max((request.seq for request in self.record.acknowledged), default=0)
        self.installation.pushctl("erase", "--yes", "--json", *(("--user", user) if user else ("--device", device)))
        self.erasures.add(user, device, time.time())
        self.check_erased(user, device, last)
        self.installation.start()

    def erase_busy(self):
        """Somebody for whom requests go on to come: the erasure comes to its end, and takes what came before it."""
        user = self.generator.choice(USERS)
        device = DEVICES[USERS.index(user)]
        person = {"app": "shop", "device": device, "platform": PLATFORMS[device[0]], "external_id": user}
        self.count("erase: busy")
        name = f"{self.requests.name}busy{self.events['erase: busy']}"
        requests = Requests(random.Random(self.generator.random()), name, self.record)
        is_over, trouble = threading.Event(), []

        def go_on():
            try:
                client = Client(self.installation, self.record)
                while not is_over.wait(0.1):
                    exchange(client, [requests.delivery("run", "slow", False, person)])
                client.hang_up()
            except Exception as error:  # Told by the act.
                trouble.append(error)

        traffic = threading.Thread(target=go_on, daemon=True)
        traffic.start()
        try:
            time.sleep(self.generator.random())
            last = max((request.seq for request in self.record.acknowledged), default=0)

            def is_erased():
                reply = self.installation.ask("control", {"op": "erase", "external_id": user})
                check(reply["ok"] or reply["error"]["code"] == "unavailable", f"erase: {reply}")
                return reply if reply["ok"] else None

            reply = wait_until(f"{user} is erased while requests come", is_erased)
        finally:
            is_over.set()
            traffic.join()
        self.erasures.add(user, None, time.time())
        if trouble:
            raise trouble[0]
        if reply.get("complete", True):
            self.check_erased(user, None, last)

    def check_erased(self, user, device, last):
        with self.installation.ledger() as ledger:
            left = ledger.execute(
                f"SELECT seq FROM requests WHERE seq <= ? AND {'external_id' if user else 'device'} = ? LIMIT 5",
                [last, user or device]).fetchall()
        check(not left, f"{user or device} is erased, and named by {[row[0] for row in left]}")

    def backup(self):
        path = self.installation.root / f"backups/{len(self.events)}-{time.monotonic_ns()}"
        last = max((request.seq for request in self.record.acknowledged), default=0)
        self.installation.pushctl("backup", path)
        with sqlite3.connect(path) as copy:
            problem = copy.execute("PRAGMA integrity_check").fetchone()[0]
            check(problem == "ok", f"the backup: {problem}")
            highest = copy.execute("SELECT coalesce(max(seq), 0) FROM requests").fetchone()[0]
            check(highest >= last, f"the backup ends with {highest}, and {last} was acknowledged before")
        copy.close()
        path.unlink()

    def replay(self):
        self.installation.pushctl("replay", "--limit", self.generator.randint(1, 20), "--json", allowed=(0, 1))

    def purge(self):
        self.installation.pushctl("deadletters", "purge", "--limit", 3, allowed=(0, 1))

    def report(self):
        if self.generator.random() < 0.5:
            report = json.loads(self.installation.pushctl("report", "--json"))
            check(
                report["accepted"] == sum(report["outcomes"].values()) + report["in_flight"],
                f"report: {report['accepted']} are not {report['outcomes']} and {report['in_flight']} in flight")
        else:
            form = self.generator.choice(("csv", "html", "text", "junit"))
            self.installation.pushctl("report", "--format", form)

    def read(self):
        """One of the commands that look at something."""
        seq = str(max((request.seq for request in self.record.acknowledged), default=1))
        command = self.generator.choice((
            ["status"], ["campaigns", "--json"], ["events", "--delays"], ["user", self.generator.choice(USERS)],
            ["users", "--where", "mark=1"], ["pending"], ["pending", "--rejected"], ["deadletters"], ["show", seq],
            ["export"], ["top", "--once"], ["status", "--format", "openmetrics"], ["log-level"], ["follow"]))
        self.count(f"read: {command[0]}")
        if command != ["follow"]:
            self.installation.pushctl(*command, allowed=(0, 1))
            return
        command = self.generator.choice((["tail"], ["export", "--follow"]))
        follower = subprocess.Popen(
            [self.installation.programs / "pushctl", *command], env=self.installation.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.generator.random())
        follower.kill()
        follower.wait()

    def custom_data(self):
        request = self.generator.choice((
            {"op": "flush", "app": "shop", "device": self.generator.choice(DEVICES)}, {"op": "reset", "suite": "t"},
            {"op": "resolve", "entries": "all", "state": "discarded"}, {"op": "peek", "after": 0, "limit": 10}))
        self.count(f"custom data: {request['op']}")
        reply = self.installation.ask("control", request)
        check(reply["ok"] or reply["error"]["retry"], f"{request}: {reply}")

    # The configuration

    def change(self):
        for _ in range(self.generator.randint(1, 3)):
            self.installation.configuration.change(self.generator)
        self.reload()

    def remove(self):
        self.installation.configuration.remove(self.generator)
        self.reload()

    def turn(self):
        self.installation.configuration.turn(self.generator)
        self.reload()

    def reload(self):
        self.installation.configuration.write()
        self.installation.reload()

    def broken(self):
        """A configuration with a mistake changes nothing."""
        self.installation.configuration.write(broken="handlers.d/run.handler")
        self.installation.reload(is_refused=True)
        check(self.installation.status()["configuration_problem"], "a wrong configuration is not told by status")
        self.reload()
        check(not self.installation.status()["configuration_problem"], "a problem is told of a right configuration")

    def storm(self):
        """Many reloads that change a handler, while more wait for it than it may have."""
        name = self.generator.choice(("work", "work", "pipe", "sock", "once", "swap", "watch-work", "run"))
        client = Client(self.installation, self.record)
        for _ in range(self.generator.randint(5, 15)):
            self.installation.configuration.change(self.generator, name)
            self.installation.configuration.write()
            job = name if name in OWNERS else None
            exchange(client, [self.requests.delivery(job, is_waited_for=False) for _ in range(8)])
            self.installation.run.process.send_signal(signal.SIGHUP)
            time.sleep(self.generator.choice((0, 0.02, 0.05, 0.1)))
        client.hang_up()
        self.reload()
        checks.check_processes(self.installation)

    # Ends of the daemon

    def kill(self):
        self.installation.kill()
        self.installation.start()

    def stop(self):
        self.installation.terminate()
        self.installation.start()

    def kill_starting(self):
        """Killed while it recovers what it was killed with."""
        self.installation.kill()
        for _ in range(self.generator.randint(1, 2)):
            self.installation.spawn()
            time.sleep(self.generator.random() * 0.3)
            self.installation.check_alive()
            self.installation.kill()
        self.installation.start()

    def kill_stopping(self):
        """Killed while it waits for handlers."""
        self.installation.begin_to_stop()
        time.sleep(self.generator.random() * 0.5)
        if self.installation.run.process.poll() is None:
            self.count("killed while it stopped")
            self.installation.kill_stopping()
        else:
            self.installation.wait_stopped()
        self.installation.start()

    # Ends of the others

    def end_service(self):
        name = self.generator.choice(("sock", "once", "web", "track", "bus", "desktop"))
        if self.generator.random() < 0.6:
            self.count(f"killed: {name}")
            self.installation.ends.end(name, signal.SIGKILL)
        else:
            self.count(f"stopped for a while: {name}")
            self.installation.ends.end(name, signal.SIGSTOP)
            time.sleep(self.generator.random())
            self.installation.ends.end(name, signal.SIGCONT)

    def kill_worker(self):
        """A process of a handler gets a signal from outside."""
        processes = self.installation.handler_processes()
        number = self.generator.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP))
        if processes:
            self.count(f"a handler's process: {number.name}")
            self.installation.signal_handler(self.generator.choice(processes), number)

    def forwarder(self):
        number = self.generator.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGHUP))
        self.count(f"the forwarder: {number.name}")
        self.installation.ends.end("forwarder", number)

    # The machine

    def full_disk(self):
        """No file grows beyond a length for a while: for the daemon that is a full disk."""
        run = self.installation.run
        # Its journal is a file, too, and goes on. The limit may cut a block of the log.
        room = run.log.stat().st_size + (self.generator.choice((256, 1024, 4096)) << 10)
        before = resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        time.sleep(self.generator.random() * 3)
        resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, before)
        self.was_full = True

    def clock(self):
        """The wall clock goes back, and forward again after a while."""
        self.installation.clock.set(-self.generator.choice((1, 60, 3600, 2 * 86400)))
        time.sleep(self.generator.random() * 2)
        self.installation.clock.set(0)

    # Nothing in flight

    def quiet(self):
        """Waits until nothing is in flight, and checks all that must hold then."""
        self.settle()
        installation = self.installation
        try:
            installation.sync()
            with self.record.lock:
                since, self.checked = self.checked, len(self.record.acknowledged)
            with installation.ledger() as ledger:
                checks.check_all_decided(ledger)
                checks.check_requests(ledger, self.record, self.erasures, self.record.acknowledged[since:])
                checks.check_publishes(ledger, self.record, self.erasures)
                checks.check_reports(installation, ledger)
            ledger.close()
            checks.check_metrics_by_journal(installation)
            checks.check_processes(installation)
        finally:
            self.gate.set()

    def settle(self):
        """Producers stop, and what they sent is decided."""
        self.gate.clear()
        for producer in self.producers:
            check(producer.is_idle.wait(2 * PATIENCE), f"producer {producer.name} does not come to an end")

        def is_settled():
            self.installation.sync()
            with contextlib.closing(self.installation.ledger()) as ledger:
                if checks.open_publishes(ledger):
                    return False
            status = self.installation.status()
            return not status["requests_in_flight"] and not status["handlers_running"]

        wait_until("nothing is in flight", is_settled)
        # The acts of people at notifications while the disk was full come once there is room, up to a second later.
        before = None
        while self.was_full and before != (before := self.installation.status()["last_seq"]):
            time.sleep(1.5)
            wait_until("nothing is in flight", is_settled)
        self.was_full = False
