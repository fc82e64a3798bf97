#!/usr/bin/env bash
# Measures the time until the daemon is ready, and its memory then:
#
#   empty      with an empty ledger
#   delivered  after 100,000 deliveries of Braze payloads, which the tracker remembers; then started again
#   full       after kill -9 with 50,000 unfinished requests more, and IDS ids of producers in the ledger
#
#   Tests/Benchmarks/start.sh [IDS]
#
# The default of IDS is 10,000,000: that takes some minutes and 3 GB of disk. Needs gcc and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d /var/tmp/pushrouterd-start.XXXXXX)
trap 'rm -rf "$work"' EXIT
swift build -c release --product pushrouterd >&2
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
python3 Tests/Benchmarks/start/start.py "$work" "${1:-10000000}"
