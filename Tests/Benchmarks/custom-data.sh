#!/bin/sh
# Measures custom data on one thread: entries that are logged, claimed by a forwarder and settled, then entries that are
# stored and flushed by session starts, of many devices and of one, and the memory of each waiting entry; then the time
# to forget a person, and to begin a reset of the rest.
# usage: custom-data.sh [ENTRIES]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$here/../../Sources/Core
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
swiftc -O -swift-version 6 -parse-as-library -I "$build" "$here/CustomDataBenchmark.swift" \
    "$build/PushModel.o" "$build/PushRouter.o" -o "$build/benchmark"
"$build/benchmark" sent "${1:-100000}"
"$build/benchmark" stored "${1:-100000}"
"$build/benchmark" one-device "${1:-100000}"
"$build/benchmark" forget "${1:-100000}"
