#!/bin/sh
# Fuzzes one target with libFuzzer and AddressSanitizer; SwiftPM cannot link a fuzzer, so this builds it.
# usage: run.sh TARGET SECONDS        targets: http2, json-scan, payload, provider-file, request, rows, scenario
#        run.sh --check               type-checks the harnesses against what `swift build` made, and runs nothing
# New inputs are kept in .build/fuzz/TARGET at the top of the project; one that fails is named there in crash-*.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
features="-enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility"

if [ "$*" = --check ]; then
    # SwiftPM names the package after its folder.
    package=$(basename "$top" | tr '[:upper:]' '[:lower:]' | tr -c '[:alnum:]\n' _)
    for harness in "$here"/*.swift; do
        # shellcheck disable=SC2086  # several words
        swiftc -typecheck -swift-version 6 -package-name "$package" -parse-as-library -warnings-as-errors -I "$top/.build/debug/Modules" \
            -I "$top/Sources/System/CNGHTTP2" $features "$harness"
    done
    exit
fi
[ $# -eq 2 ] || { sed -n '/^# usage/,/^#  /s/^# //p' "$0" >&2; exit 2; }

# A target is a harness beside this script, and the modules of Sources that it needs, in import order. It may start with
# other files besides its own corpus.
modules="PushModel PushRouter PushSettings"
layer=Core
libraries=
seeds=
case $1 in
http2) harness=HTTP2Fuzz.swift modules=HTTP2 layer=System libraries=-lnghttp2 ;;
json-scan) harness=JSONScanFuzz.swift modules=PushModel ;;
payload) harness=PayloadFuzz.swift seeds=$(echo "$top"/Tests/Fixtures/payloads/*/) ;;
provider-file) harness=ProviderFileFuzz.swift seeds=$top/etc/pushrouterd/providers.d ;;
request) harness=RequestFuzz.swift ;;
rows) harness=RowsFuzz.swift modules=PushModel ;;
scenario) harness=ScenarioFuzz.swift modules="$modules PushViews" seeds=$top/Tests/Fixtures/scenarios ;;
*) echo "run.sh: no target '$1'" >&2; exit 2 ;;
esac

build=$top/.build/fuzz/$1
mkdir -p "$build/found"
compile() {
    # shellcheck disable=SC2086  # several words
    swiftc -O -g -swift-version 6 -package-name pushrouterd -parse-as-library -whole-module-optimization -sanitize=fuzzer,address -I "$build" \
        -I "$top/Sources/System/CNGHTTP2" $features "$@"
}
objects=
for module in $modules; do
    # The page and the catalogue need their embedded files, and no harness needs them.
    find "$top/Sources/$layer/$module" -name '*.swift' ! -path '*/PushViews/Web/*' ! -path '*/PushViews/Accidents/*' \
        > "$build/$module.sources"
    if [ "$module" = PushSettings ]; then
        sh "$top/Tests/embedded-providers.sh" > "$build/embedded_resources.swift"
        echo "$build/embedded_resources.swift" >> "$build/$module.sources"
    fi
    compile -module-name "$module" -emit-module -emit-module-path "$build/$module.swiftmodule" \
        -c "@$build/$module.sources" -o "$build/$module.o"
    objects="$objects $build/$module.o"
done
# The default linker warns about each of the sanitizer's symbols.
# shellcheck disable=SC2086  # one word an object or library
compile -use-ld=lld -module-name Fuzz "$here/$harness" $objects $libraries -o "$build/fuzz"

# With the backtracer on, a crash hangs in it for minutes. Swift keeps flags in spare bits of pointers, so the leak
# detector reports memory that only constants refer to.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
# An input that takes 10 s is a finding, too.
# shellcheck disable=SC2086  # one word a directory
exec "$build/fuzz" -max_total_time="$2" -max_len=4096 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$build/" "$build/found" "$here/corpus/$1" \
    $seeds
