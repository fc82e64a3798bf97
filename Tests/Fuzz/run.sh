#!/bin/sh
# Fuzzes one target with libFuzzer and AddressSanitizer; SwiftPM cannot link a fuzzer, so this builds it.
# usage: run.sh TARGET SECONDS        targets: json-scan, payload, request
# New inputs are kept in .build/fuzz/TARGET at the top of the project; one that fails is named there in crash-*.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
[ $# -eq 2 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }

# A target is a harness beside this script, and the modules of Sources that it needs, in the order of their imports.
# Beside its own corpus it may begin with other files.
seeds=
case $1 in
json-scan) harness=JSONScanFuzz.swift modules=PushModel ;;
payload)
    harness=PayloadFuzz.swift modules="PushModel PushDispatch"
    seeds=$(echo "$top"/Tests/Fixtures/payloads/*/)
    ;;
request) harness=RequestFuzz.swift modules="PushModel PushDispatch PushTracking PushRouting PushProtocol" ;;
*) echo "run.sh: no target '$1'" >&2; exit 2 ;;
esac

build=$top/.build/fuzz/$1
mkdir -p "$build/found"
compile() {
    swiftc -O -g -swift-version 6 -parse-as-library -whole-module-optimization -sanitize=fuzzer,address -I "$build" \
        -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility "$@"
}
objects=
for module in $modules; do
    find "$top/Sources/$module" -name '*.swift' > "$build/$module.sources"
    compile -module-name "$module" -emit-module -emit-module-path "$build/$module.swiftmodule" \
        -c "@$build/$module.sources" -o "$build/$module.o"
    objects="$objects $build/$module.o"
done
# shellcheck disable=SC2086  # one word an object
compile -module-name Fuzz "$here/$harness" $objects -o "$build/fuzz"

# shellcheck disable=SC2086  # one word a directory
# With the backtracer on, a crash hangs in it for minutes.
SWIFT_BACKTRACE=enable=no exec "$build/fuzz" -max_total_time="$2" -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$build/" "$build/found" "$here/corpus/$1" \
    $seeds
