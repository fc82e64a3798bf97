#!/usr/bin/env bash
# Runs the steps of run.sh in the box. Each step prints what it shows; the first that fails ends the test.
# usage: inside.sh DIR     DIR has the packages in old and new
set -euo pipefail
packages=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export DEBIAN_FRONTEND=noninteractive SYSTEMD_PAGER='' LC_ALL=C.UTF-8
payload='{"data":{"k":"v"}}'
service=pushrouterd.service
sockets=(pushrouterd-inject.socket pushrouterd-control.socket pushrouterd-read.socket)

# A container's image forbids its packages to start services; the box is a machine.
rm -f /usr/sbin/policy-rc.d

step() { printf -- '-- %s\n' "$*"; }
fail() {
    printf 'failed: %s\n' "$*" >&2
    journalctl --no-pager -n 60 -o short-monotonic >&2 || true
    exit 1
}
# holds TEXT COMMAND...: expects the command to succeed.
holds() { local text=$1; shift; "$@" >/tmp/holds.log 2>&1 || { cat /tmp/holds.log >&2; fail "$text: $*"; }; }
# denies TEXT COMMAND...: expects the command to fail.
denies() { local text=$1; shift; if "$@" >/tmp/holds.log 2>&1; then cat /tmp/holds.log >&2; fail "$text: $*"; fi; }
# until_so TEXT COMMAND...: waits up to 30 s until the command succeeds.
until_so() {
    local text=$1 tries
    shift
    for ((tries = 0; tries < 300; tries++)); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
    fail "$text: $*"
}
property() { systemctl show --property "$1" --value "$service"; }
is_new_process() { local now; now=$(property MainPID); [[ $now != 0 && $now != "$1" ]]; }
inject() { pushctl inject --app org.example "$@" - <<<"$payload"; }
# journalctl: the journal's service takes entries from its sockets when it has time; what was written before is read.
journalctl() { command journalctl --sync && command journalctl "$@"; }
export -f journalctl
as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --init-groups --inh-caps=-all "$@"; }

# shellcheck source=Tests/Package/steps.sh
. "$here/steps.sh"
echo "box: everything held"
