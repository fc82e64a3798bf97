#!/usr/bin/env python3
"""Faults that a review found once, each done again: they must not come back.

break.py [--only NAME]... [--programs DIR]

Each is a function with the bound that must hold; the bounds allow for a busy machine with two processors, and for
release builds. It prints a line for each, and ends with 1 when one is there. Those of a pair need Debian's postgresql,
and that of the page needs root.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(HERE / "Tests/Fleet"))
import engine as engines  # noqa: E402
from nodes import Node, Pair  # noqa: E402

JOURNAL = {"handlers.d/journal": "[Handler]\nType=journal\n", "routes.d/99-all": "[Route]\nHandler=journal\n"}
# Exit statuses of the daemon: an error of files, and a wrong configuration or a state that it does not take.
FILES, REFUSED = 74, 78


class Daemon:
    """A daemon in a directory of its own."""

    def __init__(self, root, programs, settings="", files=None):
        self.root, self.programs, self.process = root, programs, None
        for name in ("config/handlers.d", "config/routes.d"):
            (root / name).mkdir(parents=True)
        (root / "config/pushrouterd.conf").write_text(f"[Dispatch]\nMode=relay\n{settings}")
        for name, text in (files or JOURNAL).items():
            suffix = ".handler" if name.startswith("handlers") else ".route"
            (root / f"config/{name}{suffix}").write_text(text)
        self.environment = dict(
            os.environ, CONFIGURATION_DIRECTORY=str(root / "config"), STATE_DIRECTORY=str(root / "state"),
            RUNTIME_DIRECTORY=str(root / "run"), SWIFT_BACKTRACE="enable=no")
        for name in ("JOURNAL_STREAM", "NOTIFY_SOCKET"):
            self.environment.pop(name, None)

    def start(self, seconds=60):
        """The processor's seconds until the daemon accepts; nothing where the daemon ends instead."""
        begin = time.monotonic()
        with open(self.root / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "pushrouterd"], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        while time.monotonic() < begin + seconds and self.process.poll() is None:
            with contextlib.suppress(OSError), self.connect():
                return self.processor()
            time.sleep(0.02)
        return None

    def connect(self, name="inject", seconds=60):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(seconds)
        try:
            connection.connect(str(self.root / f"run/{name}.sock"))
        except OSError:
            connection.close()
            raise
        return connection

    def ask(self, request, name="inject", seconds=60):
        with self.connect(name, seconds) as connection, connection.makefile("rb") as lines:
            connection.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(lines.readline() or b"{}")

    def deliver(self, **keys):
        return self.ask({"op": "deliver", "payload": {"k": "v"}, **keys})

    def sync(self):
        return self.ask({"op": "sync", "timeout_ms": 60_000}, "control")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def ledger(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self.root / "state/ledger.db", timeout=20)) as ledger, ledger:
            return ledger.execute(statement, values).fetchall()

    def processor(self):
        """The seconds of a processor that the daemon has had: they hold on a busy machine, too."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) >> 10


@contextlib.contextmanager
def daemon(programs, settings="", files=None):
    with tempfile.TemporaryDirectory(prefix="break.", dir="/tmp") as directory:
        made = Daemon(pathlib.Path(directory), programs, settings, files)
        try:
            yield made
        finally:
            made.kill()


def removed(programs, take_away):
    with daemon(programs) as it:
        it.start()
        for number in range(300):
            it.deliver(id=f"before-{number}")
        it.sync()
        take_away(it.root / "state")
        acknowledged, end = 0, time.monotonic() + 60
        with contextlib.suppress(OSError):
            while time.monotonic() < end and it.process.poll() is None:
                acknowledged += bool(it.deliver().get("ok"))
                time.sleep(0.05)
        # It closes its sockets a moment before it ends.
        with contextlib.suppress(subprocess.TimeoutExpired):
            it.process.wait(10)
        if it.process.poll() is None:
            yield f"the daemon goes on for a minute, and acknowledged {acknowledged} requests"
        elif it.process.poll() != FILES:
            yield f"it ended with {it.process.returncode}, not with {FILES}"


def log_removed(programs):
    """The log's files are removed under the daemon: it ends, and does not acknowledge into nothing."""

    def remove(state):
        for path in (state / "log").iterdir():
            path.unlink()

    return removed(programs, remove)


def log_truncated(programs):
    """The same with files that are cut."""

    def cut(state):
        for path in (state / "log").iterdir():
            os.truncate(path, 8192)

    return removed(programs, cut)


def ledger_moved(programs):
    """The same with the ledger."""
    return removed(programs, lambda state: (state / "ledger.db").rename(state / "moved.db"))


def many_routes(programs):
    """10,000 routes and 5,000 handlers: the daemon starts, and reloads, before systemd loses its patience."""
    files = {f"handlers.d/h{number}": "[Handler]\nType=exec\nExec=/bin/true\n" for number in range(5000)}
    for number in range(10_000):
        files[f"routes.d/{number:05}"] = (
            f"[Match]\nApp=app{number}\nData=k{number}\n[Route]\nHandler=h{number % 5000}\n")
    with daemon(programs, files={**files, **JOURNAL}) as it:
        took = it.start(120)
        if took is None or took > 20:
            yield f"the start took {f'{took:.0f} s of a processor' if took is not None else 'more than 120 s'}"
        if took is not None:
            begin = time.monotonic()
            it.ask({"op": "reload"}, "control", 120)
            if time.monotonic() - begin > 20:
                yield f"the reload took {time.monotonic() - begin:.0f} s"


def last_numbers(programs):
    """A ledger whose last number is near the bound: the daemon does not acknowledge what it refuses to read later."""
    with daemon(programs) as it:
        it.start()
        it.deliver()
        it.sync()
        it.process.terminate()
        it.process.wait()
        it.ledger("UPDATE meta SET highest_seq = ?", 2**62 - 2)
        if it.start() is None:
            return
        acknowledged = sum(bool(it.deliver().get("ok")) for _ in range(5))
        it.process.terminate()
        it.process.wait()
        if it.start() is None:
            yield f"it acknowledged {acknowledged} requests, and refuses its own ledger at the next start"


def deep_plist(programs):
    """A property list of 3 MB with arrays in arrays is explained, or refused, at once."""
    with daemon(programs) as it:
        path = it.root / "deep.plist"
        path.write_bytes(
            b'<?xml version="1.0"?><plist version="1.0">' + b"<array>" * 200_000 + b"</array>" * 200_000 + b"</plist>")
        begin = time.monotonic()
        subprocess.run([programs / "pushctl", "explain", "--platform", "ios", path], capture_output=True)
        if time.monotonic() - begin > 3:
            yield f"pushctl explain took {time.monotonic() - begin:.1f} s"


IDLE = """
import os, socket, sys, time
path, count = sys.argv[1], int(sys.argv[2])
os.setgid(65534)
os.setuid(65534)
held = []
for _ in range(count):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(2)
    try:
        connection.connect(path)
    except OSError:
        break
    held.append(connection)
print(len(held), flush=True)
time.sleep(600)
"""


def idle_readers(programs):
    """A local user holds 1,100 idle connections of the page: it answers everybody else."""

    class Connection(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(3)
            self.sock.connect(path)

    def answers():
        try:
            connection = Connection("localhost", timeout=3)
            connection.request("GET", "/api/status")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False

    with daemon(programs) as it, contextlib.ExitStack() as stack:
        it.root.chmod(0o755)
        it.start()
        path = str(it.root / "page.sock")
        page = subprocess.Popen(
            [programs / "pushrouter-web", "--listen", f"unix:{path}"], env=it.environment, stderr=subprocess.DEVNULL)
        stack.callback(page.wait)
        stack.callback(page.terminate)
        engines.wait_until("the page answers", answers)
        os.chmod(path, 0o666)
        idle = subprocess.Popen([sys.executable, "-c", IDLE, path, "1100"], stdout=subprocess.PIPE)
        stack.callback(idle.wait)
        stack.callback(idle.kill)
        idle.stdout.readline()
        begin = time.monotonic()
        while not answers() and time.monotonic() < begin + 60:
            time.sleep(0.1)
        if time.monotonic() - begin > 3:
            yield f"the page was away for {time.monotonic() - begin:.0f} s"


def open_publishes(programs):
    """Publishes to 100,000 devices of a slow handler, as many as are accepted: memory and the next start are bounded."""
    files = {
        "handlers.d/slow": "[Handler]\nType=exec\nExec=/bin/sleep 9\nMaxConcurrent=1\nQueue=1\n",
        "routes.d/10-slow": "[Match]\nData=x\n[Route]\nHandler=slow\n", **JOURNAL}
    with daemon(programs, "FanOutMax=100000\n", files) as it:
        it.start()
        for first in range(0, 100_000, 1000):
            tokens = [f"token-{number:06}" for number in range(first, first + 1000)]
            reply = it.ask({
                "op": "topic", "kind": "subscribe", "project": "p", "topic": "t", "tokens": tokens,
                "unknown": "register", "app": "com.example.app"})
            if not reply.get("ok"):
                yield f"a topic is refused: {reply}"
                return
        it.sync()
        before = it.resident()
        taken = sum(
            bool(it.ask({"op": "publish", "project": "p", "topic": "t", "payload": {"x": "1"}}).get("ok"))
            for _ in range(66))
        if it.resident() - before > 100:
            yield f"{taken} open publishes take {it.resident() - before} MiB"
        it.sync()
        it.kill()
        took = it.start(120)
        if took is None or took > 5:
            time_taken = f"{took:.1f} s of a processor" if took is not None else "more than 120 s"
            yield f"the start with {taken} open publishes took {time_taken}"


# A pair

@contextlib.contextmanager
def pair(programs):
    """A pair whose nodes are an ordinary user of the database."""
    with tempfile.TemporaryDirectory(prefix="break.", dir="/tmp") as directory, contextlib.ExitStack() as stack:
        root = pathlib.Path(directory)
        root.chmod(0o755)
        database = engines.Engine(root, has_standby=False)
        stack.callback(database.close)
        database.sql("CREATE ROLE push LOGIN")
        database.sql("ALTER DATABASE push OWNER TO push")
        uri = f"postgresql://push@/push?host={database.primary.root}"
        nodes = [Node(name, root, programs, uri, "engine", 1, "relay") for name in "ab"]
        engines.run(nodes[0].command("--init"))
        for node in nodes:
            node.start()
            stack.callback(node.end)
        made = Pair(nodes)
        made.wait_whole()
        yield made, database


# The acts of a database's administrator that last for a moment, and their ends.
PASSING = {
    "a right": ("REVOKE INSERT ON push_batches FROM push", "GRANT INSERT ON push_batches TO push"),
    "all rights": (
        "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM push", "GRANT ALL ON ALL TABLES IN SCHEMA public TO push"),
    "the search path": (
        "ALTER ROLE push SET search_path = nowhere; SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE usename = 'push'", "ALTER ROLE push RESET search_path"),
    "a table": ("ALTER TABLE push_batches RENAME TO away", "ALTER TABLE away RENAME TO push_batches"),
    "a column": (
        "ALTER TABLE push_batches RENAME COLUMN total TO away", "ALTER TABLE push_batches RENAME COLUMN away TO total"),
}


def send(nodes, request, seconds):
    """How long it takes until a node accepts it; nothing where none does."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        for node in nodes:
            with contextlib.suppress(OSError, ValueError), node.connect("inject", seconds) as connection:
                connection.sendall(json.dumps(request).encode() + b"\n")
                with connection.makefile("rb") as lines:
                    if json.loads(lines.readline() or b"{}").get("ok"):
                        return time.monotonic() - begin
        time.sleep(0.05)
    return None


def passing_states(programs):
    """The database lacks something for three seconds: no node of the pair ends for good, and the pair goes on."""
    for name, (away, back) in PASSING.items():
        with pair(programs) as (nodes, database):
            request = {"op": "deliver", "payload": {"k": "v"}}
            send(nodes.nodes, request, 10)
            database.sql(away)
            end = time.monotonic() + 3
            while time.monotonic() < end:
                send(nodes.nodes, request, 0.5)
            database.sql(back)
            ended = {node.name: node.ends for node in nodes.nodes if {FILES, REFUSED} & set(node.ends)}
            if ended:
                yield f"without {name} for 3 s nodes ended with {ended}, and the unit starts none after {REFUSED}"
            elif send(nodes.nodes, request, 60) is None:
                yield f"without {name} for 3 s nobody leads for a minute afterwards"


def big_requests(programs):
    """Requests that change much, through a database that works: none waits long, and none is said to lack a standby."""
    with pair(programs) as (nodes, _):
        tokens, longest = [f"t{number}" for number in range(1000)], 0
        for number in range(40):
            took = send(nodes.nodes, {
                "op": "topic", "kind": "subscribe", "project": "p" * 900, "topic": f"{number:04}" + "x" * 896,
                "tokens": tokens, "unknown": "register", "app": "a"}, 40)
            if took is None:
                yield f"nobody accepts request {number} within 40 s"
                return
            longest = max(longest, took)
        if longest > 5:
            yield f"a request waited {longest:.1f} s"
        said = [
            line for node in nodes.nodes for line in node.log.read_text(errors="replace").splitlines()
            if "standby of the database" in line]
        if said:
            yield f"Durability=engine, and the daemon says: {said[0][:300]}"


ALONE = [
    log_removed, log_truncated, ledger_moved, many_routes, last_numbers, deep_plist, idle_readers, open_publishes]
OF_PAIRS = [passing_states, big_requests]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/release")
    parser.add_argument("--only", action="append", choices=[it.__name__ for it in ALONE + OF_PAIRS])
    options = parser.parse_args()
    there = 0
    for fault in ALONE + OF_PAIRS:
        if options.only and fault.__name__ not in options.only:
            continue
        if fault in OF_PAIRS and not engines.PROGRAMS:
            print(f"left out: {fault.__name__}: postgresql is not installed")
            continue
        if fault is idle_readers and os.geteuid() != 0:
            print(f"left out: {fault.__name__}: only root connects as another user")
            continue
        problems = list(fault(options.programs.resolve()))
        there += bool(problems)
        print(f"{fault.__name__}: {'; '.join(problems) or 'is not there'}", flush=True)
    sys.exit(there > 0)


if __name__ == "__main__":
    main()
