# shellcheck shell=bash disable=SC2154,SC2016  # inside.sh has the variables and functions.
# The steps of inside.sh, in order. They share one machine: each continues where the one before ended.

# ours: paths with the product's names, including this checkout; without the caches of man, the journal and systemd.
ours() {
    find / /run -xdev \( -path /var/cache/man -o -path /var/log -o -path /run/log -o -path /run/systemd -o -path /tmp \) -prune \
        -o \( -name 'pushrouter*' -o -name 'pushctl*' -o -name '_push*' \) -print 2>/dev/null | LC_ALL=C sort
}
ours >/tmp/ours-before

step "install: dpkg -i, and everything runs"
holds "it is installed" dpkg -i "$packages"/old/*.deb
holds "the service and its sockets are active" systemctl is-active "$service" "${sockets[@]}"
holds "they are enabled" systemctl is-enabled "$service" "${sockets[@]}"
for unit in /lib/systemd/system/pushrouter-*.{service,socket}; do
    [[ $(systemctl is-enabled "${unit##*/}" 2>/dev/null) =~ ^(disabled|static|indirect)$ ]] || fail "$unit is enabled"
done
until_so "pushctl status answers" pushctl status
holds "the shipped configuration is right" pushctl verify
warnings=$(systemd-analyze verify /lib/systemd/system/pushrouter*.{service,socket} 2>&1) || true
[[ -z $warnings ]] || fail "systemd-analyze verify: $warnings"
[[ $(stat -c '%U:%G %a' /run/pushrouterd) == 'root:root 755' ]] || fail "/run/pushrouterd is not root's"
[[ $(stat -c '%U:%G %a' /var/lib/pushrouterd) == 'pushrouterd:pushrouterd 750' ]] || fail "the state directory's mode"
for socket in inject:pushrouter-inject control:pushrouter-control read:pushrouterd; do
    [[ $(stat -c '%G %a' "/run/pushrouterd/${socket%:*}.sock") == "${socket#*:} 660" ]] || fail "the mode of $socket"
done

step "bus: the first start has its name at once, since the policy is loaded before it"
holds "the daemon has its name on the bus" systemctl service-log-level "$service"
denies "it complained of the bus" bash -c 'journalctl -q -u pushrouterd -o cat | grep "cannot reach the daemon"'

step "security: every unit at most 1.0"
for unit in /lib/systemd/system/pushrouter*.service; do
    unit=$(basename "$unit")
    [[ $unit == *@.service ]] && continue
    figure=$(systemd-analyze security --no-pager --threshold=10 "$unit" 2>/dev/null | sed -n 's/.*: \([0-9.]*\) .*/\1/p' | tail -n 1)
    echo "   $unit: $figure"
    holds "$unit is above 1.0" systemd-analyze security --no-pager --threshold=10 "$unit"
done

step "programs apart: two short units get a socket for the daemon alone, and a sandbox"
apart=pushrouter-handler-one-two
printf '[Service]\nExecStart=/bin/cat\n' >"/run/systemd/system/$apart@.service"
printf '[Install]\nWantedBy=sockets.target\n' >"/run/systemd/system/$apart.socket"
systemctl daemon-reload
holds "its socket listens" systemctl start "$apart.socket"
[[ $(stat -c '%U %a' "/run/pushrouter-handlers/$apart.sock") == 'pushrouterd 600' ]] || fail "the mode of $apart.sock"
systemctl cat "$apart@1.service" | grep -q '^DynamicUser=yes$' || fail "$apart@.service has no sandbox"
systemctl stop "$apart.socket"
rm -r "/run/systemd/system/$apart@.service" "/run/systemd/system/$apart.socket" /run/pushrouter-handlers
systemctl daemon-reload

step "fleet: libpq is for its package alone, and its drop-in gives the service the database's addresses"
for package in pushrouterd pushrouterd-ctl; do
    ! dpkg-query -W -f '${Depends}' "$package" | grep -q libpq || fail "$package depends on libpq"
done
for program in /usr/sbin/pushrouter{d,-forward,-http,-metrics,-web} /usr/bin/pushctl; do
    ! ldd "$program" | grep -q libpq || fail "$program is linked with libpq"
done
[[ $(dpkg-query -W -f '${Depends}' pushrouterd-fleet) == *libpq5* ]] || fail "pushrouterd-fleet does not depend on libpq5"
holds "its page is there" test -s /usr/share/man/man8/pushrouterd-fleet.8.gz
denies "without Log= there is no status" pushctl store status
grep -q 'names no database' /tmp/holds.log || { cat /tmp/holds.log; fail "it does not say why"; }
mkdir -p "/run/systemd/system/$service.d"
gzip -cdf /usr/share/doc/pushrouterd-fleet/examples/fleet.conf* >"/run/systemd/system/$service.d/fleet.conf"
systemctl daemon-reload
warnings=$(systemd-analyze verify "/lib/systemd/system/$service" 2>&1) || true
[[ -z $warnings ]] || fail "systemd-analyze verify with the drop-in: $warnings"
figure=$(systemd-analyze security --no-pager "$service" 2>/dev/null | sed -n 's/.*: \([0-9.]*\) .*/\1/p' | tail -n 1)
echo "   $service with fleet.conf: $figure"
grep -q "rates the service $figure with this" "/run/systemd/system/$service.d/fleet.conf" || fail "fleet.conf says otherwise"
rm -r "/run/systemd/system/$service.d"
systemctl daemon-reload

step "guides: the package has them, and the runbook of each alert shows its item"
rules=/usr/share/pushrouterd/prometheus/pushrouterd.rules.yml
while read -r alert; do
    runbook=$(sed -n "/alert: $alert\$/,/runbook:/s/.*runbook: \"\(.*\)\"/\1/p" $rules)
    [[ $runbook == "less '+/^- .$alert. ' "* ]] || fail "the runbook of $alert: $runbook"
    # The same search as that of less.
    grep -q -e "^- .$alert. " "${runbook##* }" || fail "${runbook##* } has no $alert"
done < <(sed -n 's/.*- alert: //p' $rules)
denies "a link of a guide is one of the sources" grep -q '<doc:' -r /usr/share/doc/pushrouterd/guides

step "groups: who may inject, read, administer"
for group in pushrouter-inject pushrouterd pushrouter-control; do useradd -M -G "$group" "in-$group"; done
useradd -M stranger
holds "its group injects" as in-pushrouter-inject pushctl inject --app org.example - <<<"$payload"
denies "who may inject may not read" as in-pushrouter-inject pushctl status
denies "who may inject may not report" as in-pushrouter-inject pushctl report
holds "its group asks for the status" as in-pushrouterd pushctl status
holds "its group reports" as in-pushrouterd pushctl report
holds "its group looks up a request" as in-pushrouterd pushctl show 1
denies "who reads may not inject" as in-pushrouterd pushctl inject --app org.example - <<<"$payload"
denies "who reads may not administer" as in-pushrouterd pushctl flush --app org.example
holds "its group administers" as in-pushrouter-control pushctl flush --app org.example
for command in status report; do denies "a stranger may not $command" as stranger pushctl "$command"; done

step "socket activation: a request starts the stopped service"
holds "it stops" systemctl stop "$service"
[[ $(systemctl is-active "$service" || true) == inactive ]] || fail "the service has not stopped"
holds "a request is accepted" inject
holds "the request started it" systemctl is-active "$service"

step "metrics: a scrape starts the service, which reaches the daemon's socket and nothing else"
page() { exec 3<>/dev/tcp/127.0.0.1/9771 && printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&3 && cat <&3; }
export -f page
holds "its socket listens" systemctl start pushrouter-metrics.socket
until_so "the metrics come" bash -c 'page /metrics | grep -qx "pushrouterd_up 1"'
holds "the health is good" bash -c 'page /healthz | grep -qx ok'
holds "the service runs" systemctl is-active pushrouter-metrics
pid=$(systemctl show -p MainPID --value pushrouter-metrics)
denies "it sees the ledger" nsenter -t "$pid" -m test -e /var/lib/pushrouterd/ledger.db
[[ $(nsenter -t "$pid" -n ip -o -4 address show scope global) == "" ]] || fail "it has a network"
holds "it restarts with the same socket" systemctl restart pushrouter-metrics
until_so "the metrics come again" bash -c 'page /metrics | grep -qx "pushrouterd_up 1"'
holds "the service stops alone" systemctl stop pushrouter-metrics.service
holds "its socket still listens" systemctl is-active pushrouter-metrics.socket
until_so "the next scrape starts the service" bash -c 'page /metrics | grep -qx "pushrouterd_up 1"'
holds "it stops" systemctl stop pushrouter-metrics.socket pushrouter-metrics.service

step "backup: the timer is off; a backup is made, checked, rehearsed and rotated beside the daemon, and metrics have its age"
backups=/var/lib/pushrouterd-backup
denies "the timer is enabled" systemctl is-enabled pushrouterd-backup.timer
holds "the timer is enabled by hand" systemctl enable --now pushrouterd-backup.timer
systemctl list-timers --all --full pushrouterd-backup.timer | grep pushrouterd-backup.service >/dev/null || fail "the timer starts nothing"
for _ in 1 2 3 4 5 6 7 8; do
    # Nobody makes eight in ten seconds.
    systemctl reset-failed pushrouterd-backup.service || true
    holds "a backup is made" systemctl start pushrouterd-backup.service
    sleep 1.1
done
made=("$backups"/*)
((${#made[@]} == 7)) || fail "there are other backups than seven: ${made[*]}"
newest=${made[-1]}
[[ $(stat -c '%U %a' "$newest") == 'pushrouterd 600' ]] || fail "the mode of $newest"
holds "it is whole" bash -c "pushctl backup --check $newest | grep -q 'has 0 requests after it'"
holds "it can be restored" bash -c "pushctl restore --dry-run $newest | grep -q 'Nothing was changed'"
holds "the socket of the metrics listens" systemctl start pushrouter-metrics.socket
until_so "the metrics have the backups" bash -c 'page /metrics | grep -qx "pushrouterd_backups 7"'
holds "they have the age" bash -c 'page /metrics | grep -q "^pushrouterd_backup_age_seconds [0-9]"'
holds "they stop" systemctl stop pushrouter-metrics.socket pushrouter-metrics.service
holds "the timer is disabled" systemctl disable --now pushrouterd-backup.timer
rm -r $backups

step "log level: a drop-in keeps entries out of the journal after a restart, too"
mkdir -p "/etc/systemd/system/$service.d"
printf '[Service]\nLogLevelMax=warning\n' >"/etc/systemd/system/$service.d/level.conf"
systemctl daemon-reload
# notices: how many entries of this boot's service are no warnings.
notices() { journalctl -q -b -u "$service" -p 5..7 _COMM=pushrouterd -o cat | wc -l; }
holds "it restarts" systemctl restart "$service"
before=$(notices)
holds "it restarts again" systemctl restart "$service"
holds "a request is accepted" inject
[[ $(notices) == "$before" ]] || fail "notices came with LogLevelMax=warning"
rm -r "/etc/systemd/system/$service.d"
systemctl daemon-reload
holds "it restarts without the drop-in" systemctl restart "$service"
until_so "notices come again" bash -c "[[ \$(journalctl -q -b -u $service -p 5..7 _COMM=pushrouterd -o cat | wc -l) -gt $before ]]"

step "gateway: clients of FCM and APNs reach the daemon through it, and it sees neither the ledger nor a network"
holds "its sockets listen" systemctl start pushrouter-gateway.socket
send() {
    curl -sf --cacert /var/lib/pushrouter-gateway/ca.pem --connect-to fcm.googleapis.com:443:127.0.0.1:18443 \
        https://fcm.googleapis.com/v1/projects/demo/messages:send -d '{"message":{"token":"t","data":{"a":"b"}}}'
}
export -f send
[[ $(systemctl is-active pushrouter-gateway || true) == inactive ]] || fail "the gateway runs before anybody asks"
holds "the variables come at once, as the manual has it" \
    bash -c 'cd /root && eval "$(pushctl gateway env)" && test -s "$SSL_CERT_FILE" && grep -q 18443 <<<"$HTTPS_PROXY"'
rm -f /root/bundle.pem
holds "a push is taken" bash -c 'send | grep -q projects/demo/messages/'
holds "the service runs" systemctl is-active pushrouter-gateway
pid=$(systemctl show -p MainPID --value pushrouter-gateway)
denies "it sees the ledger" nsenter -t "$pid" -m test -e /var/lib/pushrouterd/ledger.db
[[ $(nsenter -t "$pid" -n ip -o -4 address show scope global) == "" ]] || fail "it has a network"
[[ $(stat -c %a /var/lib/pushrouter-gateway/ca.key) == 600 ]] || fail "others may read the authority's key"
holds "the authority is printed" bash -c 'pushctl gateway ca | grep -q CERTIFICATE'
holds "the socket of the metrics listens" systemctl start pushrouter-metrics.socket
until_so "the metrics have the gateway" bash -c 'page /metrics | grep -qx "pushrouterd_gateway_up 1"'
holds "they stop" systemctl stop pushrouter-metrics.socket pushrouter-metrics.service
holds "another authority is ordered" bash -c 'pushctl gateway rotate | grep -q "systemctl reload pushrouter-gateway"'
holds "the gateway reloads" systemctl reload pushrouter-gateway
until_so "both are handed out" bash -c '[[ $(pushctl gateway ca | grep -c "BEGIN CERTIFICATE") == 2 ]]'
holds "a push is taken by the old one" bash -c 'send | grep -q projects/demo/messages/'
holds "it stops" systemctl stop pushrouter-gateway.socket pushrouter-gateway.service

step "page: it answers, only reads as it is shipped, and acts as its own user with the drop-in"
holds "its sockets listen" systemctl start pushrouter-web.socket
[[ $(stat -c '%G %a' /run/pushrouter-web.sock) == 'pushrouterd 660' ]] || fail "the mode of the page's socket"
until_so "the list comes" bash -c 'curl -sf http://127.0.0.1:18080/ | grep -qi "<!doctype html"'
holds "the API answers" bash -c 'curl -sf http://127.0.0.1:18080/api/pushes | grep -q "\"seq\":"'
holds "a reader reaches the Unix socket" as in-pushrouterd \
    curl -sf -o /dev/null --unix-socket /run/pushrouter-web.sock http://localhost/api/pushes
denies "a stranger reaches it" as stranger \
    curl -sf -o /dev/null --unix-socket /run/pushrouter-web.sock http://localhost/api/pushes
[[ $(curl -s -o /dev/null -w '%{http_code}' -H 'Host: rebound.example' http://127.0.0.1:18080/) == 421 ]] ||
    fail "the page answers to a foreign name"
pid=$(systemctl show -p MainPID --value pushrouter-web)
[[ $(stat -c %U "/proc/$pid") == pushrouter-web ]] || fail "the page runs as $(stat -c %U "/proc/$pid")"
[[ $(nsenter -t "$pid" -n ip -o -4 address show scope global) == "" ]] || fail "it has a network"
denies "it may write where the ledger is" nsenter -t "$pid" -m touch /var/lib/pushrouterd/written
pushctl inject --app org.example --device page-1 --platform android --id page-1 - >/dev/null \
    <<<'{"notification":{"title":"Hi"},"data":{}}'
until_so "the push is listed" bash -c 'curl -sf "http://127.0.0.1:18080/api/pushes?query=id:page-1" | grep -q "\"seq\":"'
seq=$(curl -sf 'http://127.0.0.1:18080/api/pushes?query=id:page-1' | grep -o '"seq":[0-9]*' | head -n 1 | cut -d: -f2)
# tap: taps on that push; prints the status, and leaves the answer in /tmp/tap.
tap() {
    curl -s -o /tmp/tap -w '%{http_code}' -X POST -H 'X-Pushrouter: 1' "http://127.0.0.1:18080/api/pushes/$seq/tap"
}
[[ $(tap) == 403 ]] || { cat /tmp/tap; fail "the page taps without the drop-in"; }
grep -q act-inject.conf /tmp/tap || { cat /tmp/tap; fail "it does not say which drop-in is missing"; }
examples=/usr/share/doc/pushrouterd/examples/pushrouter-web.service.d
holds "both examples are there" test -s "$examples/act-inject.conf" -a -s "$examples/act-control.conf"
mkdir -p /etc/systemd/system/pushrouter-web.service.d
cp "$examples/act-inject.conf" /etc/systemd/system/pushrouter-web.service.d/
systemctl daemon-reload
holds "it restarts with the drop-in" systemctl restart pushrouter-web
[[ $(tap) =~ ^2 ]] || { cat /tmp/tap; fail "the page does not tap with the drop-in"; }
acts="acts as pushrouter-web (uid $(id -u pushrouter-web))"
curl -sf http://127.0.0.1:18080/ >/tmp/page
grep -qF "$acts" /tmp/page || fail "the header does not say: $acts"
until_so "the tap is the page's user's" bash -c \
    "pushctl show $((seq + 1)) --json | grep -q '\"uid\":$(id -u pushrouter-web)'"
holds "it stops" systemctl stop pushrouter-web.socket pushrouter-web.service
rm -r /etc/systemd/system/pushrouter-web.service.d
systemctl daemon-reload

step "everything under the filter: handlers of each kind, the journal, a child that hides"
mkdir -p /opt/handlers
cat >/opt/handlers/program <<'END'
#!/bin/sh
cat >/dev/null; echo '{"status":"handled"}'
END
cat >/opt/handlers/hides <<'END'
#!/bin/sh
setsid sleep 300 & sleep 300
END
cat >/opt/handlers/worker <<'END'
#!/bin/sh
while IFS= read -r line; do id=${line#'{"id":'}; echo "{\"id\":${id%%,*},\"status\":\"handled\"}"; done
END
chmod 755 /opt/handlers/*
handler() { printf '[Handler]\nType=%s\nExec=/opt/handlers/%s\n' "$2" "$1" >"/etc/pushrouterd/handlers.d/$1.handler"; }
route() { printf '[Match]\nApp=%s\n[Route]\nHandler=%s\n%s\n' "$1" "$1" "${2-}" >"/etc/pushrouterd/routes.d/50-$1.route"; }
handler program exec; handler hides exec; handler worker worker
route program; route worker; route hides Deadline=2s
holds "reload takes the handlers" systemctl reload "$service"
until_so "they are in force" bash -c 'pushctl inject --app program --wait - <<<"{\"data\":{}}" | grep -q handled'
holds "a worker answers" bash -c 'pushctl inject --app worker --wait - <<<"{\"data\":{}}" | grep handled'
holds "a slow one is ended" bash -c 'pushctl inject --app hides --wait - <<<"{\"data\":{}}" | grep timed_out'
until_so "nothing of it is left" bash -c '! pgrep -u pushrouterd sleep'
holds "the journal has the miss, and explains it" bash -c \
    'journalctl -u pushrouterd PUSH_OUTCOME=timed_out -n 1 -o json | grep -q MESSAGE_ID'

step "hidden paths: verify, doctor, a reload and a failed start name what the service does not see"
mkdir -p /home/handlers
cp /opt/handlers/program /home/handlers/
printf '[Handler]\nType=exec\nExec=/home/handlers/program\n' >/etc/pushrouterd/handlers.d/hidden.handler
printf '[Handler]\nType=notify\n' >/etc/pushrouterd/handlers.d/desk.handler
route hidden; route desk
for command in "pushctl verify" "pushctl doctor" "systemctl reload $service"; do
    # shellcheck disable=SC2086  # A command of several words.
    denies "it is content: $command" $command
    [[ $command == systemctl* ]] && journalctl -q -u pushrouterd -n 30 -o cat >/tmp/holds.log
    grep -q 'Exec=/home/handlers/program: the service does not see /home (ProtectHome=)' /tmp/holds.log ||
        { cat /tmp/holds.log; fail "$command does not say why the program cannot run"; }
    grep -q 'Type=notify: the service has no session bus' /tmp/holds.log || fail "$command says nothing of notify"
done
# A start goes on, so that the other handlers run.
holds "the service restarts" systemctl restart "$service"
holds "a failed start has the reason" bash -c \
    'pushctl inject --app hidden --wait - <<<"{\"data\":{}}" | grep "does not see /home (ProtectHome=)"'
rm -r /home/handlers /etc/pushrouterd/handlers.d/{hidden,desk}.handler /etc/pushrouterd/routes.d/50-{hidden,desk}.route
holds "reload takes the rest" systemctl reload "$service"

step "reload with an error: it fails, and what was in force stays"
echo 'Handler=' >/etc/pushrouterd/routes.d/10-wrong.route
denies "the reload fails" systemctl reload "$service"
holds "the service goes on" systemctl is-active "$service"
explained='journalctl -q -u pushrouterd MESSAGE_ID=4731c6261ea168910d23f5814698302a -x'
holds "the journal says where" bash -c "$explained | grep 10-wrong.route"
holds "the journal explains it" bash -c "$explained | grep 'last good configuration stays in force'"
holds "status has it" bash -c 'pushctl status --json | grep "\"configuration_problem\":\"[^\"]*10-wrong.route"'
holds "the alert can fire" bash -c 'pushctl status --format prometheus | grep "^pushrouterd_configuration_problem 1"'
holds "the old configuration is in force" bash -c 'pushctl inject --app program --wait - <<<"{\"data\":{}}" | grep handled'
rm /etc/pushrouterd/routes.d/10-wrong.route
holds "a right one is taken again" systemctl reload "$service"

step "restart with an error: the last good configuration is in force, and one producer closes no socket"
printf '[Match]\n[Route]\nHandler=nobody\n' >/etc/pushrouterd/routes.d/10-wrong.route
holds "it restarts" systemctl restart "$service"
holds "a producer is served" bash -c 'pushctl inject --app program --wait - <<<"{\"data\":{}}" | grep handled'
holds "the service and its sockets are active" systemctl is-active "$service" "${sockets[@]}"
holds "status has the mistake" bash -c 'pushctl status --json | grep "\"configuration_problem\":\"[^\"]*10-wrong.route"'
holds "it stops" systemctl stop "$service"
holds "a producer starts it" bash -c 'pushctl inject --app program --wait - <<<"{\"data\":{}}" | grep handled'
holds "the sockets are active" systemctl is-active "${sockets[@]}"
[[ $(stat -c '%U %a' /var/lib/pushrouterd/configurations) == 'pushrouterd 700' ]] || fail "others may read the kept files"
rm /etc/pushrouterd/routes.d/10-wrong.route
holds "the mended one is in force" systemctl reload "$service"

step "user: the unit of one user has a service, sockets and cgroups of its own"
useradd -m -u 4711 someone
# The box has no logind; a user's service manager asks it for its directory.
rm -f /etc/systemd/system/systemd-logind.service
systemctl daemon-reload
holds "the user's service manager starts" systemctl start user@4711.service
[[ $(systemctl --global is-enabled pushrouterd.service) == disabled ]] || fail "the package enables it for every user"
as_user() { as someone env HOME=/home/someone XDG_RUNTIME_DIR=/run/user/4711 "$@"; }
of_user() { as_user pushctl --config /home/someone/.config/pushrouterd --runtime /run/user/4711/pushrouterd "$@"; }
until_so "the user's service manager has started all of its units" as_user systemctl --user is-active default.target
[[ $(as_user systemctl --user is-active pushrouterd) == inactive ]] || fail "a login starts a daemon for the user"
[[ ! -e /home/someone/.local/state/pushrouterd ]] || fail "a login makes a ledger for the user"
holds "it starts" as_user systemctl --user start pushrouterd
holds "it answers" of_user status
[[ $(of_user status --json) == *'"containment":"cgroups"'* ]] || fail "its handlers have no cgroups: $(of_user status)"
as_user mkdir -p /home/someone/.config/pushrouterd/{handlers.d,routes.d}
as_user cp /etc/pushrouterd/handlers.d/program.handler /home/someone/.config/pushrouterd/handlers.d/
printf '[Route]\nHandler=program\n' | as_user tee /home/someone/.config/pushrouterd/routes.d/50.route >/dev/null
holds "it takes its configuration" as_user systemctl --user reload pushrouterd
inject_of_user() { of_user inject --wait - <<<'{"data":{}}'; }
until_so "its handler runs" bash -c "$(declare -f as as_user of_user inject_of_user); inject_of_user | grep handled"
echo 'Handler=' | as_user tee /home/someone/.config/pushrouterd/routes.d/10-wrong.route >/dev/null
denies "a reload with an error fails" as_user systemctl --user reload pushrouterd
holds "it stops" as_user systemctl --user stop pushrouterd
systemctl stop user@4711.service
holds "the service manager of root starts" systemctl start user@0.service
until_so "it has started all of its units" env XDG_RUNTIME_DIR=/run/user/0 systemctl --user is-active default.target
[[ ! -e /root/.local/state/pushrouterd ]] || fail "a login of root starts a daemon"
systemctl stop user@0.service
userdel -r someone 2>/dev/null

step "log level: asked and set over the system bus, by root alone"
until_so "the daemon has its name on the bus" systemctl service-log-level "$service"
[[ $(systemctl service-log-level "$service") == debug ]] || fail "the first level is not debug"
holds "root sets it" systemctl service-log-level "$service" notice
[[ $(pushctl log-level) == notice ]] || fail "the daemon does not know the level that was set over the bus"
! as stranger systemctl service-log-level "$service" debug 2>/dev/null || fail "anybody may set the level"
holds "pushctl sets it" pushctl log-level debug
denies "root takes the name of the service on the bus" busctl call org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus RequestName su dev.pushrouterd 4

step "audit: journal and ledger say who did what: on a socket, by systemctl, over the bus, and without the daemon"
uid=$(id -u in-pushrouter-control)
# entry FIELD=VALUE...: an entry with these fields is in the journal.
entry() { until_so "the journal has $*" bash -c "journalctl -q -b -o cat $* | grep -q ." ; }
entry PUSH_ACT=flush PUSH_ENTRANCE=control "PUSH_PEER_UID=$uid" PUSH_RESULT=done
entry PUSH_ACT=reload PUSH_ENTRANCE=control PUSH_PEER_UID=0 PUSH_RESULT=done
entry PUSH_ACT=reload PUSH_ENTRANCE=control PUSH_PEER_UID=0 PUSH_RESULT=refused
entry PUSH_ACT=log_level PUSH_ENTRANCE=bus PUSH_OBJECT=notice
entry PUSH_ACT=gateway_rotate PUSH_ENTRANCE=control PUSH_PEER_UID=0
journalctl -q -b -x PUSH_ACT=flush | grep -q 'An administrative act' || fail "the catalog does not explain the audit"
pushctl export --audit >/tmp/audit
grep -q "flush .*in-pushrouter-control ($uid) .*app org.example" /tmp/audit || { cat /tmp/audit; fail "the ledger lacks the flush"; }
grep -q "gateway_rotate .*root (0) .*control" /tmp/audit || fail "the ledger lacks the order to the gateway"
holds "a backup is made" pushctl backup /tmp/audit.db
holds "everything stops" systemctl stop "$service" "${sockets[@]}"
holds "it is restored" pushctl restore /tmp/audit.db
entry PUSH_ACT=restore PUSH_ENTRANCE=program PUSH_PEER_UID=0 PUSH_OBJECT=/tmp/audit.db
holds "everything starts" systemctl start "${sockets[@]}" "$service"
until_so "the restored ledger has the acts, and the restore" bash -c \
    'pushctl export --audit | grep -q "restore .*root (0) " && pushctl export --audit | grep -q "flush .*app org.example"'
rm -r /tmp/audit /tmp/audit.db /var/lib/pushrouterd/set-aside-*

step "watchdog: a daemon that hangs is killed, and the next one serves who waits"
mkdir -p "/run/systemd/system/$service.d"
printf '[Service]\nWatchdogSec=1s\nRestartSec=100ms\n' >"/run/systemd/system/$service.d/watchdog.conf"
systemctl daemon-reload
holds "it restarts with a short watchdog" systemctl restart "$service"
pid=$(property MainPID)
kill -STOP "$pid"
holds "a request waits for the next daemon" timeout 30 pushctl inject --app org.example --id after-hang - <<<"$payload"
is_new_process "$pid" || fail "the process that hung is still there"
[[ $(property NRestarts) -ge 1 ]] || fail "the service manager did not restart it"
rm -r "/run/systemd/system/$service.d"
systemctl daemon-reload

# shellcheck source=Tests/Package/secrets.sh
. "$here/secrets.sh"

# shellcheck source=Tests/Package/refusals.sh
. "$here/refusals.sh"

step "upgrade under load: every producer can connect at any time, and nothing acknowledged is lost"
for producer in 1 2 3 4; do
    (
        for ((number = 0; ; number++)); do
            [[ -e /tmp/stop ]] && break
            # A client that the stopping daemon disconnects before its reply sends again, under the same id.
            until pushctl inject --app org.example --id "p$producer-$number" - <<<"$payload" >/dev/null 2>>/tmp/complaints
            do echo "p$producer-$number" >>/tmp/repeated; done
            echo "p$producer-$number" >>/tmp/sent
        done
    ) &
done
until_so "the load runs" bash -c '(( $(wc -l </tmp/sent) > 50 ))'
pid=$(property MainPID)
printf '[Match]\n[Route]\nHandler=nobody\n' >/etc/pushrouterd/routes.d/10-wrong.route
holds "the next version is installed, over a refused configuration" dpkg -i "$packages"/new/*.deb
grep -q '10-wrong.route:3: error: Handler=nobody' /tmp/holds.log || fail "the package does not name the mistake"
rm /etc/pushrouterd/routes.d/10-wrong.route
until_so "it is the new process" is_new_process "$pid"
mark=$(wc -l </tmp/sent)
until_so "the load goes on" bash -c "(( \$(wc -l </tmp/sent) > $mark + 50 ))"
holds "once more by hand, in the middle of it" systemctl restart "$service"
touch /tmp/stop
wait
if grep -v 'closed the connection' /tmp/complaints >&2; then fail "a producer could not connect, or was refused"; fi
touch /tmp/repeated
pushctl report --format csv >/tmp/report.csv
missing=$(cut -d, -f"$(head -n 1 /tmp/report.csv | tr ',' '\n' | grep -nx id | cut -d: -f1)" /tmp/report.csv |
    sort -u | comm -13 - <(sort -u /tmp/sent) | wc -l)
[[ $missing == 0 ]] || fail "$missing acknowledged requests are not in the ledger"
echo "   $(wc -l </tmp/sent) requests over two restarts, none refused, none lost; sent again: $(wc -l </tmp/repeated)"

step "figures"
holds "it restarts" systemctl restart "$service"
pid=$(property MainPID)
started=$(property ExecMainStartTimestampMonotonic) ready=$(property ActiveEnterTimestampMonotonic)
echo "   start to ready: $(((ready - started) / 1000)) ms"
grep -E '^(VmRSS|RssAnon)' "/proc/$pid/status" | sed 's/^/   /'
echo "   installed: $(du -sk --apparent-size /usr/sbin/pushrouterd* /usr/sbin/pushrouter-* /usr/bin/pushctl |
    awk '{ printf "%s %d KiB  ", $2, $1 }')"
for program in /usr/sbin/pushrouterd* /usr/sbin/pushrouter-* /usr/bin/pushctl; do
    (($(stat -c %s "$program") <= 15200000)) || fail "$program is larger than 15.2 MB"
done

holds "the metrics are enabled" systemctl enable --now pushrouter-metrics.socket
step "remove, and install again: nothing runs in between, and what was enabled runs afterwards"
holds "the sender of http handlers is enabled" systemctl enable --now pushrouter-http.socket
holds "it is removed" dpkg -r pushrouterd-fleet pushrouterd
for socket in http web gateway; do [[ ! -e /run/pushrouter-$socket.sock ]] || fail "the socket of $socket is left"; done
holds "it is installed again" dpkg -i "$packages"/new/*.deb
holds "everything runs again" systemctl is-active "$service" "${sockets[@]}" pushrouter-{http,metrics}.socket
[[ $(systemctl is-active pushrouter-web.socket || true) == inactive ]] || fail "a socket that is not enabled runs"

step "remove: nothing runs, configuration and ledger stay"
holds "the program of several machines goes alone" dpkg -r pushrouterd-fleet
holds "the service stays" systemctl is-active "$service"
holds "it is removed" dpkg -r pushrouterd
denies "the service is gone" systemctl cat "$service"
! pgrep -u pushrouterd >/dev/null || fail "a process is left"
[[ ! -e /run/pushrouterd/inject.sock ]] || fail "a socket is left"
[[ -e /etc/pushrouterd/pushrouterd.conf && -e /var/lib/pushrouterd/ledger.db ]] || fail "remove took what purge takes"

step "purge: nothing is left but what the administrator wrote"
rm -r /etc/pushrouterd/handlers.d/{program,hides,worker}.handler /etc/pushrouterd/routes.d/50-*.route
holds "it is purged" dpkg -P pushrouterd-fleet pushrouterd pushrouterd-ctl
[[ ! -L /etc/systemd/system/sockets.target.wants/pushrouter-metrics.socket ]] || fail "a link to a unit that is gone"
left=$(comm -13 /tmp/ours-before <(ours))
[[ -z $left ]] || fail "left: $left"
