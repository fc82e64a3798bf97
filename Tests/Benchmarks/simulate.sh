#!/usr/bin/env bash
# Measures "pushctl test --trace" for a scenario: pushes of Braze and others to 1,000 devices, a third of which are opened,
# and half of the others with a script.
#
#   Tests/Benchmarks/simulate.sh [ROUNDS] [LINES]
#
# The goal is 100,000 lines in less than 5 s.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} lines=${2:-100000}
work=$(mktemp -d /var/tmp/pushrouterd-simulate.XXXXXX)
trap 'rm -rf "$work"' EXIT

swift build -c release --product pushctl >&2
awk -v lines="$lines" 'BEGIN {
  for (i = 0; i < lines; i++) {
    at = i * 50; device = "\"app\":\"shop\",\"device\":\"d" int(i / 3) % 1000 "\""
    if (i % 3 == 0)
      printf "{\"op\":\"deliver\",\"id\":\"r%d\",\"at\":%d,%s,\"payload\":{\"_ab\":\"true\",\"cid\":\"c%d\",\"t\":\"T\",\"a\":\"A\"}}\n", i, at, device, i % 20
    else if (i % 3 == 1)
      printf "{\"op\":\"interact\",\"kind\":\"opened\",\"at\":%d,%s,\"message\":%d}\n", at, device, i
    else
      printf "{\"op\":\"deliver\",\"id\":\"r%d\",\"at\":%d,%s,\"payload\":{\"order_id\":\"%d\"}%s}\n", i, at, device, i, i % 2 ? ",\"script\":{\"takes_ms\":" i % 9000 ",\"exit\":0}" : ""
  }
}' >"$work/day.ndjson"

for ((round = 1; round <= rounds; round++)); do
  start=$(date +%s%N)
  .build/release/pushctl --config etc/pushrouterd test --trace "$work/day.ndjson" >"$work/output"
  end=$(date +%s%N)
  echo "$lines lines, $(wc -l <"$work/output") decided: $(((end - start) / 1000000)) ms"
done
