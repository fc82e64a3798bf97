#!/usr/bin/env bash
# Durable acknowledgements a second over the socket, beside redis-server with appendfsync always on the same disk and
# the same payload. Alternates the two ROUNDS times and prints every figure: quote the ratio of medians.
#
#   Tests/Benchmarks/ingest.sh [ROUNDS] [SECONDS] [DIRECTORY]
#
# Needs gcc; redis-server and redis-benchmark for the peer, else it is left out. DIRECTORY is on the disk to measure.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} seconds=${2:-3} base=${3:-/var/tmp}
work=$(mktemp -d "$base/pushrouterd-ingest.XXXXXX")
pids=()
cleanup() { kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

swift build -c release --product pushrouterd >&2
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
payload=Tests/Benchmarks/ingest/payload.json
printf '{"op":"deliver","platform":"android","app":"com.example.shop","device":"device-@","payload":%s}\n' \
  "$(tr -d '\n' <"$payload")" >"$work/line"

mkdir "$work/runtime"
.build/release/pushrouterd --config etc/pushrouterd --state "$work/state" --runtime "$work/runtime" 2>/dev/null &
pids+=($!)
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
redis=no
if command -v redis-server redis-benchmark >/dev/null; then
  redis=yes
  redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --appendonly yes --appendfsync always \
    --save "" >/dev/null &
  pids+=($!)
  until [[ -S $work/redis.sock ]]; do sleep 0.01; done
fi

ours() { printf 'pushrouterd  %2d connections x %2d  ' "$1" "$2"; "$work/load" "$work/runtime/inject.sock" "$1" "$2" "$seconds" "$work/line"; }
peer() {
  printf 'redis        %2d connections x %2d  ' "$1" "$2"
  redis-benchmark -s "$work/redis.sock" -c "$1" -P "$2" -n "$3" -q XADD s '*' m "$(tr -d '\n' <"$payload")" |
    tr '\r' '\n' | grep -o '[0-9.]* requests per second.*' | tail -1
  redis-cli -s "$work/redis.sock" DEL s >/dev/null
}
memory() { grep VmRSS "/proc/$daemon/status"; }

echo "idle: $(memory)"
for ((round = 1; round <= rounds; round++)); do
  echo "round $round"
  for shape in '1 1 3000' '8 1 15000' '50 1 60000' '8 64 150000'; do
    read -r connections window count <<<"$shape"
    ours "$connections" "$window"
    if [[ $redis == yes ]]; then peer "$connections" "$window" "$count"; fi
  done
done
echo "afterwards: $(memory)"
