#!/usr/bin/env bash
# Measures how much adopted processes slow the others: runs of a small exec handler, with and without daemonised helpers
# of a live worker, in turn, without cgroups. Prints the median of the rounds, which should differ by less than 10 %.
#
#   Tests/Benchmarks/adopted.sh [HELPERS] [RUNS] [ROUNDS]
#
# The default is 2000 helpers, 2000 runs and 5 rounds. Needs gcc, python3 and the release build, in BUILD or
# .build/release. Other work on the machine falsifies the result.
set -euo pipefail
cd "$(dirname "$0")/../.."
helpers=${1:-2000} runs=${2:-2000} rounds=${3:-5}
work=$(mktemp -d /var/tmp/pushrouterd-adopted.XXXXXX)
daemon=''
cleanup() {
  [[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

gcc -O2 -static -o "$work/keeper" Tests/Benchmarks/adopted/keeper.c
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Dispatch]\nMode=relay\n' >"$work/config/pushrouterd.conf"
printf '[Handler]\nType=worker\nInstances=1\nExec=%s/keeper\nIdleTimeout=1h\n' "$work" \
  >"$work/config/handlers.d/keeper.handler"
printf '[Handler]\nType=exec\nExec=/bin/true\n' >"$work/config/handlers.d/good.handler"
for kind in keeper good; do
  printf '[Match]\nApp=%s\n[Route]\nHandler=%s\nDeadline=9s\n' $kind $kind >"$work/config/routes.d/50-$kind.route"
done
"${BUILD:-.build/release}/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime" \
  2>"$work/log" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do
  kill -0 "$daemon" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.01
done
python3 Tests/Benchmarks/adopted/adopted.py "$work" "$helpers" "$runs" "$rounds"
