"""The nodes of a pair, each with a supervisor that starts it again when it ends, as systemd does."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from engine import Failure, check, wait_until

# The exit status of a node that lost the lease, or whose copy was set aside.
TEMPORARY = 75
RESTART_PAUSE = 0.1
# Whether each handler is idempotent, and the first digits of its running time: a handler that runs again takes long, so
# that it is interrupted.
HANDLERS = {"run": ("no", "0"), "again": ("yes", "")}
PROGRAM = """#!/bin/bash
# One write for each run, at the end of a file that all runs share. EPOCHREALTIME is not faked.
echo "$PUSH_SEQ $PUSH_N ${PUSH_ID:--} $1 $PUSH_DEADLINE_REMAINING_MS $EPOCHREALTIME" >>"$2"
exec sleep "0.$3$((PUSH_SEQ % 4))"
"""


def write_handlers(root):
    (root / "run.sh").write_text(PROGRAM)
    (root / "run.sh").chmod(0o755)


class Node(threading.Thread):
    """A node. The thread is its supervisor."""

    def __init__(self, name, root, programs, uri, durability, lease, mode):
        super().__init__(daemon=True)
        self.name, self.root, self.programs = name, root / name, programs
        self.state, self.log = self.root / "state", self.root / "log"
        self.process, self.ends, self.trouble = None, [], None
        self.is_stopping, self.expected = False, set()
        # The command prefix and the environment of the process, and the controls of its clock and its calls.
        self.prefix, self.environment, self.clock, self.calls = [], {}, None, None
        # Held while the node's disk is away.
        self.hold = threading.Lock()
        for directory in ("etc/handlers.d", "etc/routes.d", "state", "run"):
            (self.root / directory).mkdir(mode=0o700, parents=True)
        self.configure(root, uri, durability, lease, mode)

    def configure(self, root, uri, durability, lease, mode):
        etc = self.root / "etc"
        (etc / "pushrouterd.conf").write_text(
            f"[Store]\nLog={uri}\nDurability={durability}\nNode={self.name}\n"
            f"Lease={lease * 1000:.0f}ms\nSnapshotEvery=5s\nSnapshotRate=256M\n"
            f"[Dispatch]\nMode={mode}\nHandlersMax=8\n")
        (etc / "handlers.d/journal.handler").write_text("[Handler]\nType=journal\n")
        (etc / "routes.d/99-default.route").write_text("[Route]\nHandler=journal\n")
        for name, (is_idempotent, digits) in HANDLERS.items():
            (etc / f"handlers.d/{name}.handler").write_text(
                f"[Handler]\nType=exec\nExec={root}/run.sh {name} {root}/ran {digits}\nIdempotent={is_idempotent}\n")
            (etc / f"routes.d/30-{name}.route").write_text(f"[Match]\nData=job {name}\n[Route]\nHandler={name}\n")

    # The process

    def preload(self, environment):
        """Adds a library to those that its process is run with."""
        libraries = [it["LD_PRELOAD"] for it in (self.environment, environment) if "LD_PRELOAD" in it]
        self.environment = {**self.environment, **environment, "LD_PRELOAD": ":".join(libraries)}

    def command(self, *options):
        return [
            *self.prefix, self.programs / "pushrouterd-fleet", "--config", self.root / "etc", "--state", self.state,
            "--runtime", self.root / "run", *options]

    def run(self):
        environment = dict(os.environ, SWIFT_BACKTRACE=os.environ.get("SWIFT_BACKTRACE", "enable=no"))
        environment.update(self.environment)
        for name in ("JOURNAL_STREAM", "NOTIFY_SOCKET"):
            environment.pop(name, None)
        while not self.is_stopping:
            with self.hold, open(self.log, "ab") as output:
                self.process = subprocess.Popen(
                    self.command(), env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            status = self.process.wait()
            self.ends.append(status)
            if status != TEMPORARY and status not in self.expected:
                self.trouble = f"{self.name} ended by itself: status {status}: {self.tail()}"
                return
            self.expected.discard(status)
            time.sleep(RESTART_PAUSE)

    def tail(self, count=6):
        return "".join(f"\n    {line[:300]}" for line in self.log.read_text(errors="replace").splitlines()[-count:])

    def signal(self, number):
        if number in (signal.SIGTERM, signal.SIGKILL):
            self.expected.add(0 if number == signal.SIGTERM else -number)
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    @contextlib.contextmanager
    def without_disk(self):
        """The node has ended and has nothing, and starts again behind it."""
        before = len(self.ends)
        with self.hold:
            self.signal(signal.SIGKILL)
            wait_until(f"{self.name} has ended", lambda: len(self.ends) > before, 30, 0.005)
            shutil.rmtree(self.state)
            self.state.mkdir(mode=0o700)
            yield

    def lose_disk(self):
        with self.without_disk():
            pass

    def end(self):
        self.is_stopping = True
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        if self.is_alive():
            self.join(30)

    # Asking it

    def connect(self, name, seconds):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(seconds)
            connection.connect(str(self.root / f"run/{name}.sock"))
        except OSError:
            connection.close()
            raise
        return connection

    def status(self):
        """The reply to a question about the status; nothing where there is none."""
        try:
            with self.connect("read", 0.5) as connection:
                connection.sendall(b'{"op":"status"}\n')
                with connection.makefile("rb") as lines:
                    return json.loads(lines.readline() or b"{}")
        except (OSError, ValueError):
            return {}

    @property
    def leads(self):
        return self.status().get("status", {}).get("state") == "running"

    @property
    def follows(self):
        """Whom the node names as the leader."""
        return self.status().get("status", {}).get("fleet", {}).get("leader")


class Pair:
    """Nodes that share a log."""

    def __init__(self, nodes):
        self.nodes = nodes

    def look(self):
        for node in self.nodes:
            if node.trouble:
                raise Failure(node.trouble)

    def leader(self):
        """The node that leads, once that is known."""

        def found():
            self.look()
            return next((node for node in self.nodes if node.leads), None)

        return wait_until("a node leads", found)

    def other(self, node):
        return next(other for other in self.nodes if other is not node)

    def lose_disks(self):
        """All nodes end, and then they start again with nothing."""
        with contextlib.ExitStack() as stack:
            for node in self.nodes:
                stack.enter_context(node.without_disk())

    def wait_whole(self):
        """One leads, and the others follow it."""

        def is_whole():
            self.look()
            leader = next((node for node in self.nodes if node.leads), None)
            return leader and all(node.follows == leader.name for node in self.nodes if node is not leader) and leader

        return wait_until("one node leads and the others follow it", is_whole)
