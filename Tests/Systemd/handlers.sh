#!/usr/bin/env bash
# Runs the packaged unit under a real systemd: cgroups of handlers, users of handlers, and units of programs apart.
# For a throwaway system only, since it installs files and users:
#
#   Tests/Package/box.sh bash Tests/Systemd/handlers.sh [BUILD]
#
# BUILD has the programs; the default is .build/debug. Prints what holds, and exits with 1 at the first failure.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-.build/debug}
step() { echo "ok: $*"; }
fail() {
  echo "not ok: $*" >&2
  journalctl -q -n 40 --no-pager >&2 || true
  exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
# The JSON line of the outcome of a payload for an app.
outcome() { pushctl inject --wait --json --app "$1" - <<<'{"k":"v"}' | tail -n 1 || true; }
expect() {
  local line
  line=$(outcome "$1")
  [[ $line == *"\"outcome\":\"$2\""* ]] || fail "$1: not $2, but: $line"
  step "$1: $2${3:+, $3}"
}
# Waits until no process has these words in its command line.
gone() {
  for ((i = 0; i < 1500; i++)); do
    pgrep -f "$1" >/dev/null || return 0
    sleep 0.02
  done
  fail "there are still processes: $1"
}

install -m 755 "$build/pushrouterd" /usr/sbin/
install -m 755 "$build/pushctl" /usr/bin/
install -D -m 644 packaging/systemd/pushrouterd.sysusers /usr/lib/sysusers.d/pushrouterd.conf
systemd-sysusers
install -m 644 packaging/systemd/pushrouterd.service packaging/systemd/pushrouterd-*.socket /usr/lib/systemd/system/
mkdir -p /etc/pushrouterd/{handlers.d,routes.d} /opt/handlers
printf '[Dispatch]\nMode=relay\n' >/etc/pushrouterd/pushrouterd.conf
printf '[Handler]\nType=journal\n' >/etc/pushrouterd/handlers.d/journal.handler
printf '[Match]\n[Route]\nHandler=journal\n' >/etc/pushrouterd/routes.d/99-default.route
# handler NAME SCRIPT [LINES]
handler() {
  printf '%s\n' '#!/bin/sh' "$2" >"/opt/handlers/$1"
  chmod 755 "/opt/handlers/$1"
  printf '[Handler]\nType=exec\nExec=/opt/handlers/%s\n%s\n' "$1" "${3:-}" >"/etc/pushrouterd/handlers.d/$1.handler"
  printf '[Match]\nApp=%s\n[Route]\nHandler=%s\nDeadline=%s\n' "$1" "$1" "${4:-9s}" \
    >"/etc/pushrouterd/routes.d/50-$1.route"
}
handler plain 'exec cat >/dev/null'
handler escapes 'env -i setsid sh -c "sleep 4711; :" & sleep 4712' '' 2s
handler limited 'exit 0' $'MemoryMax=64M\nTasksMax=20'
# shellcheck disable=SC2016  # The words are the handler's.
handler nice '[ "$(nice)" = 5 ]' 'Nice=5'
handler apart-handled 'cat >/dev/null' '' 9s
handler apart-readme 'cat >/dev/null; echo "{\"result\":\"newData\"}"'
handler apart-answers 'read -r line; echo "{\"status\":\"rejected\"}"'
handler apart-failed 'echo "{\"result\":\"failed\",\"reason\":\"no database\"}"; exit 3'
handler apart-declines 'exit 80'
handler apart-hangs 'trap "" TERM; setsid sleep 4713 & while :; do sleep 1; done' '' 2s
# Succeeds if it can do nothing to the daemon.
# shellcheck disable=SC2016  # The words are the handler's.
alone='! cat /var/lib/pushrouterd/ledger.db >/dev/null 2>&1 && ! kill -0 $(cat /run/main-pid) 2>/dev/null && ! perl -MIO::Socket::UNIX -e '\''exit !IO::Socket::UNIX->new(Peer => "/run/pushrouterd/control.sock")'\'
handler apart-alone "$alone"

systemctl daemon-reload
systemctl start pushrouterd
systemctl show -P MainPID pushrouterd >/run/main-pid
[[ $(pushctl status --json) == *'"containment":"cgroups"'* ]] || fail "$(pushctl status --all)"
step "the packaged unit gives each run a cgroup"
expect plain handled
expect nice handled
expect escapes timed_out
gone 'sleep 471[12]'
# The cgroups of plain and nice are kept for their next runs, until a reload.
systemctl reload pushrouterd
runs=/sys/fs/cgroup/system.slice/pushrouterd.service/runs
for ((i = 0; i < 100; i++)); do [[ -n $(find "$runs" -mindepth 1 -type d) ]] || break; sleep 0.02; done
[[ -z $(find "$runs" -mindepth 1 -type d) ]] || fail "cgroups are left: $(ls "$runs")"
step "what got away is gone, and so are the cgroups"
expect limited handled "also where a controller is missing: $(journalctl -q -u pushrouterd -g 'has no effect' -o cat | tail -n 1)"
[[ $(pushctl status --json) == *'"sandbox":{"change_user":false,"internet_sockets":false,"interfaces":false,"writable_code":false,"private_tmp":true,"hidden_homes":true,"read_only_root":true,"session_bus":false}'* ]] ||
  fail "what the daemon says of its sandbox: $(pushctl status --all)"
step "the daemon tells what the packaged unit lets handlers do"
handler user "[ \$(id -un) = nobody ] && $alone" 'User=nobody'
printf '[Handler]\nType=http\nURL=http://127.0.0.1:1/\n' >/etc/pushrouterd/handlers.d/hook.handler
systemctl reload pushrouterd 2>/dev/null && fail "a handler with User= is taken without the capabilities"
problem=$(pushctl status --json)
[[ $problem == *'user.handler: error: User=nobody'*handler-users.conf* ]] || fail "status: $problem"
[[ $problem == *'hook.handler: error: Type=http: the service has no network'* ]] || fail "status: $problem"
[[ $(pushctl status --format prometheus) == *'pushrouterd_configuration_problem 1'* ]] || fail "metrics"
journalctl -q -u pushrouterd MESSAGE_ID=4731c6261ea168910d23f5814698302a -o cat | grep -q handler-users.conf ||
  fail "the journal has no entry with an explanation"
[[ $(pushctl verify || :) == *'user.handler: error: User=nobody'* ]] || fail "verify: $(pushctl verify)"
[[ $(pushctl doctor || :) == *'user.handler: error: User=nobody'* ]] || fail "doctor: $(pushctl doctor)"
systemctl stop pushrouterd.service pushrouterd-{inject,control,read}.socket
[[ $(pushctl verify || :) == *'user.handler: error: User=nobody'* ]] || fail "verify without the daemon: $(pushctl verify)"
systemctl start pushrouterd-{inject,control,read}.socket pushrouterd
step "User= and http that cannot work are refused at the reload, and status, metrics, journal, verify and doctor say so"
line=$(outcome user)
[[ $line == *'"outcome":"failed"'*CAP_SETUID* ]] || fail "User= without the drop-in: $line"
step "at a start they are warned of, and fail alone"
rm /etc/pushrouterd/handlers.d/{user,hook}.handler /etc/pushrouterd/routes.d/50-user.route
# shellcheck disable=SC2016  # The words are the handler's.
handler sees '[ ! -e /root/here ] && ! touch /usr/here 2>/dev/null && [ "$(id -un)" = pushrouterd ]'
touch /root/here
pushctl run-handler sees - <<<'{"k":"v"}' >/dev/null && fail "run-handler as root sees no home"
pushctl run-handler sees --as-service - <<<'{"k":"v"}' >/run/as-service || fail "run-handler --as-service: $(cat /run/as-service)"
step "run-handler --as-service runs it in the sandbox of the unit"

cp -r packaging/systemd/pushrouter-handler-* /usr/lib/systemd/system/
for name in handled readme answers failed declines hangs alone; do
  unit=/etc/systemd/system/pushrouter-handler-apart-$name
  printf '[Service]\nExecStart=/opt/handlers/apart-%s\n' "$name" >"$unit@.service"
  printf '[Install]\nWantedBy=sockets.target\n' >"$unit.socket"
  printf '[Handler]\nType=socket\nConnect=/run/pushrouter-handlers/pushrouter-handler-apart-%s.sock\n' "$name" \
    >"/etc/pushrouterd/handlers.d/apart-$name.handler"
  printf 'OneInvocation=yes\nInstances=64\n' >>"/etc/pushrouterd/handlers.d/apart-$name.handler"
done
pushctl verify >/dev/null || fail "$(pushctl verify)"
systemctl daemon-reload
systemd-analyze verify /etc/systemd/system/pushrouter-handler-apart-*.{socket,service} || fail "systemd-analyze verify"
step "systemd-analyze verify takes the units"
rating=$(systemd-analyze security --offline=yes /etc/systemd/system/pushrouter-handler-apart-handled@.service |
  sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')
awk -v rating="$rating" 'BEGIN { exit !(rating != "" && rating <= 1.0) }' || fail "systemd-analyze security: $rating"
step "systemd-analyze security rates them $rating"
for name in handled readme answers failed declines hangs alone; do
  systemctl enable -q --now "pushrouter-handler-apart-$name.socket"
done
systemctl reload pushrouterd
expect apart-handled handled "by its exit status"
expect apart-answers failed "by its line"
line=$(outcome apart-readme)
[[ $line == *'"outcome":"handled"'*newData* ]] || fail "apart-readme: $line"
step "apart-readme: handled, by its exit status, with its result"
line=$(outcome apart-failed)
[[ $line == *'"outcome":"failed"'*'exit status 3: no database'* ]] || fail "apart-failed: $line"
step "apart-failed: failed, by its exit status, with the reason of its answer"
expect apart-alone handled "it can neither read the ledger, nor connect to control.sock, nor signal the daemon"
line=$(outcome apart-hangs)
[[ $line == *'"outcome":"timed_out"'* ]] || fail "apart-hangs: $line"
gone 'sleep 4713'
step "a run that hangs is ended by its unit, with what it started"
expect apart-handled handled "after that"
for ((i = 0; i < 30; i++)); do pushctl inject --app apart-handled - <<<'{"k":"v"}' >/dev/null; done
expect apart-handled handled "after 30 at once"

mkdir -p /etc/systemd/system/pushrouterd.service.d
cp packaging/systemd/pushrouterd.service.d/handler-users.conf /etc/systemd/system/pushrouterd.service.d/
systemctl daemon-reload
handler user "[ \$(id -un) = nobody ] && $alone" 'User=nobody'
systemctl restart pushrouterd
systemctl show -P MainPID pushrouterd >/run/main-pid
[[ $(pushctl status --json) == *'"containment":"cgroups"'* ]] || fail "after a restart: $(pushctl status --all)"
expect user handled "it is nobody, and can do nothing to the daemon"
# shellcheck disable=SC2016  # The words are the handler's.
handler capable '[ "$(grep -cE "Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]" /proc/self/status)" = 0 ]'
systemctl reload pushrouterd
expect capable handled "without any capability of the daemon's"
systemctl stop pushrouterd
[[ $(systemctl show -P Result pushrouterd) == success ]] || fail "the daemon did not end well"
step "the daemon ends"
