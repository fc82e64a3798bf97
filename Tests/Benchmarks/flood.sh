#!/usr/bin/env bash
# Measures the cost of hostile clients to the daemon and to a good client beside them, for each of three floods:
#
#   unread   300 connections that send 64 KiB of broken requests and never read
#   lane     3,000 requests of 250 KB into the lane of one device, whose head hangs
#   large    requests of 256 KiB, as many as are accepted, from 20 connections
#
#   Tests/Benchmarks/flood.sh [unread|lane|large]...
#
# Prints the good client's round trip, the daemon's peak memory and its memory afterwards, the turns of its loop in CPU
# time, how late hanging handlers are killed, and the refusals. Fails if the daemon takes 128 MiB, does not serve the
# good client, or counts fewer refusals than clients got. Needs gcc and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
floods=("${@:-}")
[[ -n ${floods[0]} ]] || floods=(unread lane large)
work=$(mktemp -d /var/tmp/pushrouterd-flood.XXXXXX)
daemon=
cleanup() { [[ -z $daemon ]] || kill -9 "$daemon" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

swift build -c release --product pushrouterd >&2
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
mkdir -p "$work/config/handlers.d" "$work/config/routes.d"
printf '[Handler]\nType=exec\nExec=/bin/sleep 60\n' >"$work/config/handlers.d/hang.handler"
cp etc/pushrouterd/handlers.d/journal.handler "$work/config/handlers.d"
printf '[Match]\nApp=hang\n[Route]\nHandler=hang\nDeadline=300ms\n' >"$work/config/routes.d/10-hang.route"
printf '[Match]\nApp=lane\n[Route]\nHandler=hang\n' >"$work/config/routes.d/20-lane.route"
printf '[Match]\n[Route]\nHandler=journal\n' >"$work/config/routes.d/90-rest.route"
printf '{"op":"deliver","id":"%s","platform":"android","app":"com.example.shop","device":"device-@","payload":%s}\n' \
  'good-@-#' "$(tr -d '\n' <Tests/Benchmarks/ingest/payload.json)" >"$work/line"

for flood in "${floods[@]}"; do
  rm -rf "$work/state" "$work/runtime"
  mkdir "$work/runtime"
  .build/release/pushrouterd --config "$work/config" --state "$work/state" --runtime "$work/runtime" 2>"$work/log" &
  daemon=$!
  until [[ -S $work/runtime/inject.sock ]]; do
    kill -0 $daemon 2>/dev/null || { cat "$work/log" >&2; exit 1; }
    sleep 0.01
  done
  # The good client's latency without a flood.
  quiet=$("$work/load" "$work/runtime/inject.sock" 1 1 2 "$work/line")
  echo "== $flood"
  echo "good client before: $quiet"
  python3 Tests/Benchmarks/flood/flood.py "$flood" "$work" "$daemon"
  kill -TERM $daemon
  wait $daemon || true
  daemon=
done
