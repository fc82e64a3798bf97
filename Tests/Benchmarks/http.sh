#!/usr/bin/env bash
# Measures http handlers a second, end to end and durable: accepted, committed, posted, answered, decided, committed,
# reported. Compares them with curl --parallel with the same number of requests of the same length to the same server,
# alternately. The goal is a ratio of at least 0.5.
#
#   Tests/Benchmarks/http.sh [ROUNDS] [REQUESTS] [AT_ONCE]
#
# curl stores nothing. So the script also prints how many deliveries without a handler (discard) the same daemon
# accepts, commits and reports, the number of commits for each request, and the duration of the last ones: each request
# waits for two commits, and at most AT_ONCE requests share one: with 128 there are fewer waits for the disk.
# WORK=/dev/shm keeps all files in memory, which shows the disk's share.
# Needs gcc and curl. BUILD=DIR takes the programs from there, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} requests=${2:-5000} at_once=${3:-32}
work=$(mktemp -d "${WORK:-/var/tmp}/pushrouterd-http.XXXXXX")
daemon='' server=''
trap 'kill $daemon $server 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

build=${BUILD:-.build/release}
[[ -n ${BUILD:-} ]] || swift build -c release >&2
gcc -O2 -o "$work/server" Tests/Benchmarks/http/server.c
"$work/server" >"$work/port" &
server=$!
until [[ -s $work/port ]]; do sleep 0.01; done
url=http://127.0.0.1:$(<"$work/port")/push
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Dispatch]\nHandlersMax=%s\n' "$at_once" >"$work/config/pushrouterd.conf"
printf '[Handler]\nType=http\nURL=%s\nMaxConcurrent=%s\nConnections=%s\n' "$url" "$at_once" "$at_once" \
  >"$work/config/handlers.d/web.handler"
printf '[Match]\n[Route]\nHandler=web\n' >"$work/config/routes.d/10-web.route"
printf '[Handler]\nType=discard\n' >"$work/config/handlers.d/nobody.handler"
printf '[Match]\nData=for nobody\n[Route]\nHandler=nobody\n' >"$work/config/routes.d/05-nobody.route"
"$build/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>"$work/journal" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
awk -v count="$requests" 'BEGIN { while (count--) print "{\"order\":\"1017\",\"title\":\"On its way\"}" }' >"$work/payloads"
sed 's/1017/1017","for":"nobody/' "$work/payloads" >"$work/payloads-for-nobody"
# A body as long as the daemon's: the object that a handler gets, and its headers.
head -c 420 /dev/zero | tr '\0' x >"$work/body"
headers=()
for name in specversion id source type expirytime seq n op callback platform route handler time; do
  headers+=(-H "ce-$name: 2026-11-21T03:08:00.120Z")
done

# Injects a file, and sets "rate".
inject() {
  local start took
  start=$(date +%s%N)
  "$build/pushctl" --runtime "$work/runtime" inject --wait --json - <"$1" >"$work/lines"
  took=$(($(date +%s%N) - start))
  handled=$(grep -c '"outcome":"handled"' "$work/lines" || true)
  [[ $handled == "$requests" ]] || { echo "only $handled of $requests were handled" >&2; exit 1; }
  rate=$((requests * 1000000000 / took))
}
# A number of status, by its unique name.
status() {
  "$build/pushctl" --runtime "$work/runtime" status --json | tr -d ' \n' | grep -o "\"$1\":[0-9]*" | cut -d: -f2
}

echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
sum=0
for ((round = 1; round <= rounds; round++)); do
  inject "$work/payloads-for-nobody"
  accepted=$rate commits=$(status transactions)
  inject "$work/payloads"
  ours=$rate commits=$(($(status transactions) - commits)) took=$(status last_commit_us)
  start=$(date +%s%N)
  curl --silent --show-error --no-progress-meter --parallel --parallel-max "$at_once" --data-binary "@$work/body" \
    -H 'Content-Type: application/json' "${headers[@]}" "$url?[1-$requests]" >/dev/null
  peer=$((requests * 1000000000 / ($(date +%s%N) - start)))
  ratio=$((ours * 100 / peer))
  sum=$((sum + ratio))
  echo "round $round: pushrouterd $ours/s, curl --parallel $peer/s, ratio 0.$(printf '%02d' $ratio);" \
    "discard $accepted/s; $((requests / commits)) requests a commit, the last took $took us"
done
echo "mean ratio, of 100: $((sum / rounds)) (wanted: 50)"
