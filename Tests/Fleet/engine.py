"""The database of a pair: a PostgreSQL server of Debian's, maybe with a synchronous standby, each in its directory."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time

VERSIONS = pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")
PROGRAMS = max((path.parent for path in VERSIONS), key=lambda path: float(path.parent.name), default=None)
# No wait may take longer. The limit is no promise of the product: it allows for a busy machine.
PATIENCE = 60
# The addresses of its servers, if the nodes are in a network.
SERVERS = ["10.88.0.1", "10.88.0.2"]
LOG_SESSIONS = "FROM pg_stat_activity WHERE application_name LIKE 'pushrouterd-log/%'"


class Failure(Exception):
    """Something is wrong: with a daemon, or with what it left."""


def check(holds, what):
    if not holds:
        raise Failure(what)


def wait_until(what, condition, seconds=PATIENCE, pause=0.02):
    """Waits for a condition, which is named and has an end."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(pause)


def as_postgres(program, *words):
    """The command of one of PostgreSQL's programs, which refuse to run as root."""
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    return user + [PROGRAMS / program, *words]


def run(command, seconds=PATIENCE, **options):
    result = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=seconds, **options)
    check(result.returncode == 0, f"{command}: {result.stderr[-2000:]}")
    return result.stdout


class Server:
    """A server with a Unix socket in its directory. It syncs nothing: its processes die, and its machine never does."""

    def __init__(self, root, names, prefix=(), environment=None, address=""):
        self.root, self.data, self.process = root, root / "data", None
        self.prefix, self.environment = prefix, {**os.environ, **(environment or {})}
        self.settings = {
            "listen_addresses": address, "unix_socket_directories": root, "fsync": "off", "shared_buffers": "32MB",
            "max_connections": "60", "max_wal_size": "128MB", "wal_receiver_status_interval": "1s",
            # A standby that was made again fetches what was written meanwhile.
            "wal_retrieve_retry_interval": "100ms", "wal_keep_size": "2GB",
            "synchronous_standby_names": names}
        self.make_directory()

    def make_directory(self):
        self.root.mkdir(mode=0o755)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.root, user.pw_uid, user.pw_gid)

    def initialise(self):
        run(as_postgres("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8",
                        "--no-sync"))
        # The network that it listens to has no other members.
        with open(self.data / "pg_hba.conf", "a") as file:
            file.write("host all all 10.88.0.0/16 trust\n")
        self.start()

    def copy(self, other):
        """Becomes a standby of another server."""
        shutil.rmtree(self.root)
        self.make_directory()
        source = f"host={other.root} user=postgres options='-c synchronous_commit=local'"
        # Its length is that of the data, which a long plan makes a gigabyte: a busy disk needs more than PATIENCE.
        run(as_postgres(
            "pg_basebackup", "-d", source, "-D", self.data, "-R", "-c", "fast", "-X", "stream", "--no-sync"), 10 * PATIENCE)
        self.start()

    def start(self):
        words = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        with open(self.root / "log", "ab") as output:
            self.process = subprocess.Popen(
                [*self.prefix, *as_postgres("postgres", "-D", self.data, *words)], stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, cwd="/", env=self.environment)
        wait_until(f"PostgreSQL in {self.root} takes connections", self.is_ready)

    def is_ready(self):
        check(self.process.poll() is None, f"PostgreSQL in {self.root} ended: see {self.root}/log")
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.process.pid) and lines[7].startswith("ready")

    def processes(self):
        """The server's own processes, by their names."""
        try:
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        except OSError:
            return {}
        found = {}
        for child in children:
            with contextlib.suppress(OSError):
                found[int(child)] = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace")
        return found

    def stop(self, number):
        """SIGINT: in order. SIGQUIT: at once, as after a crash. SIGKILL: all of its processes."""
        if not self.process or self.process.poll() is not None:
            return
        children = self.processes() if number == signal.SIGKILL else {}
        for process in [self.process.pid, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
        self.process.wait(PATIENCE)
        wait_until("the server's processes are gone", lambda: not any(os.path.exists(f"/proc/{it}") for it in children))

    def sql(self, statement, database="push"):
        """The lines of the answer, columns divided by `|`. A commit waits for no standby."""
        environment = dict(os.environ, PGOPTIONS="-c synchronous_commit=local -c client_min_messages=error")
        output = run(
            [PROGRAMS / "psql", "-XAtq", "-h", self.root, "-U", "postgres", "-d", database, "-c", statement],
            env=environment)
        return output.splitlines()


class Engine:
    """The server that takes writes, and its synchronous standby if it has one."""

    def __init__(self, root, has_standby, network=None, clock=None):
        self.root, self.has_standby, self.network, self.clock = root, has_standby, network, clock
        prefix = network.within("engine") if network else []
        environment = clock.environment if clock else {}
        one, two = [
            Server(root / name, "*" if has_standby else "", prefix, environment, address if network else "")
            for name, address in zip(("pg1", "pg2"), SERVERS)]
        self.primary, self.standby = one, None
        self.primary.initialise()
        self.primary.sql("CREATE DATABASE push", "postgres")
        if has_standby:
            self.standby = two
            self.standby.copy(self.primary)
            self.wait_protected()
        hosts = ",".join(server.settings["listen_addresses"] or str(server.root) for server in self.servers)
        self.uri = f"postgresql://postgres@/push?host={hosts}"

    @property
    def servers(self):
        return [server for server in (self.primary, self.standby) if server]

    def wait_protected(self):
        wait_until(
            "the standby is a synchronous one",
            lambda: self.primary.sql("SELECT sync_state FROM pg_stat_replication") == ["sync"])

    def sql(self, statement):
        return self.primary.sql(statement)

    def restart(self, number, pause):
        self.primary.stop(number)
        time.sleep(pause)
        self.primary.start()

    @contextlib.contextmanager
    def held_standby(self, is_lost=False):
        """Meanwhile the standby receives nothing, so commits wait; if `is_lost` it never gets what it was sent."""
        receivers = [process for process, name in self.standby.processes().items() if "walreceiver" in name]
        for process in receivers:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in receivers:
                with contextlib.suppress(ProcessLookupError):
                    if is_lost:
                        # The signal ends it before it reads the bytes in its socket.
                        os.kill(process, signal.SIGTERM)
                    os.kill(process, signal.SIGCONT)

    def wait_for_waiter(self):
        """Waits until an append waits for the standby."""
        waiting = f"SELECT pid {LOG_SESSIONS} AND wait_event = 'SyncRep'"
        wait_until("an append waits for the standby", lambda: self.sql(waiting))

    def end_log_session(self, function):
        self.sql(f"SELECT {function}(pid) {LOG_SESSIONS}")

    def promote(self):
        """The primary has died: the standby takes its place, and gets a standby of its own where the primary was."""
        run(as_postgres("pg_ctl", "-D", self.standby.data, "-w", "promote"))
        self.primary, self.standby = self.standby, self.primary
        self.standby.copy(self.primary)
        self.wait_protected()

    def close(self):
        for server in self.servers:
            server.stop(signal.SIGQUIT)
