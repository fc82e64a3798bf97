#!/usr/bin/env python3
"""SQLite and nghttp2 get no memory: one allocation fails, or all for a while, at every place that a run reaches.

    memory.py [--programs DIR] [--rounds N] [--seed N] [--json FILE]

Half of N rounds are the daemon's: memory fails at its start or beside requests, and a start with memory follows. No program is
ended by a signal, and every acknowledged request is in the ledger. Half are the gateway's: a client over HTTP/2 is answered or its
connection ends, within five seconds; the next client is answered; the gateway then is idle, and has as many descriptors as before.
It ends with 1 if something else happens. Needs gcc, libsqlite3-dev and libnghttp2-dev.
"""

import argparse
import collections
import contextlib
import importlib.util
import json
import mmap
import os
import pathlib
import random
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]


def load(path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


harness, hostile = load(HERE / "Tests/Break/break.py"), load(HERE / "Tests/Gateway/hostile.py")
ALWAYS = 1 << 40


class Memory:
    """The plan that a program with the preloaded library follows."""

    def __init__(self, root):
        self.library, self.path = root / "memory.so", root / "plan"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", self.library, HERE / "Tests/Long/memory.c"], check=True)
        self.path.write_bytes(bytes(4096))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 4096)
        self.enough()

    def set(self, passing, failing):
        self.map[:32] = struct.pack("4q", passing, failing, 0, 0)

    def enough(self):
        """Ends the failures; how many there were."""
        failed = struct.unpack("4q", self.map[:32])[3]
        self.set(ALWAYS, 0)
        return failed

    def asked(self):
        return struct.unpack("4q", self.map[:32])[2]

    def variables(self):
        return {"LD_PRELOAD": str(self.library), "NO_MEMORY": str(self.path), "SWIFT_BACKTRACE": "enable=no"}


class Rounds:
    def __init__(self, chance):
        self.chance, self.counts, self.wrong = chance, collections.Counter(), []

    def note(self, part, verdict, fault=None):
        self.counts[part, verdict] += 1
        if fault:
            self.wrong.append(f"{part}: {verdict}: {fault}")
            print(f"memory.py: {self.wrong[-1]}", flush=True)

    def failing(self):
        return self.chance.choice([1, 1, 3, ALWAYS])


def daemon(programs, memory, rounds, count):
    with tempfile.TemporaryDirectory(prefix="memory.", dir="/tmp") as directory:
        it = harness.Daemon(pathlib.Path(directory), programs)
        it.environment.update(memory.variables())
        acknowledged, number = set(), 0
        memory.enough()
        it.start()
        starting, of_start = memory.asked(), 0
        for round_number in range(count):
            failing = rounds.failing()
            if round_number % 4 == 3:
                # At the start.
                it.process.terminate()
                it.process.wait(60)
                memory.set(rounds.chance.randrange(starting), failing)
                of_start += 1
                it.start(20)
            else:
                memory.set(rounds.chance.randrange(200), failing)
            part = "daemon's start" if round_number % 4 == 3 else "daemon"
            if it.process.poll() is None:
                with contextlib.suppress(OSError, ValueError):
                    for _ in range(8):
                        number += 1
                        if it.ask({"op": "deliver", "id": f"r{number}", "payload": {"n": str(number)}}, seconds=5).get("ok"):
                            acknowledged.add(f"r{number}")
                    it.ask({"op": "sync", "timeout_ms": 1000}, "control", 5)
            failed = memory.enough()
            ended = it.process.poll()
            if ended is None and failed:
                # The store may end it a moment later.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    ended = it.process.wait(0.05)
            verdict = "not reached" if not failed else "goes on" if ended is None else f"ends with {ended}"
            fault = None
            if ended is not None and ended < 0:
                fault = f"a signal ended it: {(it.root / 'log').read_text()[-500:]}"
            if ended is not None and it.start(20) is None:
                rounds.note(part, verdict, f"it does not start with memory: {(it.root / 'log').read_text()[-500:]}")
                return
            # A daemon that goes on accepts.
            try:
                number += 1
                reply = it.ask({"op": "deliver", "id": f"r{number}", "payload": {"n": str(number)}}, seconds=20)
                fault = fault or (None if reply.get("ok") else f"with memory it refuses: {reply}")
                acknowledged.add(f"r{number}")
                it.sync()
            except (OSError, ValueError) as error:
                later = None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    later = it.process.wait(5)
                if failed and later == harness.FILES:
                    verdict = f"ends with {later}"
                else:
                    fault = fault or f"with memory it does not answer: {error}: {(it.root / 'log').read_text()[-500:]}"
                    it.kill()
                it.start()
            rounds.note(part, verdict, fault)
        it.process.terminate()
        it.process.wait(60)
        with contextlib.closing(sqlite3.connect(it.root / "state/ledger.db")) as ledger:
            stored = {name for name, in ledger.execute("SELECT id FROM request_rows")}
        lost = acknowledged - stored
        rounds.note("daemon", "ledger", f"{len(lost)} of {len(acknowledged)} acknowledged requests are not in it" if lost else None)


def exchange(scene):
    """What a client over HTTP/2 gets: "answered", "closed" or "silent"."""
    begin = time.monotonic()
    with scene.connect() as connection:
        connection.settimeout(5)
        got = b""
        try:
            connection.sendall(
                hostile.PREFACE + hostile.frame(4) + hostile.frame(1, 4, 1, hostile.REQUEST)
                + hostile.frame(0, 1, 1, hostile.BODY))
            while time.monotonic() < begin + 5:
                part = connection.recv(65536)
                if not part:
                    return "closed"
                got += part
                rest = got
                while len(rest) >= 9 and len(rest) >= 9 + int.from_bytes(rest[:3], "big"):
                    # The headers of stream 1, or its reset.
                    if rest[3] in (1, 3) and int.from_bytes(rest[5:9], "big") == 1:
                        return "answered"
                    rest = rest[9 + int.from_bytes(rest[:3], "big"):]
        except TimeoutError:
            return "silent"
        except OSError:
            return "closed"
        return "silent"


def processor(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def gateway(programs, memory, rounds, count):
    with tempfile.TemporaryDirectory(prefix="memory.", dir="/tmp") as directory:
        memory.enough()
        before = dict(os.environ)
        os.environ.update(memory.variables())
        try:
            scene = hostile.Scene(str(programs), directory)
        finally:
            os.environ.clear()
            os.environ.update(before)
        try:
            memory.set(ALWAYS, 0)
            if exchange(scene) != "answered":
                raise SystemExit("memory.py: the gateway does not answer a client of HTTP/2")
            most = memory.asked()
            for _ in range(count):
                memory.set(rounds.chance.randrange(most), rounds.failing())
                answer = exchange(scene)
                failed = memory.enough()
                fault = "no answer and no end within five seconds" if answer == "silent" else None
                if scene.gateway.poll() is not None:
                    rounds.note("gateway", answer, f"the gateway ended with {scene.gateway.returncode}")
                    return
                again = exchange(scene)
                if again != "answered":
                    fault = fault or f"the next client: {again}"
                rounds.note("gateway", answer if failed else "not reached", fault)
            used = processor(scene.gateway.pid)
            time.sleep(1)
            used = processor(scene.gateway.pid) - used
            scene.wait(lambda: scene.open_descriptors() <= scene.descriptors, "the descriptors of ended connections")
            rounds.note("gateway", "afterwards", f"it uses {used:.2f} s of a second" if used > 0.2 else None)
        finally:
            for process in (scene.gateway, scene.daemon):
                process.terminate()
                process.wait(60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="also write the counts to this file")
    choices = parser.parse_args()
    programs, rounds = choices.programs.resolve(), Rounds(random.Random(choices.seed))
    with tempfile.TemporaryDirectory(prefix="memory.", dir="/tmp") as directory:
        memory = Memory(pathlib.Path(directory))
        for part in (daemon, gateway):
            part(programs, memory, rounds, choices.rounds // 2)
    for (part, verdict), count in sorted(rounds.counts.items()):
        print(f"{part}: {verdict}: {count}")
    if choices.json:
        pathlib.Path(choices.json).write_text(json.dumps(
            {"seed": choices.seed, "wrong": len(rounds.wrong),
             **{f"{part}: {verdict}": count for (part, verdict), count in sorted(rounds.counts.items())}}))
    return 1 if rounds.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
