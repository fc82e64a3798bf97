"""A daemon in a directory of its own: its files, its programs, its other ends, and how they start and end."""

import importlib.util
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter

from configuration import Configuration

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Fleet"))
from clocks import Clock  # noqa: E402
# No wait may take longer. The limit is no promise of the product: it allows for a busy machine.
PATIENCE = 120
# After SIGTERM a handler may run to its deadline, and the daemon keeps replies for a second.
STOP_PATIENCE = 60


class Failure(Exception):
    """Something is wrong: with the daemon, or with what it left."""


def check(holds, what):
    if not holds:
        raise Failure(what)


def wait_until(what, condition, seconds=PATIENCE):
    """Waits for a condition, which is named and has an end."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(0.02)


class Run:
    """One run of the daemon, from its start to its end."""

    def __init__(self, number, log, process):
        self.number, self.log, self.process = number, log, process
        self.started_at = time.time()
        self.ended_at = None
        self.is_ready = False
        # The way in which it was ended: "term", "kill", or none yet.
        self.end = None

    def text(self):
        return self.log.read_text(errors="replace")


class Installation:
    def __init__(self, programs, seed):
        # The path of a socket has at most 107 bytes.
        short = tempfile.gettempdir() if len(tempfile.gettempdir()) < 60 else "/tmp"
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="together.", dir=short))
        self.programs = programs
        # The libraries that the daemon runs with.
        self.preload = []
        self.mark = f"TOGETHER={self.root}".encode()
        for name in ("config", "state", "run", "logs", "backups", "bin"):
            (self.root / name).mkdir(mode=0o700)
        for program in ("exec.sh", "worker.sh"):
            shutil.copy(HERE / program, self.root / "bin")
            (self.root / "bin" / program).chmod(0o755)
        self.runs = []
        self.is_stopping = False
        self.ends = OtherEnds(self, random.Random(f"{seed} ends"))
        self.configuration = Configuration(self.root, self.ends.ports)
        self.environment = dict(os.environ, **{
            "CONFIGURATION_DIRECTORY": str(self.root / "config"), "STATE_DIRECTORY": str(self.root / "state"),
            "RUNTIME_DIRECTORY": str(self.root / "run"),
            # With a backtrace a crash may take a minute to end the process: the caller has to ask for it.
            "SWIFT_BACKTRACE": os.environ.get("SWIFT_BACKTRACE", "enable=no")})
        for name in ("JOURNAL_STREAM", "NOTIFY_SOCKET", "LD_PRELOAD", "TOGETHER"):
            self.environment.pop(name, None)
        self.clock = Clock(self.root / "clock", self.root / "bin/clock.so")

    def begin_leg(self):
        """The other ends and the configuration of the first start, or of a further one."""
        self.configuration.is_bare = False
        self.configuration.write()
        self.ends.start()

    # The daemon

    @property
    def run(self):
        return self.runs[-1]

    def spawn(self):
        """Starts a run; it is not ready yet."""
        number = len(self.runs) + 1
        log = self.root / f"logs/daemon-{number}"
        environment = self.environment | self.clock.environment
        environment["LD_PRELOAD"] = ":".join(str(path) for path in self.preload)
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [self.programs / "pushrouterd"], env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output)
        self.runs.append(Run(number, log, process))

    def start(self):
        self.spawn()
        self.wait_ready()

    def wait_ready(self):
        def is_ready():
            self.check_alive()
            try:
                return self.ask("control", {"op": "status"}, seconds=5)["ok"]
            except OSError:
                return False

        wait_until("the daemon is ready", is_ready)
        self.run.is_ready = True

    def check_alive(self):
        status = self.run.process.poll()
        check(status is None or self.run.end, f"the daemon ended by itself: status {status}")

    def kill(self):
        """kill -9."""
        self.check_alive()
        self.run.end = "kill"
        self.run.process.send_signal(signal.SIGKILL)
        self.ended("SIGKILL", 30)
        status = self.run.process.returncode
        check(status == -9, f"the daemon ended with {status}, not by the kill -9 that was sent")

    def kill_stopping(self):
        """kill -9 after SIGTERM; it may have ended in between."""
        self.run.process.send_signal(signal.SIGKILL)
        self.ended("SIGKILL", 30)
        status = self.run.process.returncode
        check(status in (0, -9), f"after SIGTERM and SIGKILL the daemon ended with {status}")
        self.run.end = "kill" if status else "term"

    def terminate(self):
        self.begin_to_stop()
        self.wait_stopped()

    def begin_to_stop(self):
        self.check_alive()
        self.run.end = "term"
        self.run.process.send_signal(signal.SIGTERM)

    def wait_stopped(self):
        self.ended("SIGTERM", STOP_PATIENCE)
        check(self.run.process.returncode == 0, f"after SIGTERM the daemon ended with {self.run.process.returncode}")
        check("stopped after" in self.run.text(), "the daemon stopped without saying so")
        wait_until("no process of a handler is left after SIGTERM", lambda: not self.handler_processes(), 30)

    def ended(self, by, seconds):
        try:
            self.run.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"the daemon has not ended {seconds} s after {by}") from None
        self.run.ended_at = time.time()

    def reload(self, is_refused=False):
        """SIGHUP, and waits until the journal says what became of it."""
        word = "reload refused" if is_refused else "message=\"reloaded:"
        before = self.run.text().count(word)
        self.run.process.send_signal(signal.SIGHUP)

        def is_told():
            self.check_alive()
            return self.run.text().count(word) > before

        wait_until("the journal tells of the reload", is_told)

    def variables_of(self, process):
        """The environment of a process that a handler has started, known by a mark; None of another one."""
        try:
            with open(f"/proc/{process}/environ", "rb") as variables:
                words = variables.read().split(b"\0")
        except OSError:
            return None
        if self.mark not in words:
            return None
        return dict(word.decode(errors="replace").split("=", 1) for word in words if b"=" in word)

    def variables_of_handlers(self):
        """The environment of each process that a handler has started, by its number."""
        found = {int(entry): self.variables_of(entry) for entry in os.listdir("/proc") if entry.isdigit()}
        return {process: variables for process, variables in found.items() if variables is not None}

    def signal_handler(self, process, number):
        """Signals a process of a handler. Its number may be another program's by now, which is left alone."""
        try:
            descriptor = os.pidfd_open(process)
        except ProcessLookupError:
            return
        try:
            if self.variables_of(process) is not None:
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(descriptor)

    def handler_processes(self):
        return list(self.variables_of_handlers())

    def foreign_processes(self):
        """The processes of handlers that are not workers now or have other keys now, and workers beyond Instances=."""
        configuration, found, counts = self.configuration, {}, Counter()
        for process, variables in self.variables_of_handlers().items():
            name = variables.get("PUSH_HANDLER")
            if not configuration.has_worker(name) or variables.get("VERSION") != configuration.version_of(name):
                found[process] = f"{process} of {name}, version {variables.get('VERSION')}"
            elif self.is_worker(process):
                counts[name] += 1
                if counts[name] > configuration.instances(name):
                    found[process] = f"{process} of {name}, number {counts[name]}"
        return found

    def is_worker(self, process):
        """Whether it is a worker, and not what a worker has started."""
        try:
            with open(f"/proc/{process}/cmdline", "rb") as words:
                return words.read().split(b"\0")[1:2] == [f"{self.root}/bin/worker.sh".encode()]
        except OSError:
            return False

    def descriptors(self):
        """What the daemon has open, once that no longer changes: clients have gone."""

        def opened():
            directory, found = f"/proc/{self.run.process.pid}/fd", []
            for name in os.listdir(directory):
                try:
                    found.append(os.readlink(f"{directory}/{name}").split(":")[0].removeprefix(str(self.root)))
                except OSError:
                    pass
            return sorted(found)

        def is_stable():
            before = opened()
            time.sleep(0.3)
            return before if opened() == before else None

        return wait_until("the descriptors of the daemon do not change", is_stable)

    def resident(self):
        """KiB."""
        with open(f"/proc/{self.run.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    # Asking it

    def connect(self, name, seconds=PATIENCE):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(seconds)
        connection.connect(str(self.root / f"run/{name}.sock"))
        return connection

    def ask(self, name, request, seconds=PATIENCE):
        with self.connect(name, seconds) as connection:
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as lines:
                line = lines.readline()
        if not line:
            raise ConnectionError("no reply")
        return json.loads(line)

    def status(self):
        return self.ask("control", {"op": "status"})["status"]

    def sync(self):
        reply = self.ask("control", {"op": "sync", "timeout_ms": 60_000})
        check(reply["complete"], f"the ledger is not complete after a minute: {reply}")

    def pushctl(self, *arguments, allowed=(0,)):
        """Its output as text."""
        command = [self.programs / "pushctl", *map(str, arguments)]
        try:
            result = subprocess.run(
                command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
                text=True,
                errors="replace")
        except subprocess.TimeoutExpired:
            raise Failure(f"pushctl {' '.join(map(str, arguments))}: not done within {PATIENCE} s") from None
        self.check_alive()
        check(
            result.returncode in allowed,
            f"pushctl {' '.join(map(str, arguments))}: status {result.returncode}: {result.stderr[-2000:]}")
        return result.stdout

    def ledger(self):
        database = sqlite3.connect(f"file:{self.root}/state/ledger.db?mode=ro", uri=True, timeout=PATIENCE)
        database.row_factory = sqlite3.Row
        return database

    def close(self, is_kept):
        self.ends.stop()
        if self.runs and self.run.process.poll() is None:
            self.run.end = self.run.end or "kill"
            self.run.process.kill()
            self.run.process.wait()
        for process in self.handler_processes():
            self.signal_handler(process, signal.SIGKILL)
        if not is_kept:
            shutil.rmtree(self.root, ignore_errors=True)


class OtherEnds:
    """The services, the desktop, its bus and the forwarder. One that ends comes back when the seed says."""

    STALL = "5"

    def __init__(self, installation, generator):
        self.installation, self.generator = installation, generator
        self.ports, self.held = {}, []
        for name in ("web", "track"):
            # Bound and never listening: a reserved port that refuses connections while no service runs.
            holder = socket.socket()
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            holder.bind(("127.0.0.1", 0))
            self.held.append(holder)
            self.ports[name] = holder.getsockname()[1]
        self.processes, self.due, self.lock = {}, {}, threading.Lock()
        self.is_calm = self.is_stopped = False
        self.ended = 0
        self.thread = threading.Thread(target=self.look_after, daemon=True)

    def commands(self):
        root, python = self.installation.root, sys.executable
        address = f"unix:path={root}/bus"
        return {
            "sock": [python, HERE / "service.py", "socket", root / "sock.sock", self.STALL],
            "once": [python, HERE / "service.py", "socket", root / "once.sock", self.STALL],
            "web": [python, HERE / "service.py", "http", str(self.ports["web"]), self.STALL],
            "track": [python, HERE / "service.py", "track", str(self.ports["track"]), self.STALL, root / "taken"],
            "bus": ["dbus-daemon", "--nofork", "--nopidfile", "--config-file", root / "bus.conf"],
            "desktop": [python, HERE / "desktop.py", address, self.STALL],
            "forwarder": [self.installation.programs / "pushrouter-forward"],
        }

    def start(self):
        """Starts them, or those that were dismissed."""
        self.is_calm = False
        root = self.installation.root
        (root / "bus.conf").write_text(f"""<!DOCTYPE busconfig PUBLIC
"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={root}/bus</listen><policy context="default">
<allow send_destination="*"/><allow eavesdrop="false"/><allow own="*"/></policy></busconfig>
""")
        has_desktop = all(importlib.util.find_spec(name) for name in ("dbus", "gi")) and shutil.which("dbus-daemon")
        if not has_desktop:
            print("left out: the desktop: dbus-daemon, python3-dbus or python3-gi is not installed")
        for name in self.commands():
            if name not in self.processes and (has_desktop or name not in ("bus", "desktop")):
                self.spawn(name)
        if not self.thread.is_alive():
            self.thread.start()

    def spawn(self, name):
        if name == "bus":
            (self.installation.root / "bus").unlink(missing_ok=True)
        with open(self.installation.root / f"logs/{name}", "ab") as output:
            self.processes[name] = subprocess.Popen(
                self.commands()[name], env=self.installation.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output)

    def look_after(self):
        while not self.is_stopped:
            now = time.monotonic()
            with self.lock:
                for name, process in list(self.processes.items()):
                    if process.poll() is None:
                        continue
                    if name not in self.due:
                        self.ended += 1
                        self.due[name] = now + self.generator.choice((0, 0.1, 0.5, 2))
                    if now >= self.due[name] or self.is_calm:
                        del self.due[name]
                        if not self.is_stopped:
                            self.spawn(name)
            time.sleep(0.05)

    def end(self, name, number):
        with self.lock:
            process = self.processes.get(name)
            if process and process.poll() is None:
                process.send_signal(number)

    def dismiss(self, name):
        """Ends it for good."""
        with self.lock:
            process = self.processes.pop(name)
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure(f"{name} has not ended {PATIENCE} s after SIGTERM") from None

    def stop(self):
        self.is_stopped = True
        if self.thread.is_alive():
            self.thread.join(10)
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        for holder in self.held:
            holder.close()
