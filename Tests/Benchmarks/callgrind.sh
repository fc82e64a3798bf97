# shellcheck shell=bash
# Counts the cost of requests to the daemon in instructions of all threads (valgrind's callgrind), between two idle
# moments. To be sourced, at the project's root; needs gcc, valgrind and the release build in BUILD or .build/release.
# Creates $work, and removes it at the end.
work=$(mktemp -d /var/tmp/pushrouterd-callgrind.XXXXXX)
daemon=
cleanup() { [[ -z $daemon ]] || kill -9 "$daemon" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

# Valgrind cannot read Swift's debug information; the names of functions stay.
objcopy --strip-debug "${BUILD:-.build/release}/pushrouterd" "$work/pushrouterd"
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c

# Starts the daemon with a configuration and an empty state directory.
start() {
  [[ -z $daemon ]] || { kill -9 "$daemon"; wait "$daemon" 2>/dev/null || true; }
  rm -rf "$work/state" "$work/runtime" "$work"/callgrind.*
  mkdir "$work/runtime"
  valgrind --quiet --tool=callgrind --callgrind-out-file="$work/callgrind.out" "$work/pushrouterd" \
    --config "$1" --state "$work/state" --runtime "$work/runtime" >"$work/output" 2>&1 &
  daemon=$!
  until [[ -S $work/runtime/inject.sock ]]; do
    kill -0 "$daemon" 2>/dev/null || { cat "$work/output" >&2; exit 1; }
    sleep 0.05
  done
}

# Sends the line of a file so many times, so many at once, and waits until the ledger has it: until the daemon is idle.
send() {
  local before after
  "$work/load" "$work/runtime/inject.sock" 1 "${3:-1}" "${2}r" "$1" >"$work/result"
  grep -q ' 0 errors' "$work/result" || { echo "$1: $(cat "$work/result")" >&2; exit 1; }
  after=$(ticks)
  until before=$after; sleep 0.5; after=$(ticks); ((after - before <= 1)); do :; done
}

ticks() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }

# The instructions for one of so many requests with the line of a file.
cost() {
  callgrind_control --zero "$daemon" >/dev/null 2>&1
  send "$1" "$2"
  rm -f "$work"/callgrind.out.*
  callgrind_control --dump "$daemon" >/dev/null 2>&1
  cat "$work"/callgrind.out.* | awk -v count="$2" '/^(summary|totals):/ { total = $2 } END { print int(total / count) }'
}
