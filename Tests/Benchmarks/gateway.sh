#!/usr/bin/env bash
# Measures sends of FCM a second through the gateway, over TLS and HTTP/2, each answered when it is on disk. Compares
# them with nginx, which answers 200 to the same requests and stores nothing, by h2load with the same connections and
# streams, alternately. The goal is a ratio of at least 0.2. Then compares the CPU time of gateway and daemon for a send
# with that of the daemon for the same line by inject.sock: the goal is at most 2.5 times.
#
#   Tests/Benchmarks/gateway.sh [ROUNDS] [REQUESTS] [CONNECTIONS] [STREAMS]
#
# Needs nginx and nghttp2-client. BUILD=DIR takes the programs from there, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-3} requests=${2:-20000} connections=${3:-8} streams=${4:-32}
work=$(mktemp -d "${WORK:-/var/tmp}/pushrouterd-gateway.XXXXXX")
daemon='' gateway='' server=''
trap 'kill $daemon $gateway $server 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

build=${BUILD:-.build/release}
[[ -n ${BUILD:-} ]] || swift build -c release >&2
port=$((20000 + RANDOM % 10000))
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Handler]\nType=discard\n' >"$work/config/handlers.d/nobody.handler"
printf '[Match]\n[Route]\nHandler=nobody\n' >"$work/config/routes.d/05-nobody.route"
"$build/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>"$work/journal" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do sleep 0.01; done
"$build/pushrouter-gateway" --config "$work/config" --state "$work/gateway" --runtime "$work/runtime" \
    --listen "127.0.0.1:$port" 2>"$work/gateway.log" &
gateway=$!
until curl -sf "http://127.0.0.1:$port/leader" >/dev/null; do sleep 0.01; done

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key" -out "$work/cert" -days 2 \
    -subj /CN=localhost 2>/dev/null
cat >"$work/nginx.conf" <<END
daemon off;
pid $work/nginx.pid;
error_log $work/nginx.log;
worker_processes 1;
events { worker_connections 1024; }
http {
    access_log off;
    keepalive_requests 1000000;
    server {
        listen 127.0.0.1:$((port + 1)) ssl http2;
        ssl_certificate $work/cert;
        ssl_certificate_key $work/key;
        location / {
            client_body_buffer_size 16k;
            return 200 '{"name":"projects/demo/messages/0:1795537418266089%5705a637d64b4dd2"}';
        }
    }
}
END
nginx -c "$work/nginx.conf" -p "$work" 2>/dev/null &
server=$!
until curl -skf "https://127.0.0.1:$((port + 1))/" >/dev/null; do sleep 0.01; done

printf '{"message":{"token":"tok1","data":{"order_id":"1017","title":"On its way"},"android":{"priority":"high"}}}' \
    >"$work/body"
# The CPU time of processes so far, in milliseconds.
used() { for process; do awk '{ print ($14 + $15) * 10 }' "/proc/$process/stat"; done | awk '{ sum += $1 } END { print sum }'; }
# load PORT: requests a second.
load() {
    h2load -n "$requests" -c "$connections" -m "$streams" -d "$work/body" -H 'content-type: application/json' \
        "https://127.0.0.1:$1/v1/projects/demo/messages:send" >"$work/load"
    grep -q "status codes: $requests 2xx" "$work/load" || { cat "$work/load" >&2; exit 1; }
    sed -n 's/^finished in [^,]*, \([0-9.]*\) req.*/\1/p' "$work/load"
}
ratios=()
for ((round = 1; round <= rounds; round++)); do
    before=$(used "$daemon" "$gateway")
    ours=$(load "$port")
    time=$(($(used "$daemon" "$gateway") - before))
    peer=$(load "$((port + 1))")
    ratio=$(awk -v a="$ours" -v b="$peer" 'BEGIN { printf "%.3f", a / b }')
    ratios+=("$ratio")
    echo "round $round: gateway $ours/s, nginx $peer/s, ratio $ratio; $(awk -v t="$time" -v n="$requests" \
        'BEGIN { printf "%.1f", t * 1000 / n }') us of processor time a send"
done
before=$(used "$daemon")
"$build/pushctl" bench --runtime "$work/runtime" --connections "$connections" --pipeline "$streams" --count "$requests" \
    --duration 60s "$work/body" >"$work/bench" || { cat "$work/bench"; exit 1; }
awk -v t="$(($(used "$daemon") - before))" -v n="$requests" \
    'BEGIN { printf "inject.sock: %.1f us of processor time a line\n", t * 1000 / n }'
grep -i 'second' "$work/bench" | head -n 1
echo "memory of the gateway: $(awk '/VmHWM/ { print $2 " " $3 }' "/proc/$gateway/status")"
