#!/bin/sh
# Measures durable deliveries a second through the store, and bare SQLite rows in the same run; quote the ratio, since
# the disk is the machine's. Runs alternate, five of each.
# Usage: Tests/Benchmarks/store.sh [SECONDS] [DIRECTORY-ON-THE-DISK-TO-MEASURE]
set -eu
seconds=${1:-3}
disk=${2:-/tmp}
bytes=1331
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d "$disk/store-benchmark.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A separate package: the project's manifest has no benchmark targets.
package=${TMPDIR:-/tmp}/pushrouterd-store-benchmark
mkdir -p "$package/Sources"
for target in System/CLinux System/CChecksum System/CSQLite System/CSystemd System/LinuxSystem System/Store \
    Core/PushModel Core/PushRouter Core/PushSettings; do
    ln -sfn "$root/Sources/$target" "$package/Sources/${target#*/}"
done
ln -sfn "$here/Store" "$package/Sources/StoreBenchmark"
cat > "$package/Package.swift" <<'MANIFEST'
// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let package = Package(
    name: "StoreBenchmark",
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .target(name: "CLinux"),
        .target(name: "CChecksum"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
        .target(name: "PushModel", swiftSettings: settings),
        .target(name: "PushRouter", dependencies: ["PushModel"], swiftSettings: settings),
        .target(
            name: "PushSettings", dependencies: ["PushModel", "PushRouter"],
            resources: [.embedInCode("providers.d")], swiftSettings: settings),
        .target(
            name: "LinuxSystem", dependencies: ["CSystemd", "CLinux", "PushModel", "PushRouter", "PushSettings"],
            swiftSettings: settings),
        .target(
            name: "Store", dependencies: ["CSQLite", "CLinux", "CChecksum", "LinuxSystem", "PushModel"],
            swiftSettings: settings),
        .executableTarget(
            name: "StoreBenchmark", dependencies: ["PushModel", "Store"], exclude: ["limit.c"], swiftSettings: settings),
    ])
MANIFEST
swift build --package-path "$package" -c release -j 2 >&2
cc -O2 -o "$work/limit" "$here/Store/limit.c" -lsqlite3

median() { sort -n | awk '{ line[NR] = $0 } END { print line[int((NR + 1) / 2)] }'; }

measure() { # BATCH none|id|message
    : > "$work/ours"
    : > "$work/limits"
    for _ in 1 2 3 4 5; do
        rm -rf "$work/run" && mkdir "$work/run"
        "$work/limit" "$work/run" "$1" "$seconds" "$bytes" >> "$work/limits"
        rm -rf "$work/run"
        "$package/.build/release/StoreBenchmark" "$work/run" "$1" "$seconds" "$bytes" "$2" >> "$work/ours"
    done
    median < "$work/limits" > "$work/limit.median"
    median < "$work/ours" | awk -v batch="$1" -v id="$2" -v limit="$(cat "$work/limit.median")" \
        '{ printf "batch %3d, %-7s  %7d deliveries/s (commit p50 %d us, p99 %d us)  bare rows %7d/s  ratio %.2f\n",
            batch, id, $1, $2, $3, limit, $1 / limit }'
}

for batch in 1 8 64 512; do measure "$batch" none; done
measure 64 id
measure 64 message
