#!/usr/bin/env bash
# Holds the instructions of one send of FCM through the gateway, over HTTP/2 without TLS, to an upper bound: 15 % above
# the value when the bound was written. Counts all work of the gateway for it, including the question for the device and
# the line to the daemon: the difference between a long run and a short one (valgrind's callgrind).
#
#   Tests/Benchmarks/gateway-budget.sh
#
# Needs valgrind, curl and nghttp2-client. BUILD=DIR takes the programs from there.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-.build/release}
bound=110000
short=500 long=2500
work=$(mktemp -d /var/tmp/pushrouterd-gateway-budget.XXXXXX)
daemon='' gateway=''
trap 'kill $daemon $gateway 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Handler]\nType=discard\n' >"$work/config/handlers.d/nobody.handler"
printf '[Match]\n[Route]\nHandler=nobody\n' >"$work/config/routes.d/05-nobody.route"
printf '{"message":{"token":"tok1","data":{"order_id":"1017","title":"On its way"},"android":{"priority":"high"}}}' \
    >"$work/body"
"$build/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>"$work/journal" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
# Valgrind cannot read Swift's debug information; the names of functions stay.
objcopy --strip-debug "$build/pushrouter-gateway" "$work/pushrouter-gateway"

# The instructions of the gateway from its start to its end, with COUNT sends between.
instructions() {
    local port=$((20000 + RANDOM % 10000))
    valgrind --quiet --tool=callgrind --callgrind-out-file="$work/callgrind.$1" "$work/pushrouter-gateway" \
        --config "$work/config" --state "$work/gateway" --runtime "$work/runtime" --listen "127.0.0.1:$port" \
        2>"$work/gateway.log" &
    gateway=$!
    until curl -sf "http://127.0.0.1:$port/leader" >/dev/null; do
        kill -0 "$gateway" 2>/dev/null || { cat "$work/gateway.log" >&2; exit 1; }
        sleep 0.05
    done
    h2load -n "$1" -c 4 -m 8 -d "$work/body" -H 'content-type: application/json' \
        "http://127.0.0.1:$port/v1/projects/demo/messages:send" >"$work/load"
    grep -q "status codes: $1 2xx" "$work/load" || { cat "$work/load" >&2; exit 1; }
    kill -TERM "$gateway"
    wait "$gateway"
    gateway=''
    awk '/^(summary|totals):/ { total = $2 } END { printf "%d\n", total }' "$work/callgrind.$1"
}

# The first start creates the authority.
instructions 8 >/dev/null
for attempt in 1 2 3; do
    few=$(instructions $short) many=$(instructions $long)
    each=$(((many - few) / (long - short)))
    printf 'gateway, 4 connections x 8 streams: %d instructions a send, at most %d\n' "$each" "$bound"
    ((each <= bound)) && exit 0
    echo "measurement $attempt is above the bound"
done
exit 1
