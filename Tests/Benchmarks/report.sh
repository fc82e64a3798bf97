#!/usr/bin/env bash
# Measures the time of a report over a ledger of many deliveries, and the loss of deliveries while reports are made.
#
#   all        the time and the memory of a report over everything, the median of five; goal: 1 s and 64 MB
#   hour       the time of a report over the last hour; goal: 100 ms
#   load       the deliveries accepted a second in SECONDS once the log is full: alone, beside five reports at nice 19
#              (goal: at most 5 % fewer), beside five programs at nice 19 that make one report after the other
#   size       the bytes of the ledger beside the line of each delivery with an id, an app, a device and a user, by
#              table; goal: 400
#
#   Tests/Benchmarks/report.sh [DELIVERIES] [SECONDS]
#
# The default of DELIVERIES is 10,000,000, over the last 30 days: that takes minutes and 10 GB of disk. SECONDS is 60.
# Needs gcc and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d /var/tmp/pushrouterd-report.XXXXXX)
trap 'rm -rf "$work"' EXIT
swift build -c release --product pushrouterd >&2
swift build -c release --product pushctl >&2
gcc -O2 -o "$work/load" Tests/Benchmarks/ingest/load.c
python3 Tests/Benchmarks/report/report.py "$work" "${1:-10000000}" "${2:-60}"
