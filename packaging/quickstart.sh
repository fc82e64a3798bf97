#!/usr/bin/env bash
# Builds pushctl and explains a payload. Builds pushrouterd, injects every payload of Tests/Fixtures, taps a
# notification, lets a handler overrun its deadline, and prints the report. Both are debug builds, which take half the
# time of a release build. Needs Debian 12 and a Swift toolchain. Installs the missing packages of the build, and
# changes nothing else on the system.
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
work='' daemon=''

# At every exit: ends all processes and removes the files, unless --keep is given.
clean_up() {
    local status=$?
    trap - EXIT
    if [[ -n $daemon ]]; then
        kill -TERM "$daemon" 2>/dev/null || true
        wait "$daemon" || true
    fi
    if ((status != 0)) && [[ -s $work/daemon.log ]]; then
        printf '%s\n' "the end of the daemon's log:" >&2
        tail -n 20 "$work/daemon.log" >&2
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
say "building: swift build --product pushrouterd"
swift build --product pushrouterd

# --- configure ---

work=$(mktemp -d "${TMPDIR:-/tmp}/pushrouterd.XXXXXX")
mkdir "$work/handlers"
cp -r etc/pushrouterd "$work/config"

cat >"$work/handlers/received" <<'END'
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
for handler in received overrun; do
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
cat >"$work/config/routes.d/20-received.route" <<'END'
[Match]
Platform=android ios
[Route]
Handler=received
END

pushctl() { "$bin/pushctl" --config "$work/config" --state "$work/state" --runtime "$work/run" "$@"; }

pushctl verify >"$work/verify.log" || fail "the configuration is wrong: $(<"$work/verify.log")"
say "configuration: the shipped one, with two handlers and two routes more, in $work/config"

# --- start ---

"$bin/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/run" \
    </dev/null >"$work/daemon.log" 2>&1 &
daemon=$!
# control.sock appears first; 10 s are far more than a start takes.
for ((tries = 0; tries < 200; tries++)); do
    pushctl status >/dev/null 2>&1 && break
    kill -0 "$daemon" 2>/dev/null || fail "the daemon did not start"
    sleep 0.05
done
pushctl status >/dev/null || fail "the daemon is not ready after 10 s"
say "daemon: process $daemon, sockets in $work/run"

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

say "handlers: 'received' ran $(wc -l <"$work/received.log") times; at last: $(tail -n 1 "$work/received.log")"
say "report: pushctl report"
pushctl report

kill -TERM "$daemon"
wait "$daemon" || fail "the daemon ended with status $?"
daemon=''
# Finds its handlers by their environment; a process of another user cannot be one.
left=$(grep -lsz "^DEMO=$work\$" /proc/[0-9]*/environ || true)
[[ -z $left ]] || fail "processes of handlers are left: $left"
say "stopped: the daemon ended with status 0, and no process of a handler remains"

cat <<END

The programs are in $bin; swift build -c release makes all of them, as they are installed, in .build/release.
Next, each push on a page, with a gateway:  swift build && $bin/pushctl dev
A payload of your own, without a daemon:  $bin/pushctl explain --platform android FILE
What is configured and how:               etc/pushrouterd, packaging/man/pushrouterd.conf.5
All that pushctl does:                    $bin/pushctl --help
END
if [[ $keep == yes ]]; then
    cat <<END
Kept in $work: config, state (the ledger), daemon.log, inject.log, received.log. The report again, and the daemon:
  $bin/pushctl --state $work/state report
  $bin/pushrouterd --config $work/config --state $work/state --runtime $work/run
END
else
    echo "With --keep the ledger and the configuration of this run stay."
fi
