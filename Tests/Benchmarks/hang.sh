#!/usr/bin/env bash
# Measures a stop while handlers hang: starts 300 programs that sleep for 25 s, then sends SIGTERM to pushrouterd and to
# the webhook program. Prints how many programs ran, how long the stop took, and how many were left a second later;
# fails if pushrouterd leaves any, or takes longer than a deadline.
#
#   Tests/Benchmarks/hang.sh [PROGRAMS]
#
# Needs gcc, and webhook (Debian's package) for that peer. BUILD=DIR takes the programs from there, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs=${1:-300}
work=$(mktemp -d "${WORK:-/var/tmp}/pushrouterd-hang.XXXXXX")
server='' callers=''
sleeping() { pgrep -f "^$work/hang" || true; }
sleepers() { sleeping | wc -l; }
cleanup() {
  # shellcheck disable=SC2086  # There may be none.
  kill $server $callers 2>/dev/null || true
  # The programs that webhook left running.
  # shellcheck disable=SC2046  # Each is a word.
  kill $(sleeping) 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

build=${BUILD:-.build/release}
[[ -n ${BUILD:-} ]] || swift build -c release >&2
echo 'int sleep(unsigned); int main(void) { return (int)sleep(25); }' >"$work/hang.c"
gcc -O2 -static -o "$work/hang" "$work/hang.c"
gcc -O2 -o "$work/callers" Tests/Benchmarks/exec/callers.c
echo '{"order":"1017"}' >"$work/payload"

# Waits until all programs run, ends the server, and prints the number of programs left.
finish() {
  for ((i = 0; i < 3000; i++)); do [[ $(sleepers) -lt $programs ]] || break; sleep 0.01; done
  ran=$(sleepers)
  start=$(date +%s%N)
  kill -TERM "$server"
  wait "$server" 2>/dev/null || true
  took=$((($(date +%s%N) - start) / 1000000))
  server=''
  sleep 1
  left=$(sleepers)
  echo "$1: $ran programs ran, the stop took $took ms, $left were left a second later"
  kill $callers 2>/dev/null || true
  wait $callers 2>/dev/null || true
  callers=''
}

mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Dispatch]\nHandlersMax=%s\n' "$programs" >"$work/config/pushrouterd.conf"
printf '[Handler]\nType=exec\nExec=%s/hang\n' "$work" >"$work/config/handlers.d/hang.handler"
printf '[Match]\n[Route]\nHandler=hang\n' >"$work/config/routes.d/10-hang.route"
"$build/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>"$work/log" &
server=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
"$work/callers" inject "$work/runtime/inject.sock" "$programs" "$programs" "$work/payload" >/dev/null 2>&1 &
callers=$!
finish pushrouterd
[[ $ran == "$programs" && $left == 0 && $took -lt 10000 ]] || { echo "pushrouterd left programs, or took too long" >&2; exit 1; }

command -v webhook >/dev/null || exit 0
port=$((20000 + $$ % 10000))
printf '[{"id":"noop","execute-command":"%s/hang","include-command-output-in-response":true}]' "$work" >"$work/hooks.json"
webhook -hooks "$work/hooks.json" -ip 127.0.0.1 -port "$port" >"$work/webhook.log" 2>&1 &
server=$!
until (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.01; done
"$work/callers" http "$port" "$programs" "$programs" "$work/payload" >/dev/null 2>&1 &
callers=$!
finish webhook
