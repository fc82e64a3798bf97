#!/bin/sh
# Measures the JSON scan and json-c, for one document of the shape of a Braze payload (or FILE).
# usage: json-scan.sh [FILE]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$here/../../Sources/Core/PushModel
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# One module of the pure sources and the benchmark, because the release build optimises within a module.
# shellcheck disable=SC2046  # pkg-config's words are options
swiftc -O -whole-module-optimization -swift-version 6 -package-name pushrouterd -parse-as-library -module-name JSONScanBenchmark \
    -I "$here/../../Sources/System/CJSON" $(pkg-config --cflags-only-I json-c) \
    "$sources"/*.swift "$sources"/*/*.swift "$here/JSONScanBenchmark.swift" \
    -o "$build/benchmark"
"$build/benchmark" "${1:-$here/json-scan-payload.json}"
