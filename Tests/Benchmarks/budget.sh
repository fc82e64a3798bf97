#!/usr/bin/env bash
# Holds the instructions of one accepted delivery, as cost.sh counts them, to upper bounds: 15 % above what they were when
# the bounds were written. Lower them with what makes a delivery cheaper.
#
#   Tests/Benchmarks/budget.sh
#
# Needs gcc and valgrind.
set -euo pipefail
cd "$(dirname "$0")/../.."

# CONNECTIONS WINDOW, then instructions of the loop's, the journal's, the ledger's and the log's thread.
budget() {
  local connections=$1 window=$2 thread=0 failed=0 counts bound
  shift 2
  mapfile -t counts < <(CALLS=no Tests/Benchmarks/cost.sh "$connections" "$window" 2>/dev/null |
    sed -n 's/^instructions of thread [0-9]*: \([0-9]*\).*/\1/p')
  ((${#counts[@]} >= $#)) || { echo "cost.sh $connections $window gave no figures" >&2; return 1; }
  for bound; do
    printf '%s connections x %s, thread %d: %6d instructions, at most %d\n' \
      "$connections" "$window" $((thread + 1)) "${counts[thread]}" "$bound"
    ((counts[thread] <= bound)) || failed=1
    thread=$((thread + 1))
  done
  return $failed
}

status=0
budget 1 1 102000 54700 85000 11000 || status=1
# How many outcomes have an entry each, and how many deliveries a batch, depends on the speed.
budget 8 64 86000 54700 80000 2500 || status=1
exit $status
