#!/usr/bin/env bash
# Runs the tests, and installs the Debian packages that they need. Prints at the end the twenty slowest tests of each
# part, and each test that did not run, with the reason, and their number; with PUSH_TEST_ALL=1 each of them is a
# failure. Ends with the test runner's own closing lines.
# usage: test.sh [quick | all [PART]...]
# usage:   quick         what a developer waits for, at most 10 minutes after the build: format, scripts, manual pages,
# usage:                 and the tests that start no program of ours
# usage:   (no argument) what CI runs, at most 50 minutes in a fresh clone: also the tests of whole programs, release
# usage:                 build, packages, images and quickstart
# usage:   all [PART]... the parts that are named by word or number, or all; each takes at most 80 minutes:
# usage:                 1 default   as without an argument
# usage:                 2 together  an hour in which each act comes behind each other one
# usage:                 3 long      random searches in full, power cuts, failed syncs, kill -9
# usage:                 4 outside   browsers, hostile clients and handlers, costs, the files of a release
# usage:                 5 faults    the faults of a pair that has nothing else
# usage:                 6 pair      a pair with standby, network, clocks, failing calls, Patroni; its forwarders
# usage:                 7 proofs    flipped bits, no memory, crowds, many devices, sanitizers, fuzzing: short forms, minutes;
# usage:                             with PUSH_TEST_LONG=1 those of the page Reliability, half a day
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/common.sh
. packaging/common.sh
part_names=(default together long outside faults pair proofs)
programs=(pushrouterd pushrouterd-fleet pushctl pushrouter-forward pushrouter-http pushrouter-metrics pushrouter-gateway
    pushrouter-web)
# All that Debian has for the default part. The readers of reports and metrics are Debian's packages, for Debian's
# python3: PATH may have another one first.
test_packages=(
    bsdutils buildah curl dbus-daemon debhelper debootstrap default-jdk-headless fish gcc golang-go groff iproute2
    libcurl3-gnutls libcurl3-nss lintian nghttp2-client nghttp2-server nodejs openssl postgresql prometheus python3-dbus
    python3-gi python3-jsonschema python3-junitparser python3-prometheus-client python3-venv shellcheck valgrind wget zsh
)

usage() { sed -n 's/^# usage: *\(test.sh .*\)$/usage: \1/p; s/^# usage: /   /p' "$0" >&2; exit 2; }

# Prints the name of the part that a word or a number names.
part_name() {
    local number
    for number in "${!part_names[@]}"; do
        [[ $1 != "${part_names[number]}" && $1 != $((number + 1)) ]] || { echo "${part_names[number]}"; return; }
    done
    return 1
}

parts=()
case ${1-default} in
    default) (($# == 0)) || usage; parts=(default) ;;
    quick) (($# == 1)) || usage; parts=(quick) ;;
    all) for choice in "${@:2}"; do name=$(part_name "$choice") || usage; parts+=("$name"); done ;;
    *) usage ;;
esac
((${#parts[@]})) || parts=("${part_names[@]}")

work=$(mktemp -d)
untested=$work/untested
touch "$untested" "$work/closing"
trap 'rm -rf "$work"' EXIT

# Keeps a test that this machine cannot run, with the reason, for the end.
leave_out() { say "not tested: $*"; echo "$*" >>"$untested"; }

# able WHAT PROGRAM...: whether the programs are installed; without one of them WHAT is left out.
able() {
    local program
    for program in "${@:2}"; do
        command -v "$program" >/dev/null || { leave_out "$1: $program is not installed"; return 1; }
    done
}

# Runs a program that prints "left out:", "not made:" or "not tested" and the reason if it cannot test something.
check() {
    local name=$1 line
    [[ $1 != *python3 ]] || name=$2
    "$@" | tee "$work/part"
    while read -r line; do leave_out "$name: $line"; done < <(
        sed -nE 's/^(==> )?(left out|not made|not tested): //p; s/^([^:]*): not tested, /\1: /p' "$work/part")
}

# Prints the tests that a log of the runner names as skipped, and what tests say of themselves, each once.
skipped() {
    sed -nE 's/^➜ (Test|Suite) (.*) skipped(: "(.*)")?\.?$/\2: \4/p; s/^(➜ )?not tested: //p' "$@" | sort -u
}

# Prints the twenty slowest tests of the runners' logs, each with its suite and its own time.
slowest() {
    local logs=("$work"/tests-*)
    [[ -e ${logs[0]} ]] || return 0
    say "the slowest tests, in seconds:"
    awk '
        /^◇ Suite / { suite[++depth] = $0; gsub(/^◇ Suite "?|"? started\.$/, "", suite[depth]) }
        /^(✔|✘) Suite / { depth-- }
        !/^(✔|✘) Test run / && match($0, /^(✔|✘) Test .* (passed|failed) after [0-9.]+ seconds/) {
            line = substr($0, 1, RLENGTH)
            seconds = line
            sub(/ seconds$/, "", seconds)
            sub(/.* /, "", seconds)
            sub(/^(✔|✘) Test "?/, "", line)
            sub(/"? (with [0-9]+ test cases? )?(passed|failed) after [0-9.]+ seconds$/, "", line)
            printf "%9.1f  %s: %s\n", seconds, suite[depth], line
        }' "${logs[@]}" | sort -rn | sed -n 1,20p
    rm -f "${logs[@]}"
}

# Runs tests in one process for each argument, side by side, and one after the other in each: so a time in the runner's
# log is the test's own. Tests of whole programs wait most of the time. An argument holds the options of swift test that
# select tests. Shows suites, failures and the faulty disk's figures out of thousands of lines. Keeps the runners' last
# lines in closing. As root, what needs another user is run as nobody afterwards.
run_tests() {
    local choice log logs=() processes=() process failed=no line
    for choice; do
        log=$(mktemp "$work/tests-XXXXXX")
        ((EUID != 0)) || choice+=" --skip WithoutRoot"
        # shellcheck disable=SC2086  # The choice is several words.
        (swift test --skip-build --ignore-lock --no-parallel $choice 2>&1 | tee "$log" |
            grep --line-buffered -E '^(✔ Suite|✘|↳|Test run|disk, |random searches )') &
        processes+=($!)
        logs+=("$log")
    done
    for process in "${processes[@]}"; do wait "$process" || failed=yes; done
    while read -r line; do leave_out "$line"; done < <(skipped "${logs[@]}")
    if [[ $failed == yes ]]; then
        for log in "${logs[@]}"; do
            tail -n 40 "$log"
            # Repeats the failures at the end, with the output that they quote.
            grep -E -A 60 '^✘ .* recorded an issue' "$log" | grep -vE '^(✔|◇|disk, |--$)' | tail -n 200 || true
        done
        fail "tests failed"
    fi
    for log in "${logs[@]}"; do keep_closing "$log"; done
}

keep_closing() {
    grep -E 'Test run with [1-9][0-9]* tests?.* passed' "$1" >>"$work/closing" ||
        fail "the test runner does not say that tests passed"
}

# Runs the tests that need a user other than root: their functions are named …WithoutRoot.
run_tests_without_root() {
    ((EUID == 0)) || return 0
    local bundle=$PWD/.build/debug/pushrouterdPackageTests.xctest log=$work/without-root
    local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all env "HOME=$work/nobody" TMPDIR=/tmp)
    say "tests: those that need a user other than root, as nobody"
    if ! "${nobody[@]}" test -x "$bundle"; then
        leave_out "WithoutRoot: nobody may not search a directory above $bundle"
        return
    fi
    "${nobody[@]}" "$bundle" --testing-library swift-testing --filter WithoutRoot >"$log" 2>&1 ||
        { cat "$log"; fail "tests failed as nobody"; }
    keep_closing "$log"
}

has_debug=no has_release=no
build_debug() {
    [[ $has_debug == no ]] || return 0
    say "debug: swift build --build-tests"
    swift build --build-tests
    has_debug=yes
}
build_release() {
    [[ $has_release == no ]] || return 0
    say "release: swift build -c release"
    swift build -c release
    has_release=yes
}

check_texts() {
    local scripts page warnings
    say "format: swift format lint --strict"
    swift format lint --strict --parallel --recursive Package.swift Sources Tests
    mapfile -t scripts < <(grep -rlE '^#!.*\b(ba)?sh$' packaging .ci Tests --include='*.sh' --include=run)
    if able "scripts" shellcheck; then
        say "scripts: shellcheck ${scripts[*]}"
        shellcheck -x "${scripts[@]}"
    fi
    if able "manual pages" groff; then
        say "manual pages: groff, without a warning"
        for page in packaging/man/*; do
            warnings=$(groff -ww -mandoc -Tutf8 "$page" 2>&1 >/dev/null)
            [[ -z $warnings ]] || fail "$page: $warnings"
        done
    fi
}

part_quick() {
    check_texts
    build_debug
    say "tests: swift test, without those that start a program of ours"
    run_tests '--skip EndToEndTests|BudgetTests|FaultyDiskTests|ReportReadingTests'
    run_tests_without_root
}

part_default() {
    local program libraries
    check_texts
    build_debug
    say "fuzzing: the harnesses still compile"
    sh Tests/Fuzz/run.sh --check
    say "tests: swift test, in three processes side by side"
    run_tests '--skip EndToEndTests' '--filter EndToEndTests\.[A-G]' '--filter EndToEndTests\.[H-Z]'
    run_tests_without_root

    say "reports: figures and formats, recomputed by a program of its own"
    check /usr/bin/python3 Tests/Reports/report.py .build/debug/pushrouterd .build/debug/pushctl
    say "metrics: read by other programs' readers, served to hostile clients, scraped by Prometheus"
    check /usr/bin/python3 Tests/Metrics/metrics.py .build/debug/pushrouterd .build/debug/pushrouter-metrics
    say "together: handlers of all kinds, reloads, readers, erasures and ends of everything at once"
    check /usr/bin/python3 Tests/Together/together.py --seed 1 --seed 2 --seed 3 --seconds 20
    say "fleet: a pair whose leader is killed, stopped and handed over, and whose database crashes"
    check /usr/bin/python3 Tests/Fleet/fleet.py --short
    check /usr/bin/python3 Tests/Fleet/forward.py --rounds 4
    say "gateway: unmodified clients of FCM and APNs, beside what was recorded of them"
    check /usr/bin/python3 Tests/Gateway/gateway.py
    check /usr/bin/python3 Tests/Gateway/examples.py
    say "gateway: pywebpush, unmodified, and kills while it sends"
    check /usr/bin/python3 Tests/Gateway/webpush.py
    say "conform: dispatchers with planted faults, in Java, JavaScript and Swift"
    check /usr/bin/python3 Tests/Conform/conform.py
    say "gateway: crowds, floods and clients that do not read, beside a good one"
    check /usr/bin/python3 Tests/Gateway/hostile.py
    say "gateway: a foreign name under its authority, for several stacks of TLS"
    check /usr/bin/python3 Tests/Gateway/stacks.py

    build_release
    for program in "${programs[@]}"; do
        libraries=$(ldd ".build/release/$program")
        [[ $libraries != *libswift* && $libraries != *"not found"* ]] ||
            fail "$program needs more than Debian: $libraries"
        ".build/release/$program" --version
    done
    if able "cost" valgrind gcc; then
        say "cost: instructions of one delivery, below their bounds"
        Tests/Benchmarks/budget.sh
    fi
    if able "packages and images" dh; then
        say "packages: built, installed, upgraded and removed under a systemd of their own"
        check packaging/build-deb.sh --programs .build/release
        check Tests/Package/run.sh
        say "images: built on a base that is made here, and run"
        check Tests/Image/run.sh
    fi
    say "quickstart: packaging/quickstart.sh"
    bash packaging/quickstart.sh </dev/null
}

part_together() {
    build_debug
    say "together: an hour in which each act comes behind each other one"
    check /usr/bin/python3 Tests/Together/together.py --seed 1 --seconds 3600
}

part_long() {
    build_debug
    say "long: random searches in full, 2,000 power cuts, each failed sync six times, 1,000 rounds of kill -9"
    PUSH_TEST_CASES=all run_tests '--skip EndToEndTests|BudgetTests|FaultyDiskTests'
    PUSH_TEST_CUTS=2000 run_tests '--filter PowerCutTests'
    PUSH_TEST_SYNCS=6 run_tests '--filter FailedSyncTests'
    PUSH_TEST_ROUNDS=1000 run_tests '--filter EndToEndTests.CrashTests'
}

part_outside() {
    local package
    require_packages chromium
    build_debug
    build_release
    say "gateway: unmodified clients of FCM and APNs, also what takes long"
    check /usr/bin/python3 Tests/Gateway/gateway.py --slow
    say "page: in a browser, beside firebase-admin, programs that are killed and clients that attack"
    check /usr/bin/python3 Tests/Page/page.py .build/debug
    say "pages: opened in a browser, light, dark and on a small screen"
    check /usr/bin/python3 Tests/Reports/browser.py .build/debug/pushrouterd .build/debug/pushctl
    say "cost: instructions of one send through the gateway, below their bound"
    Tests/Benchmarks/gateway-budget.sh
    say "cost: taps on one push that has not come yet; requests of the largest size, whatever is in them"
    Tests/Benchmarks/taps.sh
    Tests/Benchmarks/hostile-shapes.sh
    say "hostile clients: below 128 MiB, and a good one is served"
    Tests/Benchmarks/flood.sh
    say "faults that were found once: none has come back"
    check /usr/bin/python3 Tests/Break/break.py --programs .build/release
    say "hostile handlers: nothing is left of 10,000 runs"
    Tests/Benchmarks/hostile.sh process_groups 10000
    say "packages: built twice, with the same bytes"
    packaging/build-deb.sh --programs .build/release
    packaging/build-deb.sh --programs .build/release --output "$work/again"
    for package in .build/debian/*.deb; do cmp "$package" "$work/again/${package##*/}"; done
    say "packages: from an empty root to the first answer and the first page, by README's commands"
    check Tests/Package/first-answer.sh .build/debian
    say "release: source archive, packages, images and checksums"
    check packaging/release.sh --programs .build/release --output "$work/release-files"
    (cd "$work/release-files" && sha256sum --check SHA256SUMS)
}

part_faults() {
    build_debug
    say "fleet: the faults of a pair that has nothing else"
    check /usr/bin/python3 Tests/Fleet/fleet.py --full --plan 1
    say "fleet: both disks lost under load, and all counted again"
    check /usr/bin/python3 Tests/Fleet/recount.py --seconds 30
}

part_pair() {
    require_packages etcd-server patroni
    build_debug
    say "fleet: the faults of a pair with standby, network, clocks, failing calls and Patroni"
    check /usr/bin/python3 Tests/Fleet/fleet.py --full --plan 2 --plan 3 --plan 4 --plan 5 --plan 6 --plan 7
    say "fleet: the same requests to one daemon and to a pair"
    check /usr/bin/python3 Tests/Fleet/twin.py --requests 100000 --moves 100
    say "fleet: leaders that stand still beside their forwarders"
    check /usr/bin/python3 Tests/Fleet/forward.py --rounds 40
}

part_proofs() {
    local is_long=${PUSH_TEST_LONG-}
    build_debug
    build_release
    say "damage: single bits of log and ledger"
    check /usr/bin/python3 Tests/Long/damage.py --programs .build/release ${is_long:+--flips 10000}
    say "memory: SQLite and HTTP/2 without memory, by their own hooks"
    check /usr/bin/python3 Tests/Long/memory.py --programs .build/release ${is_long:+--rounds 4000}
    say "crowd: ten times what one producer may have in flight, beside another"
    check /usr/bin/python3 Tests/Long/crowd.py --programs .build/release ${is_long:+--seconds 600}
    say "scale: many devices and deliveries beside one percent"
    check /usr/bin/python3 Tests/Long/scale.py --programs .build/release ${is_long:+--devices 1000000 --deliveries 10000000}
    say "sanitizers: suites of the adapters"
    if [[ -n $is_long ]]; then
        Tests/Long/sanitize.sh address
        Tests/Long/sanitize.sh thread
    else
        Tests/Long/sanitize.sh address HTTP2Tests GzipTests JSONCTests
    fi
    say "fuzzing: each target"
    if [[ -n $is_long ]]; then sh Tests/Fuzz/run.sh --all 1200; else sh Tests/Fuzz/run.sh --all 10; fi
}

require_swift
require_packages "${build_packages[@]}"
(require_packages "${test_packages[@]}") || say "packages are missing: what needs them is not tested"
for part in "${parts[@]}"; do
    [[ ${#parts[@]} == 1 ]] || say "part: $part"
    "part_$part"
    slowest
done

say "not tested: $(wc -l <"$untested")"
sed 's/^/    /' "$untested"
[[ ${PUSH_TEST_ALL-} != 1 || ! -s $untested ]] || fail "PUSH_TEST_ALL=1, and these were not tested"
say "passed; the test runner's closing lines:"
cat "$work/closing"
