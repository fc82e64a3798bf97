"""The database of a pair as the guide sets it up: two servers that Patroni looks after, with etcd to vote."""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

from engine import PATIENCE, PROGRAMS, check, run, wait_until

# The smallest values that Patroni accepts: it replaces a dead primary after TTL seconds and some more.
TTL, LOOP, RETRY = 20, 2, 5
# The longest failover on a busy machine.
FAILOVER = 120


def is_possible():
    return all(shutil.which(name) for name in ("patroni", "patronictl", "etcd"))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Member:
    """A server of PostgreSQL's, and the Patroni that starts it, in a directory of theirs."""

    def __init__(self, cluster, name):
        self.cluster, self.name, self.root = cluster, name, cluster.root / name
        self.data, self.process = self.root / "data", None
        self.port, self.api = free_port(), free_port()
        cluster.own(self.root)
        user = {"superuser": {"username": "postgres"}, "replication": {"username": "replicator"}}
        settings = {
            "scope": "push", "name": name,
            "restapi": {"listen": f"127.0.0.1:{self.api}", "connect_address": f"127.0.0.1:{self.api}"},
            "etcd3": {"hosts": f"127.0.0.1:{cluster.port}"},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL, "loop_wait": LOOP, "retry_timeout": RETRY, "synchronous_mode": True,
                    "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {
                        "fsync": "off", "shared_buffers": "32MB", "max_connections": 60, "wal_log_hints": "on",
                        "wal_retrieve_retry_interval": "100ms", "wal_keep_size": "2GB"}}},
                "initdb": [{"encoding": "UTF8"}, {"auth": "trust"}, "no-sync"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self.data), "bin_dir": str(PROGRAMS), "authentication": user,
                "pgpass": str(self.root / "pgpass"),
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust"],
                "parameters": {"unix_socket_directories": str(self.root)},
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True}}
        # JSON is also YAML.
        self.settings = self.root / "patroni.yml"
        self.settings.write_text(json.dumps(settings))

    def start(self):
        with open(self.root / "log", "ab") as output:
            self.process = subprocess.Popen(
                [*self.cluster.user, "patroni", self.settings], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, cwd="/")

    def servers(self):
        """The processes of the server, which outlive the one that started them."""
        try:
            first = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            rest = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        except (OSError, ValueError, IndexError):
            return []
        return [first, *(int(it) for it in rest)]

    def kill(self):
        """The machine is gone."""
        self.kill_patroni()
        processes = self.servers()
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        wait_until("the server is gone", lambda: not any(os.path.exists(f"/proc/{it}") for it in processes))

    def kill_patroni(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)


class Cluster:
    """etcd and two members. It is used as an engine with a standby."""

    has_standby, network, clock = True, None, None

    def __init__(self, root):
        self.root, self.port, self.members = root / "cluster", free_port(), []
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        self.own(self.root)
        self.own(self.root / "etcd")
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        with open(self.root / "etcd/log", "ab") as output:
            self.etcd = subprocess.Popen(
                [*self.user, "etcd", "--data-dir", self.root / "etcd/data", "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"default={peer}", "--unsafe-no-fsync"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", env={**os.environ, "ETCD_NAME": ""})
        self.members = [Member(self, name) for name in ("pg1", "pg2")]
        hosts, ports = (",".join(it) for it in zip(*[("127.0.0.1", str(it.port)) for it in self.members]))
        self.uri = f"postgresql://postgres@/push?host={hosts}&port={ports}"
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        self.members[0].start()
        wait_until("Patroni has a leader", self.leader, FAILOVER, 0.2)
        self.members[1].start()
        self.wait_protected()
        self.sql("CREATE DATABASE push", "postgres")

    @staticmethod
    def own(directory):
        directory.mkdir(mode=0o755)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(directory, user.pw_uid, user.pw_gid)

    def ask(self, member):
        """What Patroni says of a member; nothing where it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{member.api}/patroni", timeout=2) as reply:
                return json.load(reply)
        except OSError as error:
            with contextlib.suppress(AttributeError, ValueError):
                return json.load(error)
            return {}

    def leader(self):
        """The member that takes writes, if one does."""
        for member in self.members:
            check(not member.process or member.process.returncode or member.process.poll() is None,
                  f"Patroni ended: see {member.root}/log")
            found = self.ask(member)
            if found.get("role") in ("master", "primary") and found.get("state") == "running":
                return member
        return None

    def other(self, member):
        return next(it for it in self.members if it is not member)

    def wait_leader(self):
        return wait_until("Patroni has a leader", self.leader, FAILOVER, 0.1)

    def wait_protected(self):
        """PostgreSQL has a synchronous standby, and Patroni knows of it: else it does not let it have the lead."""

        def is_protected():
            leader = self.leader()
            if not leader or not self.ask(self.other(leader)).get("sync_standby"):
                return False
            return self.sql("SELECT sync_state FROM pg_stat_replication", "postgres", leader) == ["sync"]

        wait_until("the standby is a synchronous one", is_protected, FAILOVER, 0.2)

    def sql(self, statement, database="push", member=None):
        environment = dict(os.environ, PGOPTIONS="-c synchronous_commit=local -c client_min_messages=error")
        member = member or self.wait_leader()
        return run(
            [PROGRAMS / "psql", "-XAtq", "-h", member.root, "-p", str(member.port), "-U", "postgres", "-d", database,
             "-c", statement], env=environment).splitlines()

    def control(self, *words):
        """patronictl"""
        result = subprocess.run(
            [*self.user, "patronictl", "-c", self.members[0].settings, *words], capture_output=True, text=True,
            cwd="/", timeout=FAILOVER, env={**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.root)})
        check(result.returncode == 0, f"patronictl {words}: {result.stdout[-500:]} {result.stderr[-500:]}")

    # Faults

    def lose_primary(self):
        """The primary's machine dies, and comes back when another has its place."""
        dead = self.wait_leader()
        dead.kill()
        wait_until(
            "another one is the primary", lambda: (found := self.leader()) and found is not dead, FAILOVER, 0.1)
        dead.start()
        self.wait_protected()

    def lose_standby(self, pause):
        """The standby's machine is away for a time."""
        standby = self.other(self.wait_leader())
        standby.kill()
        time.sleep(pause)
        standby.start()
        self.wait_protected()

    def switch(self):
        leader = self.wait_leader()
        other = self.other(leader)
        self.control("switchover", "push", "--master", leader.name, "--candidate", other.name, "--force")
        wait_until("the other one is the primary", lambda: self.leader() is other, FAILOVER, 0.1)
        self.wait_protected()

    def pause(self, seconds):
        """Patroni is told to do nothing, and the primary's dies meanwhile."""
        self.control("pause", "push", "--wait")
        leader = self.wait_leader()
        leader.kill_patroni()
        time.sleep(seconds)
        leader.start()
        self.wait_leader()
        self.control("resume", "push", "--wait")
        self.wait_protected()

    def close(self):
        for member in self.members:
            member.kill()
        self.etcd.kill()
        self.etcd.wait(PATIENCE)
