#!/usr/bin/env bash
# Measures how late a handler that never ends is killed: its last sign of life against its deadline in the ledger.
#
#   Tests/Benchmarks/deadline.sh [HANDLERS] [AT_ONCE]
#
# Prints p50, p99 and the maximum over HANDLERS runs (1000), AT_ONCE (10) at a time. All handlers together write 50,000
# signs of life a second, so that they do not disturb each other. Needs gcc and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
handlers=${1:-1000} at_once=${2:-10}
work=$(mktemp -d /tmp/pushrouterd-deadline.XXXXXX)
trap 'kill "$daemon" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

swift build -c release --product pushrouterd >&2
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime" "$work/lives"
gcc -O2 -static -o "$work/beat" Tests/Benchmarks/deadline/beat.c
printf '[Handler]\nType=exec\nExec=%s/beat %s/lives %s\n' "$work" "$work" $((at_once * 20)) >"$work/config/handlers.d/beat.handler"
printf '[Match]\n[Route]\nHandler=beat\nDeadline=500ms\n' >"$work/config/routes.d/10-beat.route"
.build/release/pushrouterd --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>/dev/null &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done

python3 - "$work" "$handlers" "$at_once" <<'PYTHON'
import json, socket, sqlite3, struct, sys
work, handlers, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connection = socket.socket(socket.AF_UNIX)
connection.connect(f"{work}/runtime/inject.sock")
lines = connection.makefile("rb")
sent = decided = 0
while decided < handlers:
    while sent < handlers and sent - decided < at_once:
        connection.sendall(b'{"op":"deliver","payload":{"k":"v"},"wait":"outcome"}\n')
        sent += 1
    decided += b'"outcome"' in lines.readline()
control = socket.socket(socket.AF_UNIX)
control.connect(f"{work}/runtime/control.sock")
control.sendall(b'{"op":"sync"}\n')
assert b'"complete":true' in control.makefile("rb").readline()
ledger = sqlite3.connect(f"file:{work}/state/ledger.db?mode=ro", uri=True)
late, decisions = [], []
for seq, deadline, total, outcome in ledger.execute("SELECT seq, deadline_ns, total_us, outcome FROM invocations"):
    assert outcome == "timed_out", outcome
    decisions.append(total / 1000 - 500)
    try:
        with open(f"{work}/lives/{seq}", "rb") as file:
            late.append((struct.unpack("q", file.read())[0] - deadline) / 1e6)
    except (FileNotFoundError, struct.error):
        pass
for name, values in [("last sign of life", late), ("outcome decided", decisions)]:
    values.sort()
    at = lambda share: values[min(len(values) - 1, int(len(values) * share))]
    print(f"{name:18} after the deadline: p50 {at(.5):.2f} ms  p99 {at(.99):.2f} ms  max {values[-1]:.2f} ms  ({len(values)} runs)")
PYTHON
for ((i = 0; i < 100; i++)); do [[ -z $(pgrep -f "$work/beat" || true) ]] && break; sleep 0.01; done
echo "processes left: $(pgrep -fc "$work/beat" || true)"
