#!/bin/sh
# Measures the tracker's core on one thread: memory for ten deliveries on each device, then taps and session starts.
# usage: tracker.sh [DEVICES]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$here/../../Sources
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# One module for each target, as in the release build.
compile() {
    name=$1
    shift
    swiftc -O -whole-module-optimization -swift-version 6 -parse-as-library -module-name "$name" -I "$build" \
        -enable-upcoming-feature InternalImportsByDefault \
        -emit-module -emit-module-path "$build/$name.swiftmodule" -c "$@" -o "$build/$name.o"
}
# shellcheck disable=SC2046  # Names of our own, without blanks.
compile PushModel $(find "$sources/PushModel" -name "*.swift")
# shellcheck disable=SC2046  # As above.
compile PushRouter $(find "$sources/PushRouter" -name "*.swift")
swiftc -O -swift-version 6 -parse-as-library -I "$build" "$here/TrackerBenchmark.swift" \
    "$build/PushModel.o" "$build/PushRouter.o" -o "$build/benchmark"
"$build/benchmark" "${1:-1000000}"
