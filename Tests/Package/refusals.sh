# shellcheck shell=bash disable=SC2154,SC2016  # inside.sh has the variables and functions.
# The steps with configurations that services refuse. Part of steps.sh, after secrets.sh.

refusing=(pushrouter-forward pushrouter-gateway pushrouter-web)
# The status without its line breaks.
words="pushctl status | tr -s '\n ' ' '"
pids() { systemctl show -p MainPID --value "${refusing[@]}" | xargs; }
mistakes() {
    printf '[Dispatch]\nHandlersMax=x\n' >/etc/pushrouterd/pushrouterd.conf.d/bad.conf
    printf '[Gateway]\nUnknown=maybe\n' >/etc/pushrouterd/gateway.conf.d/bad.conf
    printf '[Web]\nFullTokens=maybe\n' >/etc/pushrouterd/web.conf.d/bad.conf
}

step "refusals: reloads fail, and an upgrade restarts no service that refuses its configuration"
mkdir -p /etc/pushrouterd/{pushrouterd,gateway,web}.conf.d
echo key-one >/opt/track/log.key
receive 18090 /opt/track/log
echo key-one | place /etc/pushrouterd/track.key pushrouter-forward
# The unit does not start without the file of its credential.
echo unused | place /etc/pushrouterd/users-track-key root
printf '[UsersTrack]\nEndpoint=http://127.0.0.1:18090/users/track\nFlush=20ms\nKeyFile=/etc/pushrouterd/track.key\n' \
    >/etc/pushrouterd/pushrouterd.conf.d/50-track.conf
holds "the daemon takes the endpoint" systemctl reload "$service"
holds "they start" systemctl start pushrouter-{gateway,web}.socket "${refusing[@]}"
for unit in "${refusing[@]}"; do holds "a reload succeeds" systemctl reload "$unit"; done
before=$(pids)
mistakes
for unit in "${refusing[@]}"; do denies "a reload of $unit with a mistake succeeds" systemctl reload "$unit"; done
holds "the package is installed again" dpkg -i "$packages"/old/*.deb
for unit in "${refusing[@]}"; do
    grep -q "$unit.service refuses its configuration" /tmp/holds.log || { cat /tmp/holds.log; fail "$unit is not named"; }
done
[[ $(pids) == "$before" ]] || fail "a service was restarted: $before, now $(pids)"
holds "they go on" systemctl is-active "${refusing[@]}"
holds "a push is taken" bash -c 'send | grep -q projects/demo/messages/'

step "refusals: a start with a mistake leaves the sockets open, and who waits is served once it is mended"
for unit in "${refusing[@]}"; do denies "$unit restarts with a mistake" systemctl restart "$unit"; done
bash -c send >/tmp/waited &
waiting=$!
pushctl log event bought --braze-id anna >/dev/null
until_so "the status has the forwarder" bash -c "$words | grep -q 'pushrouter-forward is not connected'"
until_so "so do the metrics" bash -c \
    'pushctl status --format prometheus | grep -q "^pushrouterd_sending_phase{phase=\"not_connected\"} 1"'
denies "doctor is content" pushctl doctor --quiet
for text in "${refusing[@]/%/ does not start}" 'pushrouter-forward is not connected'; do
    grep -q "$text" /tmp/holds.log || { cat /tmp/holds.log; fail "doctor does not say: $text"; }
done
# Longer than the start limit of the units, ten starts, once took.
until_so "it was tried often" bash -c '(($(systemctl show -p NRestarts --value pushrouter-gateway) >= 2))'
holds "the sockets are open" systemctl is-active pushrouter-{gateway,web}.socket
rm /etc/pushrouterd/{pushrouterd,gateway,web}.conf.d/bad.conf
wait "$waiting" || fail "the client that waited got no answer"
grep -q projects/demo/messages/ /tmp/waited || fail "the client that waited got another answer"
until_so "they run without a command" systemctl is-active "${refusing[@]}"
until_so "the entry is sent" bash -c 'pushctl status | grep -q "no entry waits"'

step "refusals: a reload of the forwarder with an unreadable key fails, and is a problem while it sends on"
chown root /etc/pushrouterd/track.key
denies "the reload succeeds" systemctl reload pushrouter-forward
until_so "the status has it" bash -c "$words | grep -q 'the last reload was refused'"
denies "doctor is content" pushctl doctor --quiet
grep -q 'the last reload was refused' /tmp/holds.log || { cat /tmp/holds.log; fail "doctor does not say it"; }
chown pushrouter-forward /etc/pushrouterd/track.key
holds "the reload succeeds" systemctl reload pushrouter-forward
until_so "the problem is over" bash -c "! $words | grep -q 'reload was refused'"

step "refusals: doctor names the command for a socket that failed, and the command works"
systemctl stop pushrouter-gateway.socket pushrouter-gateway.service
/usr/bin/python3 -c 'import socket, time; s = socket.create_server(("127.0.0.1", 18443)); time.sleep(600)' &
squatter=$!
until_so "the port is taken" bash -c 'exec 3<>/dev/tcp/127.0.0.1/18443'
denies "the socket opens" systemctl start pushrouter-gateway.socket
denies "doctor is content" pushctl doctor --quiet
kill "$squatter"
remedy=$(grep -o 'systemctl reset-failed pushrouter-gateway .*' /tmp/holds.log) ||
    { cat /tmp/holds.log; fail "doctor does not say the command"; }
holds "the command works" bash -c "$remedy"
holds "a push is taken" bash -c 'send | grep -q projects/demo/messages/'
end_receiver
systemctl stop pushrouter-{gateway,web}.socket "${refusing[@]}"
rm -r /etc/pushrouterd/{gateway,web}.conf.d /etc/pushrouterd/pushrouterd.conf.d/50-track.conf /etc/pushrouterd/{track.key,users-track-key}
holds "the daemon restarts without the endpoint" systemctl reload "$service"
