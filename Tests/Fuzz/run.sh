#!/bin/sh
# Fuzzes one target with libFuzzer and AddressSanitizer; SwiftPM cannot link a fuzzer, so this builds it.
# usage: run.sh TARGET SECONDS        targets: http2, json-scan, paste, payload, provider-file, request, rows, scenario
#        run.sh --all SECONDS         each target after the other, with a line for each
#        run.sh --keep TARGET         packs the new inputs that reach something new into corpus/TARGET.tar.gz
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
if [ $# -eq 2 ] && [ "$1" = --all ]; then
    status=0
    for target in http2 json-scan paste payload provider-file request rows scenario; do
        edges=$(sh "$0" "$target" "$2" 2>"$top/.build/fuzz-$target") || { status=1; tail -n 20 "$top/.build/fuzz-$target" >&2; }
        echo "$target: $edges"
    done
    exit $status
fi
if [ $# -eq 2 ] && [ "$1" = --keep ]; then
    build=$top/.build/fuzz/$2
    rm -rf "$build/least"
    mkdir "$build/least"
    SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 "$build/fuzz" -merge=1 -max_len=4096 "$build/least" "$here/corpus/$2" "$build/found"
    # Those of the corpus are files already.
    for input in "$here/corpus/$2"/*; do
        cmp -s "$input" "$build/least/$(sha1sum "$input" | cut -d " " -f 1)" && rm "$build/least/$(sha1sum "$input" | cut -d " " -f 1)"
    done
    tar -C "$build/least" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - . | gzip -9n >"$here/corpus/$2.tar.gz"
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
paste) harness=PasteFuzz.swift modules="$modules PushViews" seeds=$top/.build/fuzz/paste/texts ;;
payload) harness=PayloadFuzz.swift modules="$modules PushViews" seeds=$(echo "$top"/Tests/Fixtures/payloads/*/) ;;
provider-file) harness=ProviderFileFuzz.swift seeds=$top/etc/pushrouterd/providers.d ;;
request) harness=RequestFuzz.swift ;;
rows) harness=RowsFuzz.swift modules=PushModel ;;
scenario) harness=ScenarioFuzz.swift modules="$modules PushViews" seeds=$top/Tests/Fixtures/scenarios ;;
*) echo "run.sh: no target '$1'" >&2; exit 2 ;;
esac

build=$top/.build/fuzz/$1
# All targets share the modules.
made=$top/.build/fuzz/modules
mkdir -p "$build/found" "$build/texts" "$made"
# Each text of the tests of pasted texts is an input.
[ "$1" != paste ] || awk -v "to=$build/texts/" '/^==== / { close(name); name = to (++n); next } { print >name }' "$top/Tests/Fixtures/pasted/texts.txt"
compile() {
    # shellcheck disable=SC2086  # several words
    swiftc -O -g -swift-version 6 -package-name pushrouterd -parse-as-library -whole-module-optimization -sanitize=fuzzer,address -I "$made" \
        -I "$top/Sources/System/CNGHTTP2" $features "$@"
}
objects=
is_new=
for module in $modules; do
    find "$top/Sources/$layer/$module" -name '*.swift' > "$made/$module.sources"
    case $module in
    PushSettings) embedded=$(echo "$top"/etc/pushrouterd/providers.d/*.provider) ;;
    PushViews)
        views=$top/Sources/Core/PushViews
        embedded=$(echo "$views"/Web/Assets/* "$views"/Accidents/Catalogue/* "$views/Conform/cases.jsonl") ;;
    *) embedded= ;;
    esac
    if [ -n "$embedded" ]; then
        # shellcheck disable=SC2086  # one word a file
        sh "$top/Tests/embedded-resources.sh" $embedded > "$made/$module.new"
        cmp -s "$made/$module.new" "$made/$module-resources.swift" || cp "$made/$module.new" "$made/$module-resources.swift"
        echo "$made/$module-resources.swift" >> "$made/$module.sources"
    fi
    if [ -n "$is_new" ] || [ ! -f "$made/$module.o" ] ||
        [ -n "$(xargs -I% find % -newer "$made/$module.o" < "$made/$module.sources")" ]; then
        is_new=yes
        compile -module-name "$module" -emit-module -emit-module-path "$made/$module.swiftmodule" \
            -c "@$made/$module.sources" -o "$made/$module.o"
    fi
    objects="$objects $made/$module.o"
done
# The default linker warns about each of the sanitizer's symbols.
# shellcheck disable=SC2086  # one word an object or library
compile -use-ld=lld -module-name Fuzz "$here/$harness" $objects $libraries -o "$build/fuzz"

# With the backtracer on, a crash hangs in it for minutes. Swift keeps flags in spare bits of pointers, so the leak
# detector reports memory that only constants refer to.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
# An input that takes 10 s is a finding, too. The kept inputs are unpacked beside the new ones.
[ ! -f "$here/corpus/$1.tar.gz" ] || tar -xzf "$here/corpus/$1.tar.gz" -C "$build/found"
# shellcheck disable=SC2086  # one word a directory
{
    "$build/fuzz" -max_total_time="$2" -max_len=4096 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$build/" "$build/found" "$here/corpus/$1" $seeds && echo 0 || echo $?
} 2>&1 >"$build/status" | tee "$build/log" >&2
awk '$2 == "INITED" { before = $4 } $2 == "DONE" { after = $4 } $1 == "stat::number_of_executed_units:" { inputs = $2 }
    END { printf "edges: %d before, %d after, %d inputs\n", before, after, inputs }' "$build/log"
exit "$(cat "$build/status")"
