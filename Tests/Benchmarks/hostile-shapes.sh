#!/usr/bin/env bash
# Holds what one request of the largest size costs the daemon to three times what an ordinary payload, repeated to that
# size, costs: in instructions of all threads (valgrind's callgrind), counted between two moments at which the daemon has
# nothing to do.
#
#   Tests/Benchmarks/hostile-shapes.sh [SHAPE...]
#
# Needs gcc, python3, valgrind and the release build, in BUILD or .build/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
count=6 factor=3
work=$(mktemp -d /var/tmp/pushrouterd-hostile.XXXXXX)
daemon=
cleanup() { [[ -z $daemon ]] || kill -9 "$daemon" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

# Valgrind cannot read what Swift has for debuggers; the names of functions stay.
objcopy --strip-debug "${BUILD:-.build/release}/pushrouterd" "$work/pushrouterd"
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
python3 Tests/Benchmarks/hostile-shapes.py "$work" Tests/Benchmarks/ingest/payload.json

# Starts the daemon with a configuration.
start() {
  [[ -z $daemon ]] || { kill -9 "$daemon"; wait "$daemon" 2>/dev/null || true; }
  rm -rf "$work/state" "$work/runtime" "$work"/callgrind.*
  mkdir "$work/runtime"
  valgrind --quiet --tool=callgrind --callgrind-out-file="$work/callgrind.out" "$work/pushrouterd" \
    --config "$work/$1" --state "$work/state" --runtime "$work/runtime" >"$work/output" 2>&1 &
  daemon=$!
  until [[ -S $work/runtime/inject.sock ]]; do
    kill -0 "$daemon" 2>/dev/null || { cat "$work/output" >&2; exit 1; }
    sleep 0.05
  done
}

# Sends a shape so many times, and waits until the ledger has it: until the daemon uses no more of the processor.
send() {
  local before after
  "$work/load" "$work/runtime/inject.sock" 1 1 "${2}r" "$1" >"$work/result"
  grep -q ' 0 errors' "$work/result" || { echo "$1: $(cat "$work/result")" >&2; exit 1; }
  after=$(ticks)
  until before=$after; sleep 0.5; after=$(ticks); ((after - before <= 1)); do :; done
}

ticks() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }

# The instructions of one request of a shape.
cost() {
  local shape
  shape=$(basename "$1" .line)
  # Ids begin anew with each connection, and the same one may not stand for two requests.
  sed "s/\"id\":\"@-#\"/\"id\":\"warm-$shape-#\"/" "$1" >"$work/warm"
  send "$work/warm" 1
  callgrind_control --zero "$daemon" >/dev/null 2>&1
  sed "s/\"id\":\"@-#\"/\"id\":\"$shape-#\"/" "$1" >"$work/line"
  send "$work/line" $count
  rm -f "$work"/callgrind.out.*
  callgrind_control --dump "$daemon" >/dev/null 2>&1
  cat "$work"/callgrind.out.* | awk -v count=$count '/^(summary|totals):/ { total = $2 } END { print int(total / count) }'
}

status=0
ordinary=
# A shape that begins so is sent to a daemon with many routes and tracks.
for config in plain routes; do
  shapes=("$work"/*.line)
  start $config
  if [[ $config == plain ]]; then
    ordinary=$(cost "$work/ordinary.line")
    printf '%-28s %9d instructions\n' ordinary "$ordinary"
  fi
  for line in "${shapes[@]}"; do
    shape=$(basename "$line" .line)
    [[ $shape != ordinary ]] || continue
    (($# == 0)) || [[ " $* " == *" $shape "* ]] || continue
    [[ $shape == routes-* ]] && of=routes || of=plain
    [[ $of == "$config" ]] || continue
    instructions=$(cost "$line")
    printf '%-28s %9d instructions, %s times\n' "$shape" "$instructions" \
      "$(awk -v a="$instructions" -v b="$ordinary" 'BEGIN { printf "%.2f", a / b }')"
    hundredths=$((factor * 100))
    ((instructions * 100 <= hundredths * ordinary)) || status=1
  done
done
((status == 0)) || {
  echo "a shape costs more than its bound" >&2
  exit 1
}
