#!/usr/bin/env bash
# Builds pushctl and explains a payload. Builds daemon, gateway and page, starts them with "pushctl dev", injects every
# payload of Tests/Fixtures, taps a notification, lets a handler overrun its deadline, prints the report and the page's
# address. In a terminal the page stays until Ctrl-C. All are debug builds, which take half the time of a release build.
# Needs Debian 12 and a Swift toolchain. Installs the missing packages of the build, and changes nothing else on the
# system.
# usage: quickstart.sh [--keep]     --keep: leave ledger, configuration and logs for a look
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/common.sh
. packaging/common.sh

keep=no
case "$#:${1-}" in
    0:) ;;
    1:--keep) keep=yes ;;
    *) sed -n 's/^# usage/usage/p' "$0" >&2; exit 2 ;;
esac

payloads=Tests/Fixtures/payloads
work='' dev=''

# At every exit: ends all processes and removes the files, unless --keep is given.
clean_up() {
    local status=$?
    trap - EXIT
    if [[ -n $dev ]]; then
        kill -TERM "$dev" 2>/dev/null || true
        wait "$dev" || true
    fi
    if ((status != 0)) && [[ -s $work/log ]]; then
        printf '%s\n' "the end of the programs' log:" >&2
        tail -n 20 "$work/log" >&2
    fi
    [[ $keep == yes || -z $work ]] || rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- build ---

require_swift
require_packages "${build_packages[@]}"
say "building: swift build --product pushctl, $(swift --version 2>/dev/null | sed -n 1p)"
swift build --product pushctl
bin=$PWD/.build/debug
example=$payloads/braze-android/droidboy-campaign.json
say "explain: pushctl explain --platform android $example"
"$bin/pushctl" explain --platform android "$example"
for product in pushrouterd pushrouter-gateway pushrouter-web; do
    say "building: swift build --product $product"
    swift build --product "$product"
done

# --- start ---

work=$(mktemp -d "${TMPDIR:-/tmp}/pushrouterd.XXXXXX")
# The commands find the directory of "pushctl dev" by this variable.
export PUSHROUTER_DIRECTORY=$work
pushctl() { "$bin/pushctl" "$@"; }
# A process group of its own, so that a Ctrl-C of the terminal ends this script's wait alone.
set -m
"$bin/pushctl" dev --directory "$work" --json </dev/null >"$work/addresses" 2>"$work/log" &
dev=$!
set +m
# The line appears when all three are ready; 20 s are far more than a start takes.
for ((tries = 0; tries < 400; tries++)); do
    [[ ! -s $work/addresses ]] || break
    kill -0 "$dev" 2>/dev/null || fail "the programs did not start"
    sleep 0.05
done
page=$(sed -n 's/^{"page":"\([^"]*\)".*/\1/p' "$work/addresses")
[[ -n $page ]] || fail "the programs are not ready after 20 s"
say "dev: daemon, gateway and page run, below $work"

# --- configure ---

mkdir "$work/handlers"

cat >"$work/handlers/noted" <<'END'
# Notes its input. Standard input has all facts as JSON, the environment most of them.
bytes=$(wc -c)
echo "seq $PUSH_SEQ: $PUSH_CALLBACK, $bytes bytes, $PUSH_DEADLINE_REMAINING_MS ms left" >>"$DEMO/received.log"
echo '{"result":"newData"}'
END
cat >"$work/handlers/overrun" <<'END'
# Overruns its deadline, ignores SIGTERM, and has a child outside its process group.
trap '' TERM
setsid sleep 60 &
sleep 60
END
for handler in noted overrun; do
    cat >"$work/config/handlers.d/$handler.handler" <<END
[Handler]
Type=exec
Exec=/bin/sh $work/handlers/$handler
Environment=DEMO=$work
END
done
cat >"$work/config/routes.d/10-overrun.route" <<'END'
[Match]
App=org.example.slow
[Route]
Handler=overrun
Deadline=500ms
END
cat >"$work/config/routes.d/20-noted.route" <<'END'
[Match]
Platform=android ios
[Route]
Handler=noted
END
pushctl verify >"$work/verify.log" || fail "the configuration is wrong: $(<"$work/verify.log")"
pushctl reload >>"$work/verify.log" || fail "the daemon refused the configuration: $(<"$work/verify.log")"
say "configuration: two handlers and two routes more, in $work/config"

# --- inject ---

# The files for one platform, from expected.json.
files_for() {
    awk -v dir="$payloads" -v wanted="\"$1\"," '
        /^ "/ { split($0, part, "\""); file = part[2] }
        $1 == "\"platform\":" && $2 == wanted { print dir "/" file }' "$payloads/expected.json"
}

# inject STATE PLATFORM DEVICE: sends all the files for a platform, and waits for every outcome.
inject() {
    local files
    mapfile -t files < <(files_for "$2")
    ((${#files[@]} > 0)) || fail "$payloads/expected.json has no payloads for $2"
    pushctl inject --wait --state "$1" --platform "$2" --app org.example.demo --device "$3" --external-id quickstart \
        "${files[@]}" >>"$work/inject.log" || fail "the daemon refused a payload"
    say "inject: ${#files[@]} payloads for $2, the app is in the $1; every outcome is known"
}

inject background android pixel
inject foreground android pixel
inject background ios iphone
inject foreground ios iphone
inject background web firefox
for file in "$payloads"/braze-web/*.json; do
    grep -q "^ \"${file#"$payloads"/}\"" "$payloads/expected.json" ||
        say "inject: not ${file#"$payloads"/}, which has the data of a click and is no delivery"
done

# --- tap, overrun ---

seq=$(sed -n 's|^accepted  seq \([0-9]*\)  (.*/droidboy-campaign.json)$|\1|p' "$work/inject.log" | head -n 1)
[[ -n $seq ]] || fail "droidboy-campaign.json was not accepted"
pushctl open "$seq" --wait >>"$work/inject.log"
say "open: tapped the notification of seq $seq, and this is its story"
pushctl show "$seq"

say "overrun: a handler that would take a minute, on a route with Deadline=500ms"
pushctl inject --wait --app org.example.slow --platform android "$payloads/other/customerio-fcm.json" |
    tee -a "$work/inject.log" | grep timed_out || fail "the handler was not stopped at its deadline"

# --- report, stop ---

say "handlers: 'noted' ran $(wc -l <"$work/received.log") times; at last: $(tail -n 1 "$work/received.log")"
say "report: pushctl report"
pushctl report

say "page: $page has each of these pushes"
if [[ -t 0 && -t 1 ]]; then
    echo "Open it. A payload of your own: PUSHROUTER_DIRECTORY=$work $bin/pushctl inject --platform android FILE"
    echo "Ctrl-C ends the programs."
    trap ':' INT
    wait "$dev" || true
    trap 'exit 130' INT
fi
kill -TERM "$dev" 2>/dev/null || fail "the programs ended by themselves"
wait "$dev" || fail "pushctl dev ended with status $?"
dev=''
# Finds its handlers by their environment; a process of another user cannot be one.
left=$(grep -lsz "^DEMO=$work\$" /proc/[0-9]*/environ || true)
[[ -z $left ]] || fail "processes of handlers are left: $left"
say "stopped: the programs ended with status 0, and no process of a handler remains"

cat <<END

The programs are in $bin:  export PATH=$bin:\$PATH
Next, in a directory of your own, each push on a page, with a gateway:  pushctl dev
A payload of your own, without a daemon:  pushctl explain --platform android FILE
What is configured and how:               etc/pushrouterd, packaging/man/pushrouterd.conf.5
All that pushctl does:                    pushctl --help
As installed, optimized and smaller:      swift build -c release, or packaging/build-deb.sh
END
if [[ $keep == yes ]]; then
    cat <<END
Kept in $work: config, state (the ledger), log, inject.log, received.log. Again, with its page and the report:
  $bin/pushctl dev --directory $work
  PUSHROUTER_DIRECTORY=$work $bin/pushctl report
END
else
    echo "With --keep the ledger and the configuration of this run stay."
fi
