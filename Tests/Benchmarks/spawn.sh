#!/bin/sh
# Measures how fast HandlerProcess starts and ends programs, and the same in plain C, alternately in one run.
# Usage: Tests/Benchmarks/spawn.sh [ROUNDS]. Builds in a temporary directory; quote ratios of medians, machines are noisy.
set -eu
rounds=${1:-5}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(mktemp -d /tmp/pushrouterd-spawn-XXXXXX)
trap 'rm -rf "$build"' EXIT

mkdir -p "$build/Sources/spawn"
for target in CLinux LinuxSystem HandlerProcess; do ln -s "$root/Sources/System/$target" "$build/Sources/"; done
cp "$root/Tests/Benchmarks/spawn/main.swift" "$build/Sources/spawn/"
cat > "$build/Package.swift" <<'EOF'
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "spawn",
    targets: [
        .target(name: "CLinux"),
        .target(name: "LinuxSystem", dependencies: ["CLinux"]),
        .target(name: "HandlerProcess", dependencies: ["CLinux", "LinuxSystem"]),
        .executableTarget(name: "spawn", dependencies: ["HandlerProcess"]),
    ])
EOF
swift build -c release -j 2 --package-path "$build" >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
cc -O2 -o "$build/peer" "$root/Tests/Benchmarks/spawn/peer.c"
echo 'int main(void) { return 0; }' > "$build/noop.c"
cc -O2 -static -o "$build/noop" "$build/noop.c"

ours=$build/.build/release/spawn
for _ in $(seq "$rounds"); do
    for parallel in 1 2 8; do
        "$build/peer" rate "$parallel" "$build/noop"
        "$ours" rate "$parallel" "$build/noop"
    done
done
for _ in 1 2 3; do
    "$build/peer" kill 1000
    "$ours" kill 1000
done
"$ours" sweep
