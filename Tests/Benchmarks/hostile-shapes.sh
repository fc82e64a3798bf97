#!/usr/bin/env bash
# Holds what one request of the largest size costs the daemon to three times what an ordinary payload, repeated to that
# size, costs, whatever is in it: in instructions of all threads (valgrind's callgrind). Each figure is the difference
# between a long run and a short one, so that the start and the end of the daemon do not count.
#
#   Tests/Benchmarks/hostile-shapes.sh [SHAPE...]
#
# Needs gcc, python3, valgrind and the release build, in BUILD or .build/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
short=2 long=12 factor=3
work=$(mktemp -d /var/tmp/pushrouterd-hostile.XXXXXX)
daemon=
cleanup() { [[ -z $daemon ]] || kill -9 "$daemon" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

# Valgrind cannot read what Swift has for debuggers; the names of functions stay.
objcopy --strip-debug "${BUILD:-.build/release}/pushrouterd" "$work/pushrouterd"
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
python3 Tests/Benchmarks/hostile-shapes.py "$work" Tests/Benchmarks/ingest/payload.json

# Runs the daemon with the configuration CONFIG while COUNT times LINE is sent, and prints the instructions.
run() {
  local config=$1 line=$2 count=$3
  rm -rf "$work/state" "$work/runtime" "$work"/callgrind.*
  mkdir "$work/runtime"
  valgrind --quiet --tool=callgrind --callgrind-out-file="$work/callgrind.out" "$work/pushrouterd" \
    --config "$config" --state "$work/state" --runtime "$work/runtime" >"$work/output" 2>&1 &
  daemon=$!
  until [[ -S $work/runtime/inject.sock ]]; do
    kill -0 "$daemon" 2>/dev/null || { cat "$work/output" >&2; exit 1; }
    sleep 0.05
  done
  "$work/load" "$work/runtime/inject.sock" 1 1 "${count}r" "$line" >"$work/result"
  grep -q ' 0 errors' "$work/result" || { echo "$line: $(cat "$work/result")" >&2; exit 1; }
  kill -TERM "$daemon"
  wait "$daemon" || true
  daemon=
  awk '/^(summary|totals):/ { total = $2 } END { print total }' "$work/callgrind.out"
}

cost() {
  local before after
  before=$(run "$1" "$2" $short)
  after=$(run "$1" "$2" $long)
  echo $(((after - before) / (long - short)))
}

status=0
ordinary=$(cost "$work/plain" "$work/ordinary.line")
printf '%-28s %9d instructions\n' ordinary "$ordinary"
for line in "$work"/*.line; do
  shape=$(basename "$line" .line)
  [[ $shape != ordinary ]] || continue
  (($# == 0)) || [[ " $* " == *" $shape "* ]] || continue
  # A shape that begins so is sent to a daemon with many routes and tracks.
  config=$work/plain
  [[ $shape != routes-* ]] || config=$work/routes
  instructions=$(cost "$config" "$line")
  printf '%-28s %9d instructions, %s times\n' "$shape" "$instructions" \
    "$(awk -v a="$instructions" -v b="$ordinary" 'BEGIN { printf "%.2f", a / b }')"
  ((instructions <= factor * ordinary)) || status=1
done
((status == 0)) || echo "a shape costs more than $factor times the ordinary one" >&2
exit $status
