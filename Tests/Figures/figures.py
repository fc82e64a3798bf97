#!/usr/bin/env python3
"""Runs what the pages Benchmarks and Reliability tell, and writes these pages.

    figures.py list                             the entries, with the command of each
    figures.py run [--short] [--only NAME]...   runs them all, or these; writes results.json after each, then the pages
    figures.py pages [--check]                  writes the pages from results.json, or says whether they are so

The commands are those of Tests and packaging/test.sh, at the top of the project, with the release programs (`swift build -c release`)
and the debug build of the tests. `run` begins anew: what it does not run is "not run" on the pages. With --only the other figures stay,
and a row of another commit names it. --short takes the short form of what is long. An entry without the programs that it needs, one that
fails, and one whose output has no figure say so on the page; no figure is written by hand.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "Tests/Figures/results.json"
PAGES = ROOT / "Sources/PushDaemon/Documentation.docc"
RELEASE, DEBUG = ".build/release", ".build/debug"


def median(values):
    ordered = sorted(float(value) for value in values)
    return ordered[len(ordered) // 2]


def count(number):
    return f"{round(float(number)):,}"


class Missing(Exception):
    """The output has no figure."""


def find(pattern, text):
    found = re.findall(pattern, text, re.M)
    if not found:
        raise Missing(pattern)
    return found


def last(pattern, text):
    return find(pattern, text)[-1]


class Entry:
    """One row of a page."""

    def __init__(self, name, what, command, read, beside="", needs="", short=None, build=""):
        self.name, self.what, self.command, self.read = name, what, command, read
        self.beside, self.needs, self.short, self.build = beside, needs.split(), short, build
        # The short form of a row whose words name an amount has words of its own.
        self.short_what = what
        if isinstance(short, tuple):
            self.short, self.short_what = short


def ingest(connections, window):
    shape = rf"{connections} connections x +{window} +"

    def read(text):
        ours = median(find(rf"^pushrouterd +{shape}(\d+)", text))
        return f"{count(ours)}/s, {ours / median(find(rf'^redis +{shape}([0-9.]+)', text)):.2f} of redis"
    return read


def all_of(*readers):
    return lambda text: "; ".join(reader(text) for reader in readers)


def said(pattern, form="{0}"):
    """The last line that has the pattern, by its groups."""
    def read(text):
        groups = last(pattern, text)
        return form.format(*(groups if isinstance(groups, tuple) else (groups,)))
    return read


def medians(pattern, form):
    """The medians of the groups of all lines that have the pattern."""
    def read(text):
        rows = find(pattern, text)
        rows = [row if isinstance(row, tuple) else (row,) for row in rows]
        return form.format(*(median(row[index] for row in rows) for index in range(len(rows[0]))))
    return read


def holds(text):
    return "all holds"


def swift(filter_, **variables):
    words = " ".join(f"{name}={value}" for name, value in variables.items())
    return (f"{words} .build/debug/pushrouterdPackageTests.xctest --testing-library swift-testing --no-parallel "
            f"--filter '{filter_}'").strip()


PASSED = said(r"Test run with (\d+) tests?.* passed", "{0} tests passed")

BENCHMARKS = [
    ("A push taken", [
        Entry("ingest", "requests on disk: 1 client, 50, 8 with 64 under way", "Tests/Benchmarks/ingest.sh 3 3",
              all_of(ingest(1, 1), ingest(50, 1), ingest(8, 64)), "redis, `appendfsync always`", "gcc redis-server"),
        Entry("cost", "processor of a delivery, on the loop", "Tests/Benchmarks/budget.sh",
              said(r"^8 connections x 64, thread 1: +(\d+)", "{0} instructions"), "a bound of the tests", "gcc valgrind"),
        Entry("gateway", "sends of FCM over TLS, on disk", "Tests/Benchmarks/gateway.sh 3",
              medians(r"gateway ([\d.]+)/s, nginx [\d.]+/s, ratio ([\d.]+)", "{0:,.0f}/s, {1:.2f} of nginx"),
              "nginx, which stores nothing", "nginx h2load"),
        Entry("webpush", "web pushes with a proof, decrypted, on disk", "Tests/Benchmarks/webpush.sh 3",
              medians(r"^ +FCM +(\d+)/s[^\n]*\n +web push with a proof +(\d+)/s", "{1:,.0f}/s, FCM {0:,.0f}/s"),
              "FCM, same connections", "h2load"),
    ]),
    ("A handler run", [
        Entry("exec", "`exec`, 8 callers, durable", "Tests/Benchmarks/exec.sh 3",
              medians(r"^8 callers, median ratio: ([\d.]+) of the plain loop, ([\d.]+) of webhook",
                      "{0:.2f} of a loop of `posix_spawn`, {1:.2f} of webhook"), "a C loop; webhook", "gcc webhook"),
        Entry("worker", "`worker`, durable", "Tests/Benchmarks/worker.sh 3",
              medians(r"pushrouterd (\d+)/s; omprog, queue on disk (\d+)/s", "{0:,.0f}/s, rsyslog {1:,.0f}/s"),
              "rsyslog's omprog, queue on disk", "gcc rsyslogd"),
        Entry("http", "`http`, durable", "Tests/Benchmarks/http.sh 3",
              medians(r"pushrouterd (\d+)/s, curl --parallel (\d+)/s", "{0:,.0f}/s, curl {1:,.0f}/s"),
              "curl --parallel, which stores nothing", "gcc curl"),
        Entry("deadline", "a kill behind the deadline", "Tests/Benchmarks/deadline.sh",
              said(r"after the deadline: p50 ([\d.]+) ms +p99 ([\d.]+) ms +max ([\d.]+) ms", "p50 {0} ms, p99 {1} ms, longest {2} ms"),
              needs="gcc"),
        Entry("hang", "a stop while 300 handlers hang", "Tests/Benchmarks/hang.sh",
              said(r"^pushrouterd: .*the stop took (\d+) ms, (\d+) were left", "{0} ms, {1} left"), "webhook", "gcc"),
    ]),
    ("What is kept", [
        Entry("store", "deliveries through the store, batches of 64", "Tests/Benchmarks/store.sh 3",
              said(r"^batch +64,.*?(\d+) deliveries/s.*ratio ([\d.]+)", "{0}/s, {1} of bare rows"), "bare SQLite", "gcc"),
        Entry("report", "a report of 10,000,000 deliveries", "Tests/Benchmarks/report.sh 10000000 20",
              said(r"^all +(\d+) ms +(\d+) MB", "{0} ms, {1} MB"), "the goal: 1 s, 64 MB", "gcc",
              short=("Tests/Benchmarks/report.sh 200000 5", "a report of 200,000 deliveries")),
        Entry("start", "a start behind 50,000 unfinished requests", "Tests/Benchmarks/start.sh 1000000",
              said(r"^full: ready after ([\d.]+) ms.*resident ([\d.]+) MiB", "{0} ms, {1} MiB"), "", "gcc",
              short="Tests/Benchmarks/start.sh 10000"),
        Entry("scale", "a million devices, ten million deliveries",
              f"/usr/bin/python3 Tests/Long/scale.py --programs {RELEASE} --devices 1000000 --deliveries 10000000",
              all_of(said(r"^ready, ms: (\S+) and (\S+)", "ready in {1} ms ({0})"), said(r"^resident, MiB: (\S+) and (\S+)", "{1} MiB ({0})"),
                     said(r"^one delivery, ms: (\S+) and (\S+)", "a delivery {1} ms ({0})"),
                     said(r"^query of a device, ms: (\S+) and (\S+)", "a query {1} ms ({0})")),
              "one percent of that", "gcc",
              short=(f"/usr/bin/python3 Tests/Long/scale.py --programs {RELEASE}", "2,000 devices, 20,000 deliveries")),
        Entry("page", "the load that the daemon takes with the page on", f"/usr/bin/python3 Tests/Benchmarks/page.py {RELEASE}",
              said(r"^with the page, nobody asking: .* a second, ([\d.]+) of that without", "{0} of that without")),
    ]),
]

RELIABILITY = [
    ("One machine", [
        Entry("kill", "`kill -9` of the daemon", swift("EndToEndTests.CrashTests", PUSH_TEST_ROUNDS=1000),
              said(r"disk, kill -9, seed \d+: (\d+) rounds, (\d+) lost", "{0} kills, {1} acknowledged requests lost"), build="debug",
              short=swift("EndToEndTests.CrashTests", PUSH_TEST_ROUNDS=20)),
        Entry("power", "power cuts on a model of a faulty disk", swift("PowerCutTests", PUSH_TEST_CUTS=2000),
              said(r"disk, power cuts, seed \d+: (.*)"), build="debug", short=swift("PowerCutTests", PUSH_TEST_CUTS=20)),
        Entry("syncs", "failed syncs, each point", swift("FailedSyncTests", PUSH_TEST_SYNCS=6),
              said(r"disk, failed syncs, seed \d+: (.*)"), build="debug", short=swift("FailedSyncTests")),
        Entry("full", "full disks", swift("FullDiskTests|WriteErrorTests"), PASSED, build="debug"),
        Entry("flips", "single bits of log and ledger", f"/usr/bin/python3 Tests/Long/damage.py --programs {RELEASE} --flips 10000",
              all_of(said(r"^log: (.*)", "log: {0}"), said(r"^ledger: (.*)", "ledger: {0}")),
              short=f"/usr/bin/python3 Tests/Long/damage.py --programs {RELEASE}"),
        Entry("memory", "SQLite and HTTP/2 without memory", f"/usr/bin/python3 Tests/Long/memory.py --programs {RELEASE} --rounds 4000",
              lambda text: ", ".join(f"{part}: {end} {number}" for part, end, number in find(r"^(\S[^:]*): (\S[^:]*): (\d+)$", text)),
              needs="gcc", short=f"/usr/bin/python3 Tests/Long/memory.py --programs {RELEASE}"),
        Entry("crowd", "ten times what one producer may have in flight",
              f"/usr/bin/python3 Tests/Long/crowd.py --programs {RELEASE} --seconds 600",
              all_of(said(r"^accepted: (\d+)", "{0} accepted and in time"), said(r"^refused: (\d+)", "{0} refused"),
                     said(r"^memory at most, MiB: (\d+)", "{0} MiB"), said(r"^modest: longest wait, ms: (\d+)", "the other waits {0} ms at most")),
              short=f"/usr/bin/python3 Tests/Long/crowd.py --programs {RELEASE}"),
        Entry("together", "all acts and kills at once",
              "/usr/bin/python3 Tests/Together/together.py --seed 1 --seconds 3600",
              said(r"^seed \d+: all holds, after (\d+) s", "all holds, {0} s"), build="debug",
              short="/usr/bin/python3 Tests/Together/together.py --seed 1 --seconds 60"),
        Entry("hostile", "hostile handlers", "Tests/Benchmarks/hostile.sh process_groups 10000",
              said(r"^(\d+) hostile runs.*; (.*)", "{0} runs, {1}"), needs="gcc", short="Tests/Benchmarks/hostile.sh process_groups 300"),
        Entry("flood", "clients that flood, beside a good one", "Tests/Benchmarks/flood.sh",
              said(r"^memory: highest ([\d.]+) MiB", "served, below {0} MiB"), needs="gcc"),
        Entry("clients", "hostile clients of the gateway", "/usr/bin/python3 Tests/Gateway/hostile.py --programs .build/release",
              said(r"^memory at most (\d+) MiB, (-?\d+) descriptors", "each ended, {0} MiB, {1} descriptors left")),
        Entry("break", "faults that reviews found", f"/usr/bin/python3 Tests/Break/break.py --programs {RELEASE}",
              lambda text: f"{text.count(': is not there')} tried, none is there"),
    ]),
    ("Several machines", [
        Entry("pair", "faults of a pair that has nothing else", "/usr/bin/python3 Tests/Fleet/fleet.py --full --plan 1",
              said(r"^seed \d+: (\S.*), after (\d+) s", "{0}, {1} s"), build="debug", short="/usr/bin/python3 Tests/Fleet/fleet.py --short"),
        Entry("recount", "both disks lost under load", "/usr/bin/python3 Tests/Fleet/recount.py --seconds 30",
              said(r"^(\d+) acknowledged,", "{0} acknowledged requests counted again"), build="debug"),
        Entry("twin", "the same requests to one daemon and to a pair",
              "/usr/bin/python3 Tests/Fleet/twin.py --requests 100000 --moves 100", said(r"^seed \d+: (\d+) requests", "{0} requests, the same"),
              build="debug", short="/usr/bin/python3 Tests/Fleet/twin.py --requests 3000 --moves 3"),
        Entry("forward", "leaders that stand still beside forwarders", "/usr/bin/python3 Tests/Fleet/forward.py --rounds 40",
              said(r"^(\d+) entries, (\d+) lost, (\d+) of", "{0} entries, {1} lost, {2} doubled"), build="debug",
              short="/usr/bin/python3 Tests/Fleet/forward.py --rounds 4"),
    ]),
    ("The code", [
        Entry("fuzz", "fuzzing with AddressSanitizer: edges before and after", "sh Tests/Fuzz/run.sh --all 1200",
              lambda text: ", ".join(f"{name} {before} to {after}" for name, before, after in find(
                  r"^(\S+): edges: (\d+) before, (\d+) after", text)) + "; no crash",
              needs="swiftc", short="sh Tests/Fuzz/run.sh --all 20"),
        Entry("address", "AddressSanitizer", "Tests/Long/sanitize.sh address",
              said(r"^address: (\d+) suites, (\d+) reports", "{0} suites, {1} reports"), needs="swift",
              short="Tests/Long/sanitize.sh address HTTP2Tests GzipTests JSONCTests"),
        Entry("thread", "ThreadSanitizer, which does not know `Mutex`", "Tests/Long/sanitize.sh thread",
              said(r"^thread: (\d+) suites, (\d+) reports", "{0} suites, {1} reports to read"), needs="swift",
              short="Tests/Long/sanitize.sh thread HTTP2Tests GzipTests JSONCTests"),
        Entry("faults", "planted faults that a test sees", "/usr/bin/python3 Tests/Faults/faults.py",
              said(r"^(\d+) faults: (\d+) seen by their own suites, (\d+) by others, (\d+) by those of pushctl",
                   "of {0} {1} by their own suites, {2} by others, {3} by those of pushctl"),
              needs="swift",
              short="/usr/bin/python3 Tests/Faults/faults.py --count 5"),
    ]),
]

TITLES = {
    "Benchmarks": (BENCHMARKS, """# Benchmarks

The speed of each kind of work, beside a program that people use for it or the limit of the machine.

## Overview

Ratios carry over to other machines, rates do not: the disk decides them. `Tests/Benchmarks` has the scripts, and each says what it
does."""),
    "Reliability": (RELIABILITY, """# Reliability

What was done to break the daemon, and what was lost.

## Overview

Each test fails when something is lost that was acknowledged, or when another client suffers. A flipped bit in a row of the ledger may
stay unseen, because SQLite's pages have no checksums; batches of the log have them."""),
}
TAIL = """
`Tests/Figures/figures.py run` measures all again and writes this page; a row that says "not run" has no figure of this version."""


def entries():
    return [entry for groups, _ in TITLES.values() for _, group in groups for entry in group]


def commit():
    return subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def code():
    """What the programs are made of: the same after a commit of pages and tests."""
    lines = subprocess.run(
        ["git", "ls-tree", "-r", "HEAD", "Sources", "etc", "Package.swift"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return hashlib.sha1("".join(line for line in lines.splitlines(True) if not line.endswith(".md\n")).encode()).hexdigest()[:12]


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown processor")
    return f"{os.cpu_count()} processors ({model}), {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') >> 30} GiB"


def run(entry, short, outputs):
    """The result of one entry: its figure, or why it has none."""
    command = entry.short if short and entry.short else entry.command
    result = {"command": command}
    lacking = [program for program in entry.needs if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin:/opt/swift/usr/bin")]
    if lacking:
        return {**result, "not_run": f"{', '.join(lacking)} is not installed"}
    build = DEBUG if entry.build else RELEASE
    if not (ROOT / build / "pushrouterd").exists():
        return {**result, "not_run": f"there is no {build}"}
    if command not in outputs:
        print(f"==> {entry.name}: {command}", flush=True)
        begin = time.monotonic()
        done = subprocess.run(
            command, shell=True, cwd=ROOT, env=dict(os.environ, BUILD=RELEASE), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace")
        outputs[command] = done.returncode, done.stdout + done.stderr, round(time.monotonic() - begin)
    status, text, seconds = outputs[command]
    result["seconds"] = seconds
    skipped = re.search(r"(?:left out|not tested): (.*)", text)
    if status != 0:
        tail = re.sub(r"\x1b\[[0-9;]*m|[^\x20-\x7e\n]", "", text).strip().splitlines()[-1:] or [""]
        return {**result, "failed": f"exit status {status}: {tail[0].strip()[:160]}"}
    try:
        return {**result, "figure": entry.read(text)}
    except (Missing, IndexError, ZeroDivisionError):
        return {**result, "not_run": skipped.group(1)[:160] if skipped else "its output has no figure"}


def plain(text):
    return text.replace("*", "\\*")


def page(title, results):
    groups, intro = TITLES[title]
    lines = [intro + TAIL]
    if results:
        load = f", load {results['load']}" if results.get("load") else ""
        lines.append(f"\nCommit `{results['commit']}`, {results['date']}; {results['machine']}{load}.")
    for heading, group in groups:
        lines.append(f"\n## {heading}\n")
        for entry in group:
            result = results.get("entries", {}).get(entry.name, {})
            reason = f": {result['not_run']}" if result.get("not_run") else ""
            failed = f"failed with {result['failed']}" if result.get("failed") else None
            figure = result.get("figure") or failed or f"not run{reason}"
            command = result.get("command", entry.command).replace("/usr/bin/python3 ", "").replace(" --programs .build/release", "")
            command = re.sub(r"\.build/debug/pushrouterdPackageTests\.xctest .* --filter", "swift test --filter", command)
            beside = f", beside {entry.beside}" if entry.beside else ""
            what = entry.short_what if result.get("command") == entry.short else entry.what
            other = result.get("commit", results.get("commit"))
            at = f", commit `{other}`" if other != results.get("commit") else ""
            lines.append(f"- {what}{beside}: **{plain(figure)}** (`{command}`{at})")
    return "\n".join(lines) + "\n"


def load_results():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def write_pages(check):
    results, differ = load_results(), False
    for title in TITLES:
        path, text = PAGES / f"{title}.md", page(title, results)
        if check and (not path.exists() or path.read_text() != text):
            print(f"figures.py: {path.relative_to(ROOT)} is not what results.json gives; run Tests/Figures/figures.py pages")
            differ = True
        elif not check:
            path.write_text(text)
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser()
    acts = parser.add_subparsers(dest="act", required=True)
    acts.add_parser("list")
    runs = acts.add_parser("run")
    runs.add_argument("--short", action="store_true")
    runs.add_argument("--only", action="append")
    acts.add_parser("pages").add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.act == "pages":
        return write_pages(options.check)
    if options.act == "list":
        for entry in entries():
            print(f"{entry.name}: {entry.command}")
        return 0
    names = {entry.name for entry in entries()}
    unknown = set(options.only or ()) - names
    if unknown:
        parser.error(f"there is no entry {', '.join(sorted(unknown))}; list prints them")
    before, now, outputs = load_results(), commit(), {}
    kept = before.get("entries", {}) if options.only else {}
    for result in kept.values():
        result.setdefault("commit", before["commit"])
    results = {
        "commit": now, "code": code(), "date": datetime.date.today().isoformat(), "machine": machine(), "load": " ".join(open("/proc/loadavg").read().split()[:3]),
        "entries": {name: kept.get(name, {"not_run": ""}) for name in sorted(names)}}
    for entry in entries():
        if options.only and entry.name not in options.only:
            continue
        results["entries"][entry.name] = {**run(entry, options.short, outputs), "commit": now}
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    missing = [
        f"{name}: {result.get('failed') or result.get('not_run') or 'not asked for'}"
        for name, result in results["entries"].items() if "figure" not in result]
    print(f"{len(names) - len(missing)} of {len(names)} have a figure", *missing, sep="\n    no figure: ")
    return write_pages(False)


if __name__ == "__main__":
    sys.exit(main())
