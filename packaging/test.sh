#!/usr/bin/env bash
# Runs the tests: format, scripts, manual pages, debug build, fuzz harnesses, unit tests, tests of whole programs,
# release build, packages and quickstart.
# Installs missing Debian packages. Ends with the test runner's own closing lines. Reports and skips tests that this
# machine cannot run; with PUSH_TEST_ALL=1 such a test fails.
# usage: test.sh [quick|all|fleet]     quick: format, the core's and the adapters' tests; all: the long runs too, an hour;
# usage:                               fleet: the faults of a pair alone, all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/common.sh
. packaging/common.sh
tier=${1-full}
programs=(pushrouterd pushrouterd-fleet pushctl pushrouter-forward pushrouter-http pushrouter-metrics pushrouter-gateway
    pushrouter-web)
case "$#:$tier" in
    0:full | 1:quick | 1:all | 1:fleet) ;;
    *) sed -n 's/^# usage/usage/p' "$0" >&2; exit 2 ;;
esac

# Reports a test that this machine cannot run, with the reason.
leave_out() {
    [[ ${PUSH_TEST_ALL-} != 1 ]] || fail "PUSH_TEST_ALL=1, but this is not tested: $*"
    say "not tested: $*"
}

# Runs a program that prints "left out:" and the reason if it cannot test something.
check() {
    "$@" | tee "$part"
    ! grep -q '^left out: ' "$part" || leave_out "the tests that $2 leaves out"
}

# Runs tests in one process for each argument, side by side: a process runs as many tests at once as there are
# processors, and tests of whole programs wait most of the time. An argument holds the options of swift test that select
# tests. Shows suites, failures and the faulty disk's figures out of thousands of lines. Keeps the runners' last lines
# in closing.
run_tests() {
    local choice log logs=() processes=() process failed=no
    for choice; do
        log=$work/tests-${#logs[@]}
        # shellcheck disable=SC2086  # The choice is several words.
        (swift test --skip-build --ignore-lock $choice 2>&1 | tee "$log" |
            grep --line-buffered -E '^(✔ Suite|✘|↳|Test run|disk, )') &
        processes+=($!)
        logs+=("$log")
    done
    for process in "${processes[@]}"; do wait "$process" || failed=yes; done
    if [[ $failed == yes ]]; then
        for log in "${logs[@]}"; do
            tail -n 40 "$log"
            # Repeats the failures at the end, with the output that they quote.
            grep -E -A 60 '^✘ .* recorded an issue' "$log" | grep -vE '^(✔|◇|disk, |--$)' | tail -n 200 || true
        done
        fail "tests failed"
    fi
    for log in "${logs[@]}"; do
        grep -E 'Test run with [1-9][0-9]* tests?.* passed' "$log" >>"$work/closing" ||
            fail "the test runner does not say that tests passed"
    done
}

work=$(mktemp -d)
part=$work/part
hour=
trap '[[ -z $hour ]] || kill "$hour" 2>/dev/null || true; rm -rf "$work"' EXIT

require_swift
# The readers of reports and metrics are Debian's packages, for Debian's python3: PATH may have another one first.
require_packages "${build_packages[@]}" curl dbus-daemon iproute2 openssl postgresql python3-dbus python3-gi \
    python3-jsonschema python3-junitparser python3-prometheus-client python3-venv

if [[ $tier == fleet ]]; then
    say "debug: swift build"
    for program in pushrouterd-fleet pushrouterd pushctl pushrouter-forward; do
        swift build --product "$program"
    done
    say "fleet: all faults of a pair"
    check /usr/bin/python3 Tests/Fleet/fleet.py --full
    say "fleet: the same requests to one daemon and to a pair"
    check /usr/bin/python3 Tests/Fleet/twin.py --requests 100000 --moves 100
    say "fleet: leaders that stand still beside their forwarders"
    check /usr/bin/python3 Tests/Fleet/forward.py --rounds 40
    say "fleet: both disks lost under load, and all counted again"
    check /usr/bin/python3 Tests/Fleet/recount.py --seconds 30
    exit
fi

say "format: swift format lint --strict"
swift format lint --strict --parallel --recursive Package.swift Sources Tests

mapfile -t scripts < <(grep -rlE '^#!.*\b(ba)?sh$' packaging .ci Tests --include='*.sh' --include=run)
for script in "${scripts[@]}" packaging/common.sh; do bash -n "$script"; done
if command -v shellcheck >/dev/null; then
    say "scripts: shellcheck ${scripts[*]}"
    shellcheck -x "${scripts[@]}"
else
    leave_out "scripts: they parse; shellcheck is not installed, so no more is checked"
fi

if command -v groff >/dev/null; then
    say "manual pages: groff, without a warning"
    for page in packaging/man/*; do
        warnings=$(groff -ww -mandoc -Tutf8 "$page" 2>&1 >/dev/null)
        [[ -z $warnings ]] || fail "$page: $warnings"
    done
else
    leave_out "manual pages: groff is not installed, so they are not checked"
fi

say "debug: swift build --build-tests"
swift build --build-tests
if [[ $tier == quick ]]; then
    say "tests: swift test, without those that start a program of ours, and without random histories"
    run_tests '--skip EndToEndTests|BudgetTests|FaultyDiskTests|ReportReadingTests|Random|Property|Chaos|ModelTests'
    cat "$work/closing"
    exit
fi
say "fuzzing: the harnesses still compile"
sh Tests/Fuzz/run.sh --check
if [[ $tier == all ]]; then
    say "together: an hour begins, in which each act comes behind each other one; beside all that follows"
    mkdir "$work/programs"
    for program in "${programs[@]}"; do cp ".build/debug/$program" "$work/programs"; done
    /usr/bin/python3 Tests/Together/together.py --seed 1 --seconds 3600 --programs "$work/programs" \
        >"$work/hour" 2>&1 &
    hour=$!
fi
say "tests: swift test, in two processes side by side"
run_tests '--skip EndToEndTests' '--filter EndToEndTests'

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
slow=
[[ $tier != all ]] || slow=--slow
check /usr/bin/python3 Tests/Gateway/gateway.py $slow
say "gateway: crowds, floods and clients that do not read, beside a good one"
check /usr/bin/python3 Tests/Gateway/hostile.py

say "gateway: a foreign name under its authority, for several stacks of TLS"
check /usr/bin/python3 Tests/Gateway/stacks.py

if [[ $tier == all ]]; then
    say "page: in a browser, beside firebase-admin, programs that are killed and clients that attack"
    require_packages chromium
    check /usr/bin/python3 Tests/Page/page.py .build/debug
fi

say "release: swift build -c release"
swift build -c release
for program in "${programs[@]}"; do
    libraries=$(ldd ".build/release/$program")
    [[ $libraries != *libswift* && $libraries != *"not found"* ]] || fail "$program needs more than Debian: $libraries"
    ".build/release/$program" --version
done

if command -v valgrind >/dev/null && command -v gcc >/dev/null; then
    say "cost: instructions of one delivery, below their bounds"
    Tests/Benchmarks/budget.sh
    if [[ $tier == all ]]; then
        if command -v h2load >/dev/null; then
            say "cost: instructions of one send through the gateway, below their bound"
            Tests/Benchmarks/gateway-budget.sh
        else
            leave_out "cost of the gateway: nghttp2-client is not installed, so instructions are not counted"
        fi
    fi
else
    leave_out "cost: valgrind or gcc is not installed, so instructions are not counted"
fi

if command -v dh >/dev/null; then
    say "packages: built, installed, upgraded and removed under a systemd of their own"
    packaging/build-deb.sh --programs .build/release
    Tests/Package/run.sh
else
    leave_out "packages: debhelper is not installed, so they are not built"
fi

say "quickstart: packaging/quickstart.sh"
bash packaging/quickstart.sh </dev/null

if [[ $tier == all ]]; then
    require_packages gcc valgrind debhelper chromium
    say "pages: opened in a browser, light, dark and on a small screen"
    check /usr/bin/python3 Tests/Reports/browser.py .build/debug/pushrouterd .build/debug/pushctl
    say "cost: taps on one push that has not come yet; requests of the largest size, whatever is in them"
    Tests/Benchmarks/taps.sh
    Tests/Benchmarks/hostile-shapes.sh
    say "hostile clients: below 128 MiB, and a good one is served"
    Tests/Benchmarks/flood.sh
    say "hostile handlers: nothing is left of 10,000 runs"
    Tests/Benchmarks/hostile.sh process_groups 10000
    say "packages: built again, with the same bytes"
    packaging/build-deb.sh --programs .build/release --output .build/debian-again
    for package in .build/debian/*.deb; do cmp "$package" ".build/debian-again/${package##*/}"; done
    rm -r .build/debian-again
    say "release: source archive, packages, images and checksums"
    packaging/release.sh --programs .build/release --output "$work/release-files"
    (cd "$work/release-files" && sha256sum --check SHA256SUMS)
    say "long: 2,000 power cuts, each failed sync six times, 1,000 rounds of kill -9"
    PUSH_TEST_CUTS=2000 run_tests '--filter PowerCutTests'
    PUSH_TEST_SYNCS=6 run_tests '--filter FailedSyncTests'
    PUSH_TEST_ROUNDS=1000 run_tests '--filter EndToEndTests.CrashTests'
    wait "$hour" || { tail -n 100 "$work/hour"; fail "the hour of the together test failed"; }
    hour=
    cat "$work/hour"
fi

say "passed; the test runner's closing lines:"
cat "$work/closing"
