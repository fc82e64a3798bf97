#!/usr/bin/env bash
# Measures durable acknowledgements a second over the socket, and compares them with redis-server with appendfsync
# always on the same disk and the same payload. Alternates the two ROUNDS times and prints every figure: quote the ratio
# of medians.
#
#   Tests/Benchmarks/ingest.sh [--acts] [ROUNDS] [SECONDS] [DIRECTORY]
#
# With --acts the daemon is compared with itself: deliveries with their own message ids, with direct opens of these
# deliveries and session starts that continue a session; and deliveries to a new device each, with session starts that
# begin a session, each on a new device and of a new user.
# Behind each figure are the daemon's costs for a request, which other work on the machine changes less: the CPU time,
# and the bytes written to the disk.
#
# Needs gcc; redis-server and redis-benchmark for the comparison, which is left out without them. DIRECTORY is on the
# disk to measure.
set -euo pipefail
cd "$(dirname "$0")/../.."
acts=no
if [[ ${1:-} == --acts ]]; then acts=yes; shift; fi
rounds=${1:-5} seconds=${2:-3} base=${3:-/var/tmp}
work=$(mktemp -d "$base/pushrouterd-ingest.XXXXXX")
pids=()
cleanup() { kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

swift build -c release --product pushrouterd >&2
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
payload=Tests/Benchmarks/ingest/payload.json
target='"platform":"android","app":"com.example.shop"'
printf '{"op":"deliver",%s,"device":"device-@","payload":%s}\n' "$target" "$(tr -d '\n' <"$payload")" >"$work/line"

mkdir "$work/runtime"
.build/release/pushrouterd --config etc/pushrouterd --state "$work/state" --runtime "$work/runtime" 2>/dev/null &
pids+=($!)
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
redis=no
if [[ $acts == no ]] && command -v redis-server redis-benchmark >/dev/null; then
  redis=yes
  redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --appendonly yes --appendfsync always \
    --save "" >/dev/null &
  pids+=($!)
  until [[ -S $work/redis.sock ]]; do sleep 0.01; done
fi

# Measures LINE_FILE on so many connections, prints the result under NAME, and leaves the replies a second in $speed.
measure() {
  local name=$1 connections=$2 window=$3 line=$4 before after written result
  shift 4
  before=$(processor)
  written=$(written)
  result=$("$work/load" "$work/runtime/inject.sock" "$connections" "$window" "$seconds" "$line" "$@")
  after=$(processor)
  read -r speed _ <<<"$result"
  printf '%-12s %2d connections x %2d  %s  %d us of processor, %d bytes written\n' "$name" "$connections" "$window" \
    "$result" $(((after - before) * (1000000 / $(getconf CLK_TCK)) / (speed * seconds + 1))) \
    $((($(written) - written) / (speed * seconds + 1)))
}
written() { awk '$1 == "write_bytes:" { print $2 }' "/proc/$daemon/io"; }
processor() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }

# Each round and shape has its own ids and devices; otherwise the second would repeat the first.
measure_acts() {
  local connections=$1 window=$2 ids=$3
  local id="0:$ids-@-#%f9fd7ecdf9fd7ecd"
  sed "s/.*\"data\":{/{\"op\":\"deliver\",$target,\"device\":\"device-@\",\"payload\":{\"google.message_id\":\"$id\",/; s/}}}}\$/}}/" \
    "$work/line" >"$work/deliver"
  echo "{\"op\":\"interact\",\"kind\":\"opened\",$target,\"device\":\"device-@\",\"message\":\"$id\"}" >"$work/open"
  echo "{\"op\":\"session\",\"kind\":\"start\",$target,\"device\":\"device-@\"}" >"$work/go-on"
  echo "{\"op\":\"session\",\"kind\":\"start\",$target,\"device\":\"$ids-@-#\",\"external_id\":\"user-$ids-@-#\"}" \
    >"$work/begin"
  sed "s/\"device\":\"device-@\"/\"device\":\"$ids-@-#d\",\"external_id\":\"user-$ids-@-#d\"/" "$work/deliver" \
    >"$work/deliver-new"
  measure deliver "$connections" "$window" "$work/deliver"
  # Taps start over when they have reached the last delivery: then they are duplicates.
  measure open "$connections" "$window" "$work/open" $((speed * seconds * 9 / 10 / connections + 1))
  measure 'start, on' "$connections" "$window" "$work/go-on"
  measure 'deliver, new' "$connections" "$window" "$work/deliver-new"
  measure 'start, new' "$connections" "$window" "$work/begin"
}

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
    if [[ $acts == yes ]]; then
      measure_acts "$connections" "$window" "$round.$connections.$window"
      continue
    fi
    # Every request has its own id, as those of producers do.
    sed "s/^{/{\"id\":\"$round.$connections.$window-@-#\",/" "$work/line" >"$work/line-with-id"
    measure pushrouterd "$connections" "$window" "$work/line-with-id"
    if [[ $redis == yes ]]; then peer "$connections" "$window" "$count"; fi
  done
done
echo "afterwards: $(memory)"
