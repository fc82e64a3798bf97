#!/usr/bin/env bash
# Holds the cost of a tap on a push that has not come yet, after 9,000 other taps on the same push, to one and a half
# times its cost after 1,000, in instructions (callgrind.sh): each is held for the grace, and none may search all
# others.
#
#   Tests/Benchmarks/taps.sh
#
# Needs gcc, valgrind and the release build, in BUILD or .build/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=Tests/Benchmarks/callgrind.sh
. Tests/Benchmarks/callgrind.sh
count=200

mkdir -p "$work/configuration"
# None may end within the measurement.
printf "[Tracker]\nGrace=10min\n" >"$work/configuration/pushrouterd.conf"
cat >"$work/line" <<'END'
{"op":"interact","kind":"opened","app":"shop","device":"pixel","message":"not-come-yet"}
END
start "$work/configuration"
send "$work/line" 1000 64
few=$(cost "$work/line" $count)
send "$work/line" 8000 64
many=$(cost "$work/line" $count)
printf 'a tap on a push that has not come: %d instructions after 1,000 others, %d after 9,000, %s times\n' \
  "$few" "$many" "$(awk -v a="$many" -v b="$few" 'BEGIN { printf "%.2f", a / b }')"
((many * 2 <= few * 3)) || { echo "a tap costs more, the more there were" >&2; exit 1; }
