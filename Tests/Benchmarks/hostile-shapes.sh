#!/usr/bin/env bash
# Holds the cost of one request of the largest size to 3.1 times the cost of an ordinary payload, repeated to that size,
# in instructions (callgrind.sh).
#
#   Tests/Benchmarks/hostile-shapes.sh [SHAPE...]
#
# Needs gcc, python3, valgrind and the release build, in BUILD or .build/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
# In hundredths. The most expensive shape is at 2.99, and two runs differ by up to 1 %.
count=6 most=310
# shellcheck source=Tests/Benchmarks/callgrind.sh
. Tests/Benchmarks/callgrind.sh
python3 Tests/Benchmarks/hostile-shapes.py "$work" Tests/Benchmarks/ingest/payload.json

# The instructions for one request of a shape.
cost_of() {
  local shape
  shape=$(basename "$1" .line)
  # Ids restart with each connection, and one id must not name two requests.
  sed "s/\"id\":\"@-#\"/\"id\":\"warm-$shape-#\"/" "$1" >"$work/warm"
  send "$work/warm" 1
  sed "s/\"id\":\"@-#\"/\"id\":\"$shape-#\"/" "$1" >"$work/line"
  cost "$work/line" $count
}

status=0
ordinary=
# A shape with this prefix is sent to a daemon with many routes and tracks.
for config in plain routes; do
  shapes=("$work"/*.line)
  start "$work/$config"
  if [[ $config == plain ]]; then
    ordinary=$(cost_of "$work/ordinary.line")
    printf '%-28s %9d instructions\n' ordinary "$ordinary"
  fi
  for line in "${shapes[@]}"; do
    shape=$(basename "$line" .line)
    [[ $shape != ordinary ]] || continue
    (($# == 0)) || [[ " $* " == *" $shape "* ]] || continue
    [[ $shape == routes-* ]] && of=routes || of=plain
    [[ $of == "$config" ]] || continue
    instructions=$(cost_of "$line")
    printf '%-28s %9d instructions, %s times\n' "$shape" "$instructions" \
      "$(awk -v a="$instructions" -v b="$ordinary" 'BEGIN { printf "%.2f", a / b }')"
    ((instructions * 100 <= most * ordinary)) || status=1
  done
done
((status == 0)) || {
  echo "a shape costs more than its bound" >&2
  exit 1
}
