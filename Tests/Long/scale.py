#!/usr/bin/env python3
"""A daemon with many devices and deliveries beside one with one percent of them.

    scale.py [--programs DIR] [--devices N] [--deliveries N] [--root DIR] [--json FILE]

The long form is --devices 1000000 --deliveries 10000000: about 8 GB below DIR (/var/tmp). Each daemon learns its devices by
`op: token`, takes its deliveries, is killed, and starts. Then it is measured: the time to be ready, its memory, the rate of further
deliveries, the time of one delivery alone, of `pushctl show` of one push, of a query for one device, of `pushctl devices` of one, and of
`pushctl report` of the last hour. Prints both and their ratio; ends with 1 where the large one needs more than the bound. Needs gcc.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
specification = importlib.util.spec_from_file_location("harness", HERE / "Tests/Break/break.py")
harness = importlib.util.module_from_spec(specification)
specification.loader.exec_module(harness)

CONNECTIONS = 10
# The most of the large one, as a multiple of the small one, or in its unit where that is more: the machine is busy.
BOUNDS = {
    "ready, ms": (10, 5000), "resident, MiB": (100, 1024), "one delivery, ms": (2, 20), "show of one push, ms": (3, 500),
    "query of a device, ms": (100, 5000), "device by name, ms": (100, 10_000), "report of an hour, ms": (100, 60_000),
}


def load(program, socket, amount, window, line, each, root):
    path = root / "line"
    path.write_text(json.dumps(line) + "\n")
    told = subprocess.run(
        [program, socket, str(CONNECTIONS), str(window), f"{amount}r", path, str(each)], check=True, capture_output=True,
        text=True).stdout
    return float(told.split()[0]), told.strip()


def milliseconds(act):
    times = []
    for _ in range(5):
        begin = time.monotonic()
        act()
        times.append((time.monotonic() - begin) * 1000)
    return round(sorted(times)[2], 1)


def measure(programs, program, devices, deliveries, root):
    files = {"handlers.d/nobody": "[Handler]\nType=discard\n", "routes.d/99-all": "[Route]\nHandler=nobody\n"}
    root.mkdir()
    # The journal of ten million outcomes is not what is measured.
    it = harness.Daemon(root, programs, "[Journal]\nSuccessLevel=debug\n", files)
    it.start()
    figures = {}
    socket = root / "run/inject.sock"
    each = devices // CONNECTIONS
    figures["devices, a second"], _ = load(program, socket, devices, 64, {
        "op": "token", "kind": "new", "platform": "android", "app": "shop", "device": "d-@-#", "token": "t-@-#"}, each, root)
    figures["deliveries, a second"], told = load(program, socket, deliveries, 64, {
        "op": "deliver", "platform": "android", "app": "shop", "device": "d-@-#", "payload": {"k": "v", "text": "x" * 200}}, each, root)
    print(f"    {devices} devices, {deliveries} deliveries: {told}", flush=True)
    it.sync()
    it.kill()
    os.sync()
    figures["ready, ms"] = round((it.start(300) or 300) * 1000)
    figures["resident, MiB"] = it.resident()
    figures["further deliveries, a second"], _ = load(program, socket, min(deliveries, 20_000), 64, {
        "op": "deliver", "platform": "android", "app": "shop", "device": "d-@-#", "payload": {"k": "v"}}, each, root)
    it.sync()
    figures["one delivery, ms"] = milliseconds(lambda: it.deliver(platform="android", app="shop", device="d-3-00000007"))

    def ask(*words):
        done = subprocess.run([programs / "pushctl", *words], env=it.environment, capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise SystemExit(f"scale.py: pushctl {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")

    figures["show of one push, ms"] = milliseconds(lambda: ask("show", str(devices + deliveries // 2)))
    figures["query of a device, ms"] = milliseconds(lambda: ask("show", "--query", "device:d-3-00000007", "--limit", "5"))
    figures["device by name, ms"] = milliseconds(lambda: ask("devices", "--device", "d-3-00000007"))
    figures["report of an hour, ms"] = milliseconds(lambda: ask("report", "--since", "-1h"))
    figures["on the disk, MiB"] = sum(path.stat().st_blocks for path in (root / "state").rglob("*")) >> 11
    it.kill()
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, default=HERE / ".build/debug")
    parser.add_argument("--devices", type=int, default=2000)
    parser.add_argument("--deliveries", type=int, default=20_000)
    parser.add_argument("--root", default="/var/tmp")
    parser.add_argument("--json", help="also write the figures to this file")
    choices = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scale.", dir=choices.root) as directory:
        root = pathlib.Path(directory)
        program = root / "load"
        subprocess.run(["gcc", "-O2", "-o", program, HERE / "Tests/Benchmarks/ingest/load.c"], check=True)
        programs = choices.programs.resolve()
        small = measure(programs, program, max(choices.devices // 100, CONNECTIONS), choices.deliveries // 100, root / "small")
        large = measure(programs, program, choices.devices, choices.deliveries, root / "large")
    wrong = []
    for name, value in large.items():
        print(f"{name}: {small[name]:g} and {value:g}")
        times, least = BOUNDS.get(name, (0, 0))
        if times and value > max(times * small[name], least):
            wrong.append(f"{name}: {value:g}, more than {times} times {small[name]:g}")
    for text in wrong:
        print(f"scale.py: {text}")
    if choices.json:
        pathlib.Path(choices.json).write_text(json.dumps({
            "devices": choices.devices, "deliveries": choices.deliveries, "small": small, "large": large, "wrong": len(wrong)}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
