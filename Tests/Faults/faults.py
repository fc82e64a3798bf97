#!/usr/bin/env python3
"""Writes faults into a copy of the core, and says which of them no test sees.

faults.py [--seed N] [--count N] [--only FOLDER]... [--fault K]... [--keep DIR] [--list]

Draws faults by seed (operators, bounds, numbers, swapped arguments, dropped calls; Mutator.swift lists the places) and
writes all of them into a copy of the package. Each is behind a switch, and `PUSH_FAULT=K` at the start of a program
turns number K on. So the copy is built once. A first run without a fault shows which suites pass each place. Then the
suites of the fault's own folder run with it, and, if they see nothing, the other suites that pass the place, and last
those of pushctl. A failed test, a crash and a hang see a fault.

Prints each fault, and in the end the figures. Exit status 1: fewer than 90 of 100 faults are seen, not counting those
that equivalent.txt names with the reason why they change nothing.

--only FOLDER draws only from a folder of Sources/Core. --keep DIR keeps the copy and DIR/seen, the faults that were
seen. A second run builds only what has changed and judges the rest: after a run that was cut off, or after new tests.
--fault K runs one fault again, seen or not. --list prints the faults that are drawn, and builds nothing.
"""

import argparse
import collections
import concurrent.futures
import functools
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORE = "Sources/Core"
# The suites of each folder; the longest name that fits counts.
OWN = {
    "PushModel": ["PushModelTests"],
    "PushModel/CustomData": ["PushCustomDataTests"],
    "PushModel/Figures": ["PushFiguresTests"],
    "PushModel/Fleet": ["PushFleetTests"],
    "PushModel/Ledger": ["PushModelTests", "StoreTests"],
    "PushModel/Protocol": ["PushModelTests", "PushRoutingTests"],
    "PushModel/Requests": ["PushModelTests", "PushRoutingTests"],
    "PushModel/Rows": ["PushModelTests", "StoreTests"],
    "PushModel/Settings": ["PushSettingsTests"],
    "PushModel/Texts": ["PushModelTests", "PushReportingTests"],
    "PushRouter/CustomData": ["PushCustomDataTests"],
    "PushRouter/Dispatch": ["PushDispatchTests"],
    "PushRouter/Dispatch/Topics": ["PushDispatchTests", "PushGatewayTests"],
    "PushRouter/Routing": ["PushRoutingTests"],
    "PushRouter/Tracking": ["PushTrackingTests"],
    "PushSettings": ["PushSettingsTests"],
    "PushSettings/Hosts": ["PushSettingsTests", "PushGatewayTests"],
    "PushSettings/HTTPBridge": ["PushSettingsTests", "HTTPProgramTests"],
    "PushGateway": ["PushGatewayTests"],
    "PushGateway/WebPush": ["PushGatewayTests", "GatewayProgramTests"],
    "PushViews/Accidents": ["PushAccidentsTests"],
    "PushViews/Conform": ["PushConformTests"],
    "PushViews/PayloadForms": ["PushDispatchTests"],
    "PushViews/Query": ["PushQueryTests"],
    "PushViews/Reconcile": ["PushReconcileTests"],
    "PushViews/Reporting": ["PushReportingTests"],
    "PushViews/Simulation": ["PushRoutingTests", "PushDispatchTests"],
    "PushViews/Web": ["PushWebTests"],
}
# Suites that pass the core, too. Those of the daemon are not here: they take minutes for each fault.
OTHERS = ["ReportReadingTests"]
# Suites of a whole program, for faults that no other suite sees, and the filter that selects them: those of pushctl that
# hardly start a daemon. All of them would take 100 s for each fault.
LAST = {
    "EndToEndTests": r"^EndToEndTests\.Pushctl(CommandLine|Conform|Example|Explain|ExplainDirectory|Input|Reconcile|Show|"
    "Simulate|Test)Tests/"
}
# Programs that those suites start.
PROGRAMS = ["pushctl", "pushrouterd"]
TARGETS = sorted({target for targets in OWN.values() for target in targets}) + OTHERS
STAGES = ["own suites", "other suites", "pushctl's suites"]
# Each kind as often as it stands here.
KINDS = ["bound", "call", "number", "equal", "bound", "logic", "call", "sum", "not", "number", "swap", "word"]
# A file with many places is not drawn again and again, and two faults of one expression would be slow to compile.
FAULTS_OF_A_FILE, LINES_APART = 3, 4
# More are written than asked for: the compiler refuses some.
SPARE = 1.4
SWITCH = """import Glibc

/// Notes that fault `number` is passed, and tells whether it is the one of this run.
public func pushFault(_ number: Int) -> Bool {
    passedFaults[number] = 1
    return number == chosenFault
}
private let chosenFault = getenv("PUSH_FAULT").flatMap { Int(String(cString: $0)) } ?? 0
nonisolated(unsafe) private let passedFaults: UnsafeMutablePointer<UInt8> = {
    let file = getenv("PUSH_FAULTS_PASSED").map { open($0, O_RDWR) } ?? -1
    let flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED
    return mmap(nil, 1 << 16, PROT_READ | PROT_WRITE, flags, file, 0)!.assumingMemoryBound(to: UInt8.self)
}()
"""
# Keeps the test targets above and what they need.
MANIFEST = """
var wanted: Set<String> = [%s]
var open = Array(wanted)
while let name = open.popLast() {
    for case .byNameItem(let name, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
        if wanted.insert(name).inserted { open.append(name) }
    }
}
package.products = []
package.targets.removeAll { !wanted.contains($0.name) }
"""


@functools.lru_cache(None)
def contents(path):
    return (ROOT / path).read_bytes()


class Fault:
    """A place, and the fault that is written there."""

    def __init__(self, line):
        self.path, begin, end, number, self.kind, self.text, self.code = line.split("\t")
        self.begin, self.end, self.line = int(begin), int(end), int(number)
        self.number, self.verdict = 0, None
        self.lines = contents(self.path)[self.begin:self.end].count(b"\n") + 1
        source = contents(self.path).splitlines()[self.line - 1].decode().strip()
        # How equivalent.txt names it; without the number of the line, which changes.
        self.name = f"{self.path.removeprefix(CORE + '/')} | {source} | {self.what()}"

    def what(self):
        """The fault in words."""
        if self.kind in ("call", "swap"):
            return f"{self.text} {'is not called' if self.kind == 'call' else 'are swapped'}"
        if self.kind == "not":
            return f"{self.text} -> {self.text[1:]}"
        if self.kind == "word":
            return f"{self.text} -> {'false' if self.text == 'true' else 'true'}"
        fault = self.code.removeprefix("(@ ? ").removesuffix(f" : {self.text})")
        return f"{self.text} -> " + re.sub(r"^if @ { (.*) } else .*", r"\1", fault)

    def own(self):
        folder = self.path.removeprefix(CORE + "/")
        names = [name for name in OWN if folder.startswith(name + "/")]
        if not names:
            sys.exit(f"faults.py: OWN names no suite for {folder}")
        return OWN[max(names, key=len)]

    def __str__(self):
        return f"{self.number} {self.path.removeprefix(CORE + '/')}:{self.line} {self.kind}: {self.what()}"


def places(work, only):
    """All places where a fault can be written."""
    library = pathlib.Path(shutil.which("swiftc")).resolve().parents[1] / "lib/swift/host"
    mutator = work / "mutator"
    if not mutator.exists() or mutator.stat().st_mtime < (HERE / "Mutator.swift").stat().st_mtime:
        subprocess.run(
            ["swiftc", "-swift-version", "6", HERE / "Mutator.swift", "-o", mutator, "-I", library, "-L", library,
             "-lSwiftSyntax", "-lSwiftParser", "-lSwiftOperators", "-Xlinker", "-rpath", "-Xlinker", library], check=True)
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / CORE).rglob("*.swift"))
    if only:
        files = [path for path in files if any(path.startswith(f"{CORE}/{folder}/") for folder in only)]
    listed = subprocess.run([mutator, *files], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [Fault(line) for line in listed.splitlines()]


def draw(faults, seed, count):
    """Takes faults by seed, each kind in its turn, spread over the files."""
    generator = random.Random(seed)
    generator.shuffle(faults)
    kinds = collections.defaultdict(list)
    for fault in faults:
        kinds[fault.kind].append(fault)
    drawn, taken = [], collections.defaultdict(list)
    while len(drawn) < count and any(kinds[kind] for kind in KINDS):
        for kind in KINDS:
            while kinds[kind]:
                fault = kinds[kind].pop()
                others = taken[fault.path]
                if len(others) < FAULTS_OF_A_FILE and all(
                        other.line - fault.line - fault.lines >= LINES_APART or
                        fault.line - other.line - other.lines >= LINES_APART for other in others):
                    others.append(fault)
                    drawn.append(fault)
                    break
    for number, fault in enumerate(drawn[:count], start=1):
        fault.number = number
    return drawn[:count]


def write(path, data):
    """Writes a file only if it differs: the build compares times."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy(package, faults):
    """The package with the faults, in a directory of its own; files that are there and equal stay untouched."""
    by_file = collections.defaultdict(list)
    for fault in faults:
        by_file[fault.path].append(fault)
    kept = {CORE + f"/{module}/PushFault.swift" for module in {name.split("/")[0] for name in OWN}}
    for name in kept:
        write(package / name, SWITCH.encode())
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
        stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, package / name
        kept.add(name)
        if source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():
                target.symlink_to(os.readlink(source))
        elif source.is_file():
            data = source.read_bytes()
            for fault in sorted(by_file[name], key=lambda fault: -fault.begin):
                old = data[fault.begin:fault.end]
                switch = b"pushFault(%d)" % fault.number
                new = switch.join(part.replace(b"\0", old) for part in fault.code.encode().replace(b"@@", b"\0").split(b"@"))
                data = data[:fault.begin] + new + data[fault.end:]
            if name == "Package.swift":
                data = data.replace(b".treatAllWarnings(as: .error)", b'.unsafeFlags(["-suppress-warnings"])')
                data += (MANIFEST % ", ".join(f'"{target}"' for target in [*TARGETS, *LAST, *PROGRAMS])).encode()
            write(target, data)
            target.chmod(source.stat().st_mode)
    for path in [*package.glob("Sources/**/*.swift"), *package.glob("Tests/**/*.swift")]:
        if str(path.relative_to(package)) not in kept:
            path.unlink()


def build(package, faults, refused):
    """Builds the copy. Leaves out the faults that the compiler refuses, and remembers them."""
    while True:
        copy(package, [fault for fault in faults if fault.name not in refused])
        done = subprocess.run(
            ["swift", "build", "--build-tests", "-debug-info-format", "none",
             "-Xswiftc", "-continue-building-after-errors"], cwd=package, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            return
        before = len(refused)
        for name, line in set(re.findall(rf"^{re.escape(str(package))}/(\S+):(\d+):\d+: error:", done.stdout, re.M)):
            near = [fault for fault in faults if fault.path == name and fault.name not in refused]
            near.sort(key=lambda fault: abs(fault.line - int(line)))
            refused.update(fault.name for fault in near[:1])
        if len(refused) == before:
            sys.exit(done.stdout[-8000:] + "\nfaults.py: the copy does not build")
        print(f"the compiler refuses {len(refused) - before}", flush=True)
        (package.parent / "refused").write_text("\n".join(sorted(refused)))


class Tests:
    """The suites of the copy."""

    def __init__(self, package):
        self.package, self.seconds, self.passed = package, {}, {}

    def run(self, target, fault, limit, passed=None):
        """What sees a fault among the tests of a target: nothing, the first failed test, or a crash or hang."""
        environment = dict(
            os.environ, PUSH_FAULT=str(fault), PUSH_TEST_SEED="1", NO_COLOR="1", SWIFT_BACKTRACE="enable=no")
        if passed:
            environment["PUSH_FAULTS_PASSED"] = str(passed)
        process = subprocess.Popen(
            [self.package / ".build/debug/pushrouterdPackageTests.xctest", "--testing-library", "swift-testing",
             "--filter", LAST.get(target, rf"^{target}\."), "--skip", "WithoutRoot"], cwd=self.package, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            text=True, errors="replace")
        hung = threading.Event()

        def end():
            hung.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(limit, end)
        timer.start()
        seen = last = None
        for line in process.stdout:
            last = line.strip() or last
            if "✘" in line[:10]:
                seen = line[line.index("✘"):].strip()
                break
        if seen:
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        status = process.wait()
        timer.cancel()
        if hung.is_set():
            return f"no end after {limit:.0f} s"
        return seen or (f"status {status} after: {last}" if status else None)

    def without_fault(self, target):
        """Runs a target once without a fault: which places it passes, and how long it takes."""
        passed = self.package.parent / f"passed-{target}"
        passed.write_bytes(bytes(1 << 16))
        begin = time.monotonic()
        seen = self.run(target, 0, 1800, passed)
        if seen:
            sys.exit(f"faults.py: {target} fails without a fault: {seen}")
        self.seconds[target], self.passed[target] = time.monotonic() - begin, passed.read_bytes()
        print(f"{target}: {self.seconds[target]:.0f} s without a fault", flush=True)

    def see(self, fault, targets):
        """The first target that sees a fault, and what it says."""
        for target in sorted(targets, key=self.seconds.get):
            if self.passed[target][fault.number]:
                seen = self.run(target, fault.number, 60 + 5 * self.seconds[target])
                if seen:
                    return f"{target}: {seen}"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--fault", action="append", type=int, default=[])
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    begin = time.monotonic()
    os.nice(5)
    work = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="faults-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    try:
        sys.exit(run(options, work, begin))
    finally:
        if not options.keep:
            shutil.rmtree(work)


def run(options, work, begin):
    drawn = draw(places(work, options.only), options.seed, round(options.count * SPARE))
    for fault in drawn:
        fault.own()
    if options.list:
        print(*drawn, sep="\n")
        return 0
    remembered = work / "refused"
    refused = set(remembered.read_text().splitlines()) if remembered.exists() else set()
    build(work / "package", drawn, refused)
    faults = [fault for fault in drawn if fault.name not in refused][:options.count]
    compiled = time.monotonic()
    print(f"built in {compiled - begin:.0f} s; the compiler refused {sum(f.name in refused for f in drawn)}", flush=True)
    equivalent = set()
    if (HERE / "equivalent.txt").exists():
        equivalent = {line for line in (HERE / "equivalent.txt").read_text().splitlines() if " | " in line}
    kept = work / "seen"
    before = dict(line.split("\t") for line in kept.read_text().splitlines()) if kept.exists() else {}
    if options.fault:
        faults = [fault for fault in faults if fault.number in options.fault]
        before = {}
    for fault in faults:
        fault.verdict = before.get(fault.name)
    tests = Tests(work / "package")
    left = faults
    for stage in STAGES:
        def targets(fault):
            others = [name for name in TARGETS if name not in fault.own()]
            return {"own suites": fault.own(), "other suites": others}.get(stage, list(LAST))

        def judge(fault):
            seen = tests.see(fault, targets(fault))
            if seen:
                fault.verdict = stage
                with kept.open("a") as file:
                    file.write(f"{fault.name}\t{stage}\n")
            print(f"{'seen' if seen else 'not seen'} by {stage}: {fault}" + (f"\n    {seen[:150]}" if seen else ""),
                  flush=True)

        left = [fault for fault in left if not fault.verdict and fault.name not in equivalent]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(tests.without_fault, {name for fault in left for name in targets(fault)} - set(tests.seconds)))
            list(pool.map(judge, left))
    return report(faults, equivalent, tests, time.monotonic() - begin)


def report(faults, equivalent, tests, seconds):
    """Prints the figures; tells whether enough faults are seen."""
    none = [fault for fault in faults if fault.name in equivalent]
    survived = [fault for fault in faults if not fault.verdict and fault not in none]
    print("\n== equivalent", *none, sep="\n")
    print("\n== survived", *(
        f"{fault}{'' if any(passed[fault.number] for passed in tests.passed.values()) else ' (no test passes it)'}"
        f"\n    {fault.name}" for fault in survived), sep="\n")
    by = collections.Counter(fault.verdict for fault in faults)
    real = len(faults) - len(none)
    own, others, last = (by[stage] for stage in STAGES)
    print(f"\n{len(faults)} faults: {own} seen by their own suites, {others} by others, {last} by those of pushctl, "
          f"{len(none)} equivalent, {len(survived)} survived; "
          f"{100 * (real - len(survived)) / max(real, 1):.1f} % of those that are not equivalent are seen; "
          f"{seconds / 60:.0f} minutes")
    return 0 if len(survived) <= real * 0.1 else 1


if __name__ == "__main__":
    main()
