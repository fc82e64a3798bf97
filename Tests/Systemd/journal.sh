#!/usr/bin/env bash
# Runs a day of mixed outcomes under the packaged unit and a real journald, and prints reports of it: from the ledger and
# from the journal alone. For a throwaway system only, since it installs files and users:
#
#   Tests/Package/box.sh bash Tests/Systemd/journal.sh [BUILD]
#
# BUILD has the programs; the default is .build/debug. A line of its output is a word and a report in JSON. Progress
# goes to standard error. JournalReportTests compares the reports.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-.build/debug}
step() { echo "ok: $*" >&2; }
fail() {
  echo "not ok: $*" >&2
  journalctl -q -n 40 --no-pager -u 'pushrouterd*' -t logger >&2 || true
  exit 1
}
now() { date -u +%Y-%m-%dT%H:%M:%S.%3NZ; }
# reports WORD [OPTION]...: both reports, each a line.
reports() {
  local word=$1
  shift
  journalctl --sync
  echo "$word-ledger $(pushctl report --json "$@")"
  echo "$word-journal $(pushctl report --json --from-journal --state /nowhere "$@")"
}
inject() { pushctl inject --wait --json "$@" >/dev/null || true; }

install -m 755 "$build/pushrouterd" /usr/sbin/
install -m 755 "$build/pushctl" /usr/bin/
install -D -m 644 packaging/systemd/pushrouterd.sysusers /usr/lib/sysusers.d/pushrouterd.conf
systemd-sysusers
install -m 644 packaging/systemd/pushrouterd.service packaging/systemd/pushrouterd-*.socket /usr/lib/systemd/system/
mkdir -p /etc/pushrouterd/{handlers.d,routes.d,providers.d} /opt/handlers
cp etc/pushrouterd/providers.d/*.provider /etc/pushrouterd/providers.d/
printf '[Dispatch]\nMode=relay\n' >/etc/pushrouterd/pushrouterd.conf
printf '[Handler]\nType=journal\n' >/etc/pushrouterd/handlers.d/journal.handler
# handler NAME SCRIPT [LINES OF THE HANDLER] [LINES OF THE ROUTE]
handler() {
  printf '%s\n' '#!/bin/sh' "$2" >"/opt/handlers/$1"
  chmod 755 "/opt/handlers/$1"
  printf '[Handler]\nType=exec\nExec=/opt/handlers/%s\n%s\n' "$1" "${3:-}" >"/etc/pushrouterd/handlers.d/$1.handler"
  printf '[Match]\nApp=%s\n[Route]\nHandler=%s\n%s\n' "$1" "$1" "${4:-}" >"/etc/pushrouterd/routes.d/50-$1.route"
}
handler works 'cat >/dev/null; echo "{\"status\":\"handled\",\"result\":\"newData\"}"'
handler fails 'echo "no" >&2; exit 3'
handler declines 'exit 80'
handler hangs 'exec sleep 60' '' 'Deadline=2s'
handler short 'exec sleep 0.2'
# One at a time: the invocations that wait behind it expire.
handler single 'exec sleep 60' 'MaxConcurrent=1' 'Deadline=500ms'
handler crash 'exec sleep 60'
# Writes an entry that claims to be the daemon's. journald reads /proc of the process when it gets the entry, so the
# process has to stay alive for a while.
handler forges 'exec python3 -c "
import socket, time
entry = b\"MESSAGE_ID=ad9eb882bbd1c83cf684c225a04c2a81\\nMESSAGE=x\\nPUSH_OUTCOME=handled\\nPUSH_SEQ=1\\n\"
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(entry, \"/run/systemd/journal/socket\")
time.sleep(1)"'
printf '[Match]\nApp=works\n[Route]\nHandler=journal\nObserve=yes\n' >/etc/pushrouterd/routes.d/10-watch.route
printf '[Match]\nPlatform=web\n[Route]\nHandler=journal\n' >/etc/pushrouterd/routes.d/90-web.route

systemctl daemon-reload
systemctl start pushrouterd || fail start
echo '{"op":"session","kind":"start","app":"works","device":"d"}' | inject -
for platform in android ios; do inject --platform $platform --app works - <<<'{"k":"v"}'; done
inject --platform web - <<<'{"k":"v"}'
inject --app fails - <<<'{"k":"v"}'
inject --app declines - <<<'{"k":"v"}'
inject --app hangs - <<<'{"k":"v"}'
inject --app nobodys - <<<'{"k":"v"}'
inject --app works - <<<'{"_ab":"true","cid":"64b0","a":"hello"}'
inject --app works --platform ios - <<<'{"aps":{"alert":"x"},"ab":{"c":"64b0"}}'
inject --app works --platform ios - <<<'{"aps":{"alert":"x","content-available":1}}'
inject --app works --app-state force_stopped - <<<'{"k":"v"}'
inject --app works - <<<'{"_ab":"true","appboy_uninstall_tracking":"true"}'
for _ in 1 2; do
  inject --app works --device twice - <<<'{"google.message_id":"same","k":"v"}'
done
inject --app works --transport hms - <<<'{"k":"v"}'
inject --app works - <<<'{"extras":{"k":"v","google.original_priority":"high","google.delivered_priority":"normal"}}'
printf '%s\n' '{"k":1}' '{"k":2}' '{"k":3}' | inject --app single -
inject --app forges - <<<'{"k":"v"}'
step "outcomes in relay mode"

printf '[Dispatch]\nMode=device\n' >/etc/pushrouterd/pushrouterd.conf
systemctl reload pushrouterd
printf '%s\n' '{"k":1}' '{"k":2}' '{"k":3}' | inject --app short --device lane -
inject --app works --device lane - <<<'{"k":"v"}'
step "outcomes in device mode, with waits in a lane"

pushctl inject --app crash - <<<'{"k":"v"}' >/dev/null
for ((i = 0; i < 200; i++)); do pgrep -f 'sleep 60' >/dev/null && break; sleep 0.05; done
before=$(systemctl show -P MainPID pushrouterd)
kill -KILL "$before"
for ((i = 0; i < 400; i++)); do
  pid=$(systemctl show -P MainPID pushrouterd)
  [[ $pid != 0 && $pid != "$before" ]] && pushctl status >/dev/null 2>&1 && break
  sleep 0.05
done
inject --app works - <<<'{"k":"v"}'
step "a crash"

# Entries of another service, and of a user, with the fields of an outcome.
entry=$(journalctl -q -u pushrouterd PUSH_OUTCOME=handled -n 1 -o export | grep -aE '^(MESSAGE|MESSAGE_ID|PUSH_[A-Z_]*)=')
logger --journald <<<"$entry"
systemd-run -q --wait --pipe --uid=nobody logger --journald <<<"$entry"
step "entries of others"
systemctl stop pushrouterd
reports mixed
first=$(now)

# More successes than get an entry each. They end on acceptance, and nobody waits for them.
systemctl start pushrouterd || fail start
for ((i = 0; i < 4000; i++)); do echo '{"k":"v"}'; done >/run/many
pushctl inject --app works --app-state force_stopped /run/many >/dev/null
inject --app hangs - <<<'{"k":"v"}'
systemctl stop pushrouterd
reports many --since "$first"
step "more than have an entry each"

# journald drops entries above the unit's rate limit. It reports that once the interval is over and another entry comes.
mkdir -p /etc/systemd/system/pushrouterd.service.d
printf '[Service]\nLogRateLimitIntervalSec=2s\nLogRateLimitBurst=20\n' >/etc/systemd/system/pushrouterd.service.d/limit.conf
systemctl daemon-reload
second=$(now)
systemctl restart pushrouterd
head -n 1500 /run/many >/run/some
pushctl inject --app works --app-state force_stopped /run/some >/dev/null
sleep 3
inject --app works - <<<'{"k":"v"}'
systemctl stop pushrouterd
reports limited --since "$second"
step "entries that journald drops"

# The journal as a copy from another machine, and a user without access to the daemon.
cp -r /var/log/journal /run/copied
chmod -R a+rX /run/copied
echo "copied-journal $(setpriv --reuid nobody --regid nogroup --clear-groups \
  pushctl report --json --from-journal --journal-directory /run/copied/"$(</etc/machine-id)" --until "$first")"
for format in text html junit csv markdown; do
  pushctl report --from-journal --format $format --until "$first" >/run/report.$format || fail "--format $format"
done
echo "texts $(head -c 4000 /run/report.text | base64 -w0)"
echo "csv $(base64 -w0 </run/report.csv)"
code=0
setpriv --reuid nobody --regid nogroup --clear-groups pushctl report --from-journal >/dev/null 2>/run/denied || code=$?
echo "denied {\"status\":$code,\"text\":$(python3 -c 'import json; print(json.dumps(open("/run/denied").read()))')}"
code=0
pushctl report --from-journal --unit nosuch 2>/run/nosuch || code=$?
[[ $code == 66 ]] || fail "no such unit: $code, $(</run/nosuch)"
step "the journal of a directory, of a user, of no unit"
