#!/usr/bin/env bash
# Measures worker handlers a second, end to end and durable, and compares them with rsyslog's omprog with a program that
# confirms each message: with a queue on disk that is synced for each, and with one in memory, which stores nothing.
# Alternates. The goal is at least ten times the rate of the queue on disk.
#
#   Tests/Benchmarks/worker.sh [ROUNDS] [MESSAGES] [PIPELINE]
#
# One program each. Needs gcc, python3 and rsyslogd. BUILD=DIR takes the programs from there, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} messages=${2:-5000} pipeline=${3:-32}
work=$(mktemp -d "${WORK:-/var/tmp}/pushrouterd-worker.XXXXXX")
daemon='' peer=''
cleanup() {
  # shellcheck disable=SC2086  # There may be none.
  kill $daemon $peer 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

build=${BUILD:-.build/release}
[[ -n ${BUILD:-} ]] || swift build -c release >&2
gcc -O2 -static -o "$work/answerer" Tests/Benchmarks/worker/answerer.c
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Handler]\nType=worker\nExec=%s/answerer lines\nPipeline=%s\n' "$work" "$pipeline" >"$work/config/handlers.d/one.handler"
printf '[Match]\n[Route]\nHandler=one\n' >"$work/config/routes.d/10-one.route"
"$build/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>"$work/log" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
awk -v count="$messages" 'BEGIN { while (count--) print "{\"order\":\"1017\",\"title\":\"On its way\"}" }' >"$work/payloads"

ours() {
  local start
  start=$(date +%s%N)
  "$build/pushctl" --runtime "$work/runtime" inject --wait --json - <"$work/payloads" >"$work/lines"
  rate=$((messages * 1000000000 / ($(date +%s%N) - start)))
  [[ $(grep -c '"outcome":"handled"' "$work/lines") == "$messages" ]] || { echo "not all were handled" >&2; exit 1; }
}

# rsyslog with a queue of these settings; sets "rate".
omprog() {
  rm -rf "$work/rsyslog"
  mkdir "$work/rsyslog"
  cat >"$work/rsyslog.conf" <<CONFIGURATION
global(workDirectory="$work/rsyslog")
module(load="imuxsock" SysSock.Use="off")
module(load="omprog")
ruleset(name="run" $1) {
  action(type="omprog" binary="$work/answerer confirmations $messages $work/rsyslog/done" confirmMessages="on")
}
input(type="imuxsock" Socket="$work/rsyslog/socket" RateLimit.Interval="0" ruleset="run")
CONFIGURATION
  rsyslogd -n -f "$work/rsyslog.conf" -i "$work/rsyslog/pid" 2>>"$work/rsyslog.log" &
  peer=$!
  until [[ -S $work/rsyslog/socket ]]; do sleep 0.01; done
  local start
  start=$(date +%s%N)
  python3 - "$work/rsyslog/socket" "$messages" <<'PYTHON'
import socket, sys
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sender.connect(sys.argv[1])
for _ in range(int(sys.argv[2])):
    sender.send(b'<13>app: {"order":"1017","title":"On its way"}')
PYTHON
  for ((i = 0; i < 60000; i++)); do [[ ! -e $work/rsyslog/done ]] || break; sleep 0.01; done
  rate=$((messages * 1000000000 / ($(date +%s%N) - start)))
  kill "$peer"
  wait "$peer" 2>/dev/null || true
  peer=''
}

echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
for ((round = 1; round <= rounds; round++)); do
  ours
  mine=$rate
  omprog 'queue.type="Disk" queue.fileName="run" queue.syncQueueFiles="on" queue.checkpointInterval="1"'
  durable=$rate
  omprog 'queue.type="LinkedList"'
  echo "round $round: pushrouterd $mine/s; omprog, queue on disk $durable/s, in memory $rate/s; $((mine / durable)) times the queue on disk"
done
