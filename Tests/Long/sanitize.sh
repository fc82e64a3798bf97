#!/usr/bin/env bash
# Runs suites under a sanitizer, from a copy of the last commit whose manifest has these suites and what they need.
# usage: sanitize.sh address|thread [SUITE...]     SUITE: a target of tests; default: those of the adapters
# DIR=PATH has copy and build (default: below .build); the same commit is not built again.
# ThreadSanitizer does not know Synchronization.Mutex, a futex: it reports what only a Mutex protects. Its reports are printed with
# the first frame of ours, for people, and are no failure; a failing test is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1-} == address || ${1-} == thread ]] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
kind=$1
shift
# A handler is started by clone and exec: ThreadSanitizer ends such a process.
default=(
    HTTP2Tests GzipTests JSONCTests TLSTests EventLoopTests UnixSocketsTests HTTPServerTests HTTPClientTests DaemonClientTests
    StoreTests HandlerProcessTests DBusTests
)
[[ $kind == address ]] || default=("${default[@]:0:10}")
suites=("$@")
((${#suites[@]})) || suites=("${default[@]}")

directory=${DIR-$PWD/.build/sanitize-$kind}
mkdir -p "$directory/tree"
# With the same commit the next run builds nothing.
git archive HEAD | tar -x -C "$directory/tree"
cat >>"$directory/tree/Package.swift" <<'END'

// The chosen suites and all that they need; no products.
let chosen = Set((Context.environment["SUITES"] ?? "").split(separator: " ").map(String.init))
var needed = chosen
for _ in package.targets {
    for target in package.targets where needed.contains(target.name) {
        for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
    }
}
package.targets.removeAll { !needed.contains($0.name) }
package.products = []
END
export SUITES="${suites[*]}"
echo "-- build: --sanitize=$kind, $SUITES"
swift build --package-path "$directory/tree" --scratch-path "$directory/build" --ignore-lock --build-tests --sanitize="$kind" \
    >"$directory/log" 2>&1 || { grep -E 'error' "$directory/log" || tail -n 40 "$directory/log"; exit 1; }
bundle=$directory/build/debug/pushrouterdPackageTests.xctest
[[ -x $bundle ]] || bundle=$(find "$directory/build/debug/" -maxdepth 1 -name '*.xctest' | sed -n 1p)
# Swift keeps flags in spare bits of pointers: the leak detector reports memory that only constants refer to. With the backtracer on, a
# report hangs in it.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 TSAN_OPTIONS=exitcode=0
status=0 reports=0
for suite in "${suites[@]}"; do
    log=$directory/$suite
    timeout 1800 "$bundle" --testing-library swift-testing --no-parallel --filter "^$suite\\." >"$log" 2>&1 || status=1
    passed=$(grep -oE 'Test run with .*' "$log" | sed -n '$p')
    found=$(grep -cE '^(==[0-9]+==ERROR: |WARNING: ThreadSanitizer)' "$log" || true)
    reports=$((reports + found))
    echo "$suite: ${passed:-ended without a verdict}; $found reports"
    [[ $found == 0 ]] || grep -E '^SUMMARY' "$log" | sort | uniq -c
done
echo "$kind: ${#suites[@]} suites, $reports reports"
[[ $kind == thread ]] || ((reports == 0)) || status=1
exit $status
