#!/usr/bin/env bash
# exec handlers a second, end to end and durable: accepted, committed, started, run, decided, committed, told. Beside a
# plain C loop of posix_spawn and wait of the same program, alternately.
#
#   Tests/Benchmarks/exec.sh [ROUNDS] [HANDLERS] [AT_ONCE]
#
# Needs gcc. The handler is a static program that does nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} handlers=${2:-5000} at_once=${3:-8}
work=$(mktemp -d /var/tmp/pushrouterd-exec.XXXXXX)
trap 'kill "$daemon" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

swift build -c release >&2
gcc -O2 -o "$work/peer" Tests/Benchmarks/spawn/peer.c
echo 'int main(void) { return 0; }' >"$work/noop.c"
gcc -O2 -static -o "$work/noop" "$work/noop.c"
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Dispatch]\nHandlersMax=%s\n' "$at_once" >"$work/config/pushrouterd.conf"
printf '[Handler]\nType=exec\nExec=%s/noop\n' "$work" >"$work/config/handlers.d/noop.handler"
printf '[Match]\n[Route]\nHandler=noop\n' >"$work/config/routes.d/10-noop.route"
.build/release/pushrouterd --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>/dev/null &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
awk -v count="$handlers" 'BEGIN { while (count--) print "{\"order\":\"1017\",\"title\":\"On its way\"}" }' >"$work/payloads"

for ((round = 1; round <= rounds; round++)); do
  start=$(date +%s%N)
  .build/release/pushctl --runtime "$work/runtime" inject --wait --json - <"$work/payloads" >"$work/lines"
  end=$(date +%s%N)
  handled=$(grep -c '"outcome":"handled"' "$work/lines")
  echo "pushrouterd, $at_once at once: $((handled * 1000000000 / (end - start))) handled/s ($handled of $handlers)"
  "$work/peer" rate "$at_once" "$work/noop"
done
