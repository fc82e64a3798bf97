#!/usr/bin/env python3
"""What a pair costs: acknowledgements, takeovers, promotions, memory and bytes; PostgreSQL syncs.

fleet.py [--snapshots] [--memory] [--apart] [--programs DIR] [--seconds S] [--requests N] [--beside DIR]

Producers with one request each send to the leader, without and with a synchronous standby. --beside names a directory
with another log's `node`, `load` and `schema.sql`, which run in turn with ours on the same database: ours, other,
other, ours. --snapshots measures acknowledgements at 5,000 requests a second alone and beside a snapshot, in turn.
On one machine the ledgers share the database's disk, and the follower the leader's processor; the machines of a pair
share neither. --memory has the ledgers in memory. --apart suspends the follower while acknowledgements are measured.
The program needs Debian's postgresql and release builds of pushrouterd-fleet and pushctl.
"""

import argparse
import json
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "Tests/Fleet"))

import engine
from engine import Engine, Server, run, wait_until
from nodes import Node, Pair, write_handlers

LEASE = 3
# Requests a second beside a snapshot, and how often they are measured in each way.
RATE, TURNS = 5000, 3
WRITTEN = "SELECT snapshot FROM push_snapshots WHERE state = 'written'"
SENT = "SELECT 1 FROM push_snapshot_parts JOIN push_snapshots USING (shard, snapshot) WHERE state = 'written' LIMIT 1"
# From when on a way is measured. The follower first copies its ledger, which costs its own machine: this one, here.
WAYS = {"alone": None, "from its begin": WRITTEN, "while it is sent": SENT}
PAYLOAD = HERE / "Tests/Benchmarks/ingest/payload.json"


class DurableServer(Server):
    """A server as it is meant to be run."""

    def start(self):
        self.settings.update({"fsync": "on", "shared_buffers": "256MB", "max_wal_size": "4GB"})
        super().start()


class Bed:
    """A pair, and a database that another log may use as well."""

    def __init__(self, options, has_standby):
        engine.Server = DurableServer
        self.options, self.root = options, pathlib.Path(tempfile.mkdtemp(prefix="fleet.", dir="/tmp"))
        self.root.chmod(0o755)
        write_handlers(self.root)
        self.engine = Engine(self.root, has_standby)
        durability = "standby" if has_standby else "engine"
        self.nodes = [
            Node(name, self.root, options.programs, self.engine.uri, durability, LEASE, "device") for name in "ab"]
        self.memory = pathlib.Path(tempfile.mkdtemp(prefix="fleet.", dir="/dev/shm")) if options.memory else None
        for node in self.nodes:
            if self.memory:
                node.state = self.memory / node.name
                node.state.mkdir(mode=0o700)
            # Only what a request costs by itself.
            for file in (node.root / "etc/routes.d").glob("30-*"):
                file.unlink()
            settings = node.root / "etc/pushrouterd.conf"
            settings.write_text(settings.read_text().replace("SnapshotEvery=5s", "SnapshotEvery=1h"))
        run(self.nodes[0].command("--init"))
        self.pair = Pair(self.nodes)
        for node in self.nodes:
            node.start()
        self.leader = self.pair.wait_whole()

    def bench(self, producers, *words):
        """What pushctl counted: requests a second, and how long an acknowledgement took."""
        command = [
            self.options.programs / "pushctl", "bench", "--json", "--yes", "--runtime", self.leader.root / "run",
            "--config", self.leader.root / "etc", "--platform", "android", "--app", "shop", "--device", "phone",
            "--connections", str(producers), *words, PAYLOAD]
        found = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        return found["accepted_per_second"], found["latency"]["p50_ms"], found["latency"]["p99_ms"]

    def other(self, producers):
        """The same of the other log, which is started for it."""
        programs, uri = self.options.beside, self.engine.uri.replace("/push?", "/other?")
        self.engine.sql("DROP DATABASE IF EXISTS other")
        self.engine.sql("CREATE DATABASE other")
        self.engine.primary.sql((programs / "schema.sql").read_text(), "other")
        self.engine.primary.sql(
            "INSERT INTO shards (shard) VALUES (0); "
            "INSERT INTO batches (shard, number, epoch, prev, sum, rows) VALUES (0, 0, 0, 0, 0, '')", "other")
        node = subprocess.Popen(
            [programs / "node", "n", uri, self.root / "n.sock", "1", "3000", "0", "0", self.root / "effects"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until("the other one leads", lambda: self.engine.primary.sql(
                "SELECT owner FROM shards WHERE owner IS NOT NULL", "other"))
            line = run([
                programs / "load", str(self.options.seconds), str(producers), "1", "10", "0", self.root / "acked",
                self.root / "n.sock"])
        finally:
            node.kill()
            node.wait()
        return tuple(float(it) for it in re.search(r"([0-9.]+)/s, p50 ([0-9.]+) ms, p99 ([0-9.]+) ms", line).groups())

    def acknowledgements(self):
        for producers in (1, 8, 50):
            ways = {"ours": lambda: self.bench(producers, "--pipeline", "1", "--duration", f"{self.options.seconds}s")}
            if self.options.beside:
                ways["other"] = lambda: self.other(producers)
            found = {name: [] for name in ways}
            follower = self.pair.other(self.leader)
            for name in [*ways, *reversed(ways)]:
                if self.options.apart:
                    follower.signal(signal.SIGSTOP)
                try:
                    found[name].append(ways[name]())
                finally:
                    if self.options.apart:
                        follower.signal(signal.SIGCONT)
                        wait_until("the follower has all", self.is_level, 120, pause=0.2)
            for name, figures in found.items():
                rate, p50, p99 = (statistics.mean(it) for it in zip(*figures))
                each = " ".join(f"{it[0]:.0f}" for it in figures)
                print(f"{producers:3} producers, {name}: {rate:7.0f}/s ({each}), p50 {p50:.2f} ms, p99 {p99:.2f} ms",
                      flush=True)

    def replace(self, number):
        """How long nobody answered after the leader's end, and how long its follower took from its term to its loop."""
        leader, follower = self.leader, self.pair.other(self.leader)
        lines = len(follower.log.read_text().splitlines())
        begin = time.monotonic()
        leader.signal(number)
        wait_until("the other one leads", lambda: follower.leads, pause=0.002)
        waited = time.monotonic() - begin
        self.leader = self.pair.wait_whole()

        def begun():
            times = {}
            for line in follower.log.read_text().splitlines()[lines:]:
                for word in ("leads from term", "ready: device"):
                    if word in line:
                        times[word] = float(re.search(r"T\d\d:\d\d:([0-9.]+)Z", line).group(1))
            return len(times) == 2 and (times["ready: device"] - times["leads from term"]) % 60

        return waited, wait_until(f"{follower.name} says that it leads", begun)

    def load(self, count):
        """Fills the log, and says what that took of the database and of the follower."""
        position = "SELECT pg_current_wal_lsn() - '0/0'"
        before = float(self.engine.sql(position)[0])
        self.bench(16, "--pipeline", "64", "--count", str(count), "--duration", "600s")
        written = float(self.engine.sql(position)[0]) - before
        self.engine.sql("VACUUM push_batches")
        size = int(self.engine.sql("SELECT pg_total_relation_size('push_batches')")[0])
        print(f"{count} requests: {size / count:.0f} bytes each in push_batches, {written / count:.0f} of WAL")
        wait_until("the follower has all", lambda: self.is_level(), pause=0.2)
        follower = self.pair.other(self.leader)
        for node in (self.leader, follower):
            status = pathlib.Path(f"/proc/{node.process.pid}/status").read_text()
            memory = dict(re.findall(r"(VmRSS|VmHWM|RssAnon):\s+(\d+)", status))
            print(f"memory of the {'leader' if node is self.leader else 'follower'}: " + ", ".join(
                f"{name} {int(size) / 1024:.0f} MiB" for name, size in memory.items()))

    def snapshots(self, count):
        """What acknowledgements take while the follower writes a snapshot, beside what they take without."""
        self.bench(16, "--pipeline", "64", "--count", str(count), "--duration", "600s")
        wait_until("the follower has all", self.is_level, pause=0.2)
        counts = "SELECT snapshot FROM push_snapshots WHERE state = 'counts'"
        wait_until("the first snapshot counts", lambda: self.engine.sql(counts), 600)
        found = {way: [] for way in WAYS}
        for way, begin in list(WAYS.items()) * TURNS:
            if begin:
                # The next one is due: the keeper asks twice a minute.
                self.engine.sql("UPDATE push_snapshots SET at = clock_timestamp() - interval '90 minutes'")
                wait_until("a snapshot is being written", lambda: self.engine.sql(begin), 120)
            rate, p50, p99 = self.bench(
                8, "--pipeline", "64", "--rate", str(RATE), "--duration", f"{self.options.seconds}s")
            found[way].append(p99)
            is_right = bool(self.engine.sql(WRITTEN)) == bool(begin)
            wait_until("the snapshot counts", lambda: not self.engine.sql(WRITTEN), 600)
            print(f"{way:16}: {rate:.0f}/s, p50 {p50:.2f} ms, p99 {p99:.2f} ms"
                  f"{'' if is_right else ': NOT all the time'}", flush=True)
        alone, *beside = (statistics.median(it) for it in found.values())
        size = int(self.engine.sql("SELECT max(length) FROM push_snapshots WHERE state = 'counts'")[0])
        print(f"p99 beside a snapshot of {size / 1048576:.0f} MiB, of that alone, by the medians: "
              + ", ".join(f"{way} {it / alone:.2f}" for way, it in zip(list(WAYS)[1:], beside)))

    def is_level(self):
        tail = int(self.engine.sql("SELECT max(number) FROM push_batches")[0])
        copies = self.engine.sql("SELECT applied FROM push_copies WHERE seen > clock_timestamp() - interval '3 s'")
        return any(int(it) >= tail - 2 for it in copies)

    def close(self):
        for node in self.nodes:
            node.end()
        self.engine.close()
        for directory in filter(None, (self.root, self.memory)):
            shutil.rmtree(directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/release")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=150_000)
    parser.add_argument("--beside", type=pathlib.Path)
    parser.add_argument("--snapshots", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--apart", action="store_true")
    options = parser.parse_args()
    for has_standby in (False, True):
        print("with a synchronous standby" if has_standby else "without a standby", flush=True)
        bed = Bed(options, has_standby)
        try:
            if options.snapshots:
                bed.snapshots(options.requests)
                continue
            bed.acknowledgements()
            for what, number in (("takeovers", signal.SIGKILL), ("handovers", signal.SIGTERM)):
                waits = [bed.replace(number)[0] for _ in range(5)]
                print(f"{what}, lease {LEASE} s: " + ", ".join(f"{it:.2f} s" for it in waits), flush=True)
            if not has_standby:
                bed.load(options.requests)
                waited, begun = bed.replace(signal.SIGTERM)
                print(f"promotion with {options.requests} deliveries: {begun:.3f} s of a handover of {waited:.2f} s")
        finally:
            bed.close()


if __name__ == "__main__":
    main()
