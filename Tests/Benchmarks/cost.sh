#!/usr/bin/env bash
# Measures the cost of one accepted delivery in figures that do not depend on the machine's load: instructions of each
# thread (valgrind's callgrind), system calls and wake-ups (strace), bytes written to the disk. Each figure is the
# difference between a long run and a short one, so that the daemon's start and stop do not count.
#
#   [CONFIG=DIRECTORY] Tests/Benchmarks/cost.sh [CONNECTIONS] [WINDOW] [LINE_FILE]
#
# Needs gcc, valgrind and, unless CALLS=no, strace.
set -euo pipefail
cd "$(dirname "$0")/../.."
connections=${1:-1} window=${2:-1} line=${3:-}
short=1000 long=4000
work=$(mktemp -d /var/tmp/pushrouterd-cost.XXXXXX)
daemon=
cleanup() { [[ -z $daemon ]] || kill -9 "$daemon" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

swift build -c release --product pushrouterd >&2
# Valgrind cannot read Swift's debug information; the names of functions stay.
objcopy --strip-debug .build/release/pushrouterd "$work/pushrouterd"
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
if [[ -z $line ]]; then
  line=$work/line
  printf '{"op":"deliver","id":"%s","platform":"android","app":"com.example.shop","device":"device-@","payload":%s}\n' \
    '@-#' "$(tr -d '\n' <Tests/Benchmarks/ingest/payload.json)" >"$line"
fi

# Runs the daemon under the command in "$@" while COUNT requests are sent; returns after its end.
run() {
  local count=$1
  shift
  rm -rf "$work/state" "$work/runtime"
  mkdir "$work/runtime"
  "$@" "$work/pushrouterd" --config "${CONFIG:-etc/pushrouterd}" --state "$work/state" --runtime "$work/runtime" \
    >"$work/output" 2>&1 &
  local parent=$!
  until [[ -S $work/runtime/inject.sock ]]; do
    kill -0 $parent 2>/dev/null || { cat "$work/output" >&2; exit 1; }
    sleep 0.05
  done
  daemon=$(pgrep -n -f -- "--state $work/state")
  "$work/load" "$work/runtime/inject.sock" "$connections" "$window" "${count}r" "$line" >"$work/result"
  grep -q ' 0 errors' "$work/result" || { cat "$work/result" >&2; exit 1; }
  # SIGTERM makes the daemon apply the rest of the log to the ledger: that is part of the cost.
  kill -TERM "$daemon"
  wait
  daemon=
}

per_delivery() { awk -v short="$1" -v long="$2" -v n=$((long - short)) 'BEGIN { printf "%.1f", (long - short) / n }'; }

# Thread 1 is the loop's; the others are in order of their creation: the journal's, the ledger's, the log's, then
# others.
instructions() {
  run "$1" valgrind --quiet --tool=callgrind --separate-threads=yes --callgrind-out-file="$work/callgrind.$1"
  for file in "$work/callgrind.$1"-*; do
    awk -v name="${file##*-}" '/^(summary|totals):/ { total = $2 } END { print name + 0, total + 0 }' "$file"
  done | sort -n >"$work/instructions.$1"
}
instructions $short
instructions $long
echo "$connections connections x $window, $((long - short)) deliveries"
join "$work/instructions.$short" "$work/instructions.$long" | while read -r thread before after; do
  printf 'instructions of thread %d: %s\n' "$thread" "$(per_delivery "$before" "$after")"
done

[[ ${CALLS:-yes} != no ]] || exit 0
calls() {
  run "$1" strace --seccomp-bpf -f -c -o "$work/calls.$1"
  awk '$NF == "total" { print $(NF - 1) ~ /^[0-9]+$/ && NF == 5 ? $3 : $4 }' "$work/calls.$1"
}
count_of() { awk -v name="$1" '$NF == name { print $4 }' "$2" | head -1; }
calls $short >/dev/null
calls $long >/dev/null
for name in read recvfrom write pwrite64 sendto sendmsg epoll_wait epoll_ctl futex timerfd_settime clock_gettime fdatasync; do
  before=$(count_of "$name" "$work/calls.$short")
  after=$(count_of "$name" "$work/calls.$long")
  printf 'system calls, %-16s %s\n' "$name:" "$(per_delivery "${before:-0}" "${after:-0}")"
done
