#!/bin/sh
# Measures the cost of finding the provider of a payload: deciding with the shipped providers, and with none.
# usage: detection.sh [FILE...]     payloads for Android
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
[ $# -gt 0 ] || set -- "$top"/Tests/Fixtures/payloads/other/clevertap-fcm-test-bundle.json \
    "$top"/Tests/Fixtures/payloads/fcm-apns/vec-complete-message.json \
    "$top"/Tests/Fixtures/payloads/braze-android/near-no-ab.json \
    "$top"/Tests/Fixtures/payloads/braze-android/droidboy-story.json

sh "$top/Tests/embedded-resources.sh" "$top"/etc/pushrouterd/providers.d/*.provider > "$build/embedded_resources.swift"

compile() {
    swiftc -O -whole-module-optimization -enable-default-cmo -swift-version 6 -parse-as-library -package-name pushrouterd -I "$build" \
        -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility "$@"
}
objects=
for module in PushModel PushRouter PushSettings; do
    find "$top/Sources/Core/$module" -name '*.swift' > "$build/$module.sources"
    [ $module != PushSettings ] || echo "$build/embedded_resources.swift" >> "$build/$module.sources"
    compile -module-name "$module" -emit-module -emit-module-path "$build/$module.swiftmodule" \
        -c "@$build/$module.sources" -o "$build/$module.o"
    objects="$objects $build/$module.o"
done
# shellcheck disable=SC2086  # one word an object
compile -module-name DetectionBenchmark "$here/DetectionBenchmark.swift" $objects -o "$build/benchmark"
"$build/benchmark" "$@"
