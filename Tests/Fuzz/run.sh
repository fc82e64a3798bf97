#!/bin/sh
# Fuzzes one target with libFuzzer and AddressSanitizer; SwiftPM cannot link a fuzzer, so this builds it.
# usage: run.sh TARGET SECONDS        targets: json-scan
# New inputs are kept in .build/fuzz/TARGET at the top of the project; one that fails is named there in crash-*.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
[ $# -eq 2 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }

# A target is a harness beside this script, and the folders of Sources whose code it is compiled with, as one module.
case $1 in
json-scan) harness=JSONScanFuzz.swift folders=PushModel ;;
*) echo "run.sh: no target '$1'" >&2; exit 2 ;;
esac

build=$top/.build/fuzz/$1
mkdir -p "$build/found"
for folder in $folders; do find "$top/Sources/$folder" -name '*.swift'; done > "$build/sources"
swiftc -O -g -swift-version 6 -parse-as-library -whole-module-optimization -sanitize=fuzzer,address \
    -module-name Fuzz "@$build/sources" "$here/$harness" -o "$build/fuzz"

# With the backtracer on, a crash hangs in it for minutes.
SWIFT_BACKTRACE=enable=no exec "$build/fuzz" -max_total_time="$2" -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$build/" "$build/found" "$here/corpus/$1"
