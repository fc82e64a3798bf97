#!/usr/bin/env python3
"""Flips one bit of the log or of the ledger, again and again, and says what became of it.

    damage.py [--programs DIR] [--flips N] [--seed N] [--json FILE]

One state is made, as a kill leaves it: the ledger has a part of the requests, the log has all. Each flip damages a copy of
it: even ones the log, odd ones the ledger.

Log: the daemon starts. Either the ledger then has every acknowledged request as it was sent, or the daemon has set the log
aside, said so, and has each request before the damage. Only the last batch may go without a word: no reader can tell it
from a write that never ended.
Ledger: "found" by the daemon's start, by `pushctl doctor` or by `pushctl salvage`; "harmless" where every request is as it
was sent; "unseen" where one differs and nothing says so: SQLite's pages have no checksums. What was found is salvaged and
restored, and the daemon starts with it: all requests but those of one page are there. Two pages are worth more: one that locates a
table's rows, and one with the place in the log; of these the verdict says so.
It ends with 1 if a flip does anything else.
"""

import argparse
import collections
import contextlib
import importlib.util
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
specification = importlib.util.spec_from_file_location("harness", HERE / "Tests/Break/break.py")
harness = importlib.util.module_from_spec(specification)
specification.loader.exec_module(harness)

REQUESTS, APPLIED = 1000, 800
# One page has at most this many of these requests, and may be an inner page of the table above 40 others.
PAGE_REQUESTS = 60


def body(number):
    return {"n": f"{number:06}", "text": "x" * 300}


def stopped(daemon):
    """Stands still: no thread of it writes any more."""
    os.kill(daemon.process.pid, signal.SIGSTOP)
    while open(f"/proc/{daemon.process.pid}/stat").read().rsplit(")", 1)[1].split()[0] != "T":
        pass


def make(programs, root):
    """The state that each flip damages."""
    daemon = harness.Daemon(root, programs)
    daemon.start()
    state, copy = root / "state", root / "copy"
    with daemon.connect() as connection, connection.makefile("rb") as replies:
        for number in range(REQUESTS):
            connection.sendall(json.dumps({"op": "deliver", "id": f"r{number}", "payload": body(number)}).encode() + b"\n")
            if not json.loads(replies.readline())["ok"]:
                raise SystemExit("damage.py: a request was refused")
            if number == APPLIED:
                daemon.sync()
                stopped(daemon)
                copy.mkdir()
                for path in state.glob("ledger.db*"):
                    shutil.copy2(path, copy)
                os.kill(daemon.process.pid, signal.SIGCONT)
    stopped(daemon)
    shutil.copytree(state / "log", copy / "log")
    shutil.copytree(state / "configurations", copy / "configurations")
    daemon.kill()
    # The ledger in one file, as after a clean stop, for the flips of the ledger.
    whole = root / "whole"
    shutil.copytree(copy, whole)
    with contextlib.closing(sqlite3.connect(whole / "ledger.db")) as ledger:
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.rmtree(root / "state")
    return daemon, copy


def used(path):
    """The parts of a file that are not zero, in blocks of 4 KiB."""
    data = path.read_bytes()
    return [at for at in range(0, len(data), 4096) if data[at:at + 4096].strip(b"\0")]


def flip(path, at, bit):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


def stored(state):
    """The requests of a ledger by their ids; nothing where it cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{state}/ledger.db?mode=ro", uri=True)) as ledger:
            ledger.text_factory = bytes
            return dict(ledger.execute("SELECT id, body FROM request_rows NOT INDEXED WHERE id IS NOT NULL"))
    except (sqlite3.Error, UnicodeDecodeError):  # The module decodes an error's text, which may quote the damage.
        return None


def right(rows, sent):
    return {name for name, text in rows.items() if sent.get(name) == text}


class Trial:
    def __init__(self, daemon, programs, sent):
        self.daemon, self.programs, self.sent = daemon, programs, sent

    def run(self, *words):
        return subprocess.run(
            [self.programs / "pushctl", *words], env=self.daemon.environment, capture_output=True, text=True, timeout=120)

    def start(self):
        """Whether the daemon starts and stops; applies the log meanwhile."""
        begun = self.daemon.start() is not None
        if begun:
            self.daemon.sync()
            self.daemon.process.terminate()
        else:
            self.daemon.kill()
        return self.daemon.process.wait(60) == 0 and begun

    def said(self):
        return (self.daemon.root / "log").read_text(errors="replace")

    def log(self, state):
        """What became of a flip in the log, and what is wrong with that."""
        started = self.start()
        rows = stored(state) or {}
        aside = list(self.daemon.root.glob("state/log.set-aside-*"))
        if not started:
            return "refused", f"the daemon did not start: {self.said()[-400:]}"
        missing = len(self.sent) - len(right(rows, self.sent))
        if len(right(rows, self.sent)) != len(rows):
            return "wrong", "a request differs from what was sent"
        if aside:
            if "the log is damaged and was moved to" not in self.said():
                return "aside", "the log was set aside without a word"
            return "set aside", None if len(rows) > APPLIED else "a request that the ledger had is gone"
        if missing == 0:
            return "harmless", None
        last = {f"r{REQUESTS - 1}".encode()}
        return ("last batch", None) if set(self.sent) - set(rows) <= last else ("unseen", f"{missing} requests are gone")

    def ledger(self, state):
        before = stored(state)
        whole = before is not None and right(before, self.sent) == set(before) and len(before) > APPLIED
        doctor = self.run("doctor", "--json").stdout
        found = "malformed" in doctor or "damaged" in doctor or "not a database" in doctor or "is no ledger" in doctor
        saved = self.daemon.root / "saved.db"
        salvage = self.run("salvage", str(saved), "--json")
        try:
            found = found or not json.loads(salvage.stdout)["is_whole"]
        except (ValueError, KeyError):
            found = True
        if not found:
            started = self.start()
            rows = stored(state) or {}
            if not started:
                found = True
            else:
                # The log has the rest of the requests.
                differ = len(self.sent) - len(right(rows, self.sent))
                return ("unseen", None) if differ else ("harmless" if whole else "mended by the log", None)
        if salvage.returncode:
            # The first page says what the file is.
            says = any(remedy in salvage.stderr for remedy in ("restore", "set-aside"))
            return ("found, hopeless", None) if says else ("found", salvage.stderr[-300:])
        restored = self.run("restore", str(saved))
        if restored.returncode:
            return "found", f"restore refuses what salvage wrote: {restored.stderr[-300:]}"
        if not self.start():
            return "found", f"the daemon does not start with what was salvaged: {self.said()[-400:]}"
        lost = len(self.sent) - len(right(stored(state) or {}, self.sent))
        if log_in_part(salvage):
            # The place in the log is a row of the ledger: without it no batch of the log follows.
            return "salvaged, the log in part", None if lost <= REQUESTS - APPLIED else f"{lost} requests are lost"
        if lost > PAGE_REQUESTS and damaged_requests(salvage):
            # Operations says so: without the page that locates a table's rows none is found.
            return "salvaged without a table's root", None if lost <= APPLIED + 1 else f"{lost} requests are lost"
        return "salvaged", None if lost <= PAGE_REQUESTS else f"{lost} requests are lost"


def damaged_requests(result):
    try:
        return bool(json.loads(result.stdout)["tables"]["requests"]["damage"])
    except (ValueError, KeyError):
        return False


def log_in_part(result):
    try:
        return bool(json.loads(result.stdout).get("log_damage"))
    except ValueError:
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--flips", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="also write the counts to this file")
    choices = parser.parse_args()
    programs, chance = choices.programs.resolve(), random.Random(choices.seed)
    counts, wrong = collections.Counter(), []
    # In memory: a sync of the disk would be most of the time.
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="damage.", dir=memory) as directory:
        root = pathlib.Path(directory)
        daemon, copy = make(programs, root)
        state = root / "state"
        shutil.copytree(copy, state)
        if not Trial(daemon, programs, {}).start():
            raise SystemExit(f"damage.py: the daemon does not start with the undamaged state: {(root / 'log').read_text()}")
        sent = stored(state)
        if len(sent) != REQUESTS:
            raise SystemExit(f"damage.py: the undamaged state has {len(sent)} of {REQUESTS} requests")
        trial = Trial(daemon, programs, sent)
        blocks = [(path.relative_to(copy), at) for path in sorted((copy / "log").iterdir()) for at in used(path)]
        pages = [("ledger.db", at) for at in used(root / "whole/ledger.db")]
        slowest = (0, "")
        for number in range(choices.flips):
            part = "ledger" if number % 2 else "log"
            shutil.rmtree(state)
            shutil.copytree(root / "whole" if number % 2 else copy, state)
            name, at = chance.choice(pages if number % 2 else blocks)
            # Most of a block of the log is padding, and seldom hit.
            data = (root / ("whole" if number % 2 else "copy") / name).read_bytes()[at:at + 4096]
            places = [place for place, byte in enumerate(data) if byte] if chance.randrange(4) else range(len(data))
            at, bit = at + chance.choice(places), chance.randrange(8)
            flip(state / name, at, bit)
            for left in [root / "log", root / "saved.db"]:
                left.unlink(missing_ok=True)
            begin = time.monotonic()
            verdict, fault = getattr(trial, part)(state)
            slowest = max(slowest, (time.monotonic() - begin, f"{name} byte {at} bit {bit}: {verdict}"))
            counts[part, verdict] += 1
            if fault:
                wrong.append(f"{name} byte {at} bit {bit}: {verdict}: {fault}")
                print(f"damage.py: {wrong[-1]}", flush=True)
    print(f"the slowest: {slowest[0]:.1f} s, {slowest[1]}")
    for part in ("log", "ledger"):
        of = {verdict: count for (where, verdict), count in sorted(counts.items()) if where == part}
        print(f"{part}: {sum(of.values())} flips: " + ", ".join(f"{verdict} {count}" for verdict, count in of.items()))
    if choices.json:
        pathlib.Path(choices.json).write_text(json.dumps(
            {"seed": choices.seed, "wrong": len(wrong),
             **{f"{part} {verdict}": count for (part, verdict), count in sorted(counts.items())}}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
