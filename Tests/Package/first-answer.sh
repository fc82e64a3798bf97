#!/usr/bin/env bash
# From a root with nothing but Debian 12, without Swift, to the first answer and the first page, with the times: installs the
# packages as README says, and runs README's commands as printed.
# usage: first-answer.sh [DIR [ROOT]]     DIR has the packages (.build/debian); ROOT: a root that debootstrap made, which is changed
# Skips with the reason without root or debootstrap; with PUSH_TEST_ALL=1 that is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=packaging/common.sh
. packaging/common.sh
packages=$(cd "${1:-.build/debian}" && pwd)
skip() {
    echo "left out: the first answer: $*"
    [[ ${PUSH_TEST_ALL-} != 1 ]] || exit 1
    exit 0
}
((EUID == 0)) || skip "it needs root"
PATH=$PATH:/usr/sbin command -v debootstrap >/dev/null || skip "debootstrap is not installed"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/first.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=${2:-$work/root}
[[ -e $root/bin ]] || debian_base "$root" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "debootstrap failed"; }
mkdir -p "$root/release"
cp "$packages"/*.deb "$root/release/"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true

# The blocks of README that run, each a file; as root nobody needs sudo.
awk -v to="$work" '/^<!-- not run/ { leave = 1 } /^```sh/ { inside = !leave; leave = 0; number += inside; next } /^```/ { inside = 0 }
    inside { print > (to "/block." number) }' README.md
mapfile -t installs < <(grep -oE 'sudo apt install [^`]*' README.md | sed 's/^sudo //' | awk '!seen[$0]++')
cat "$work"/block.1 >"$root/release/first"
cat "$work"/block.[2-9] >"$root/release/live"

# shellcheck disable=SC2016  # Expanded in there.
inside() { # SCRIPT: in the root, with processes of its own
    unshare --mount --pid --fork --kill-child bash -c '
        mount --make-rprivate / && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /bin/bash -euc "$1"' \
        "$root" "export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive; cd /release; $1"
}
took() { echo "$1: $(($(date +%s%3N) - begin)) ms"; }
inside "! command -v swift"
begin=$(date +%s%3N)
inside "apt-get -q update" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "apt-get update failed"; }
took "apt update"
begin=$(date +%s%3N)
inside "${installs[0]/apt install/apt-get -q install -y}" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "${installs[0]}"; }
took "${installs[0]}"
begin=$(date +%s%3N)
answer=$(inside ". ./first")
took "the first answer"
[[ $answer == *"a tap: lost: Braze never saw it"* ]] || fail "the first answer is: $answer"
begin=$(date +%s%3N)
inside "${installs[1]/apt install/apt-get -q install -y} curl" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "${installs[1]}"; }
took "${installs[1]}"
begin=$(date +%s%3N)
# shellcheck disable=SC2016  # As above.
page=$(inside "rm -rf /tmp/push; . ./live"'
    page=$(grep -o "http://[^\"]*" /tmp/push/addresses | head -n 1)
    curl -sf "$page/" | grep -o "<title>.*</title>"
    kill %1
    wait || true' 2>"$work/log") || { tail -n 20 "$work/log" >&2; fail "the page: $page"; }
took "handler, route, push and the first page"
[[ $page == *handled* && $page == *"<title>"* ]] || fail "the page: $page"
echo "from an empty root: all as printed"
