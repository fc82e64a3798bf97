#!/usr/bin/env bash
# 10,000 queued events to a local server: in how many requests they leave, and in what time, from the start of the
# forwarder to the last entry settled on disk, with the Flush= of the last request, 100 ms; beside one curl that posts the same bodies over one connection.
#
#   Tests/Benchmarks/forward.sh [ROUNDS] [ENTRIES]
#
# Needs gcc and curl.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-3} entries=${2:-10000}
work=$(mktemp -d /var/tmp/pushrouterd-forward.XXXXXX)
pids=()
cleanup() { kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

swift build -c release --product pushrouterd >&2
swift build -c release --product pushrouter-forward >&2
bin=$PWD/.build/release
for program in server log; do gcc -O2 -o "$work/$program" "Tests/Benchmarks/forward/$program.c"; done

server=''
start_server() {
    rm -f "$work/port"
    "$work/server" "$work/port" >"$work/counts" &
    server=$!
    pids+=("$server")
    until [[ -s $work/port ]]; do sleep 0.01; done
}
stop_server() {
    kill -TERM "$server"
    wait "$server" || true
}
now() { date +%s%N; }
seconds() { awk -v begin="$1" -v end="$2" 'BEGIN { printf "%.3f s", (end - begin) / 1e9 }'; }
is_done() { echo '{"op":"status"}' | "$work/log" "$work/run/control.sock" | grep -q '"queued":0,"claimed":0,'; }

umask 077
echo benchmark >"$work/key"
mkdir -p "$work/etc" "$work/run"
for ((round = 1; round <= rounds; round++)); do
    start_server
    printf '[UsersTrack]\nEndpoint=http://127.0.0.1:%d\nKeyFile=%s\nFlush=100ms\n' "$(<"$work/port")" "$work/key" \
        >"$work/etc/pushrouterd.conf"
    rm -rf "$work/state"
    "$bin/pushrouterd" --config "$work/etc" --state "$work/state" --runtime "$work/run" 2>"$work/daemon.log" &
    daemon=$!
    pids+=("$daemon")
    until [[ -S $work/run/inject.sock ]]; do sleep 0.01; done
    begin=$(now)
    seq "$entries" | awk '{ printf "{\"op\":\"log\",\"kind\":\"custom_event\",\"braze_id\":\"user-%d\",\"app\":" \
        "\"com.shop\",\"name\":\"bought\",\"properties\":{\"item\":%d,\"color\":\"red\"}}\n", $1, $1 }' |
        "$work/log" "$work/run/inject.sock" >/dev/null
    echo "round $round: $entries entries logged, durably: $(seconds "$begin" "$(now)")"
    "$bin/pushrouter-forward" --config "$work/etc" --runtime "$work/run" --dry-run | grep '^{' >"$work/bodies"

    begin=$(now)
    "$bin/pushrouter-forward" --config "$work/etc" --runtime "$work/run" 2>"$work/forward.log" &
    forwarder=$!
    pids+=("$forwarder")
    until is_done; do sleep 0.01; done
    end=$(now)
    kill -TERM "$forwarder"
    wait "$forwarder"
    stop_server
    read -r requests received <"$work/counts"
    echo "round $round: pushrouter-forward: $received entries in $requests requests: $(seconds "$begin" "$end")"
    kill -TERM "$daemon"
    wait "$daemon"

    start_server
    number=0
    : >"$work/curl"
    while IFS= read -r body; do
        number=$((number + 1))
        printf '%s' "$body" >"$work/body.$number"
        ((number == 1)) || echo next >>"$work/curl"
        printf 'url=http://127.0.0.1:%d/users/track\ndata-binary=@%s\noutput=/dev/null\n' "$(<"$work/port")" \
            "$work/body.$number" >>"$work/curl"
    done <"$work/bodies"
    begin=$(now)
    curl -s -K "$work/curl"
    end=$(now)
    stop_server
    read -r requests received <"$work/counts"
    echo "round $round: one curl, the same bodies: $received entries in $requests requests: $(seconds "$begin" "$end")"
done
