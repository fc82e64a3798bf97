#!/usr/bin/env bash
# Runs a command under its own systemd and journald: process 1 of its own namespaces, over a copy-on-write view of /
# whose changes are in memory, and below its own cgroup. Everything that the command installs, enables or logs is gone
# afterwards, and nothing outside changes. Several boxes may run at once. This package and each DIRECTORY are mounted at
# their paths; the box sees nothing else of /tmp, /run and /dev, and no file system except that of /.
# usage: box.sh [--seconds N] [--show DIRECTORY]... COMMAND [ARGUMENT]...
# Exit status: the command's; 125 if the box could not be started; 77, with the reason, if a box is impossible here.
set -euo pipefail

skip() { echo "box.sh: no box here: $*" >&2; exit 77; }
broken() { echo "box.sh: $*" >&2; exit 125; }

# The directories of administration programs, which not every user's PATH has.
PATH=$PATH:/usr/sbin:/sbin
seconds=300
shown=("$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)")
while [[ ${1-} == --* && $# -ge 2 ]]; do
    case $1 in
        --seconds) seconds=$2 ;;
        --show) shown+=("$(cd "$2" && pwd -P)") ;;
        *) break ;;
    esac
    shift 2
done
(($# > 0)) || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
((EUID == 0)) || skip "it needs root"
[[ -x /lib/systemd/systemd ]] || skip "systemd is not installed"
for program in unshare setpriv nsenter ip dbus-daemon; do
    command -v "$program" >/dev/null || skip "$program is not installed"
done
grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null || skip "the kernel has no overlayfs"
grep -qw cgroup2 /proc/filesystems || skip "the kernel has no cgroup v2"
unshare --pid --fork --mount --uts --ipc --cgroup --net true 2>/dev/null || skip "it may not make namespaces"

work=$(mktemp -d "${TMPDIR:-/tmp}/box.XXXXXX")
# shellcheck disable=SC2016  # Expanded in there.
boot='
    work=$1
    shift
    mount --make-rprivate /
    mount -t tmpfs -o mode=755 tmpfs "$work"
    mkdir "$work"/upper "$work"/work "$work"/root
    mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
    cd "$work/root"
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs dev
    for node in null zero full random urandom tty; do touch "dev/$node"; mount --bind "/dev/$node" "dev/$node"; done
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    mount -t tmpfs tmpfs dev/shm
    mount -t tmpfs -o mode=755 tmpfs run
    mount -t tmpfs -o mode=1777 tmpfs tmp
    for directory in "$@"; do
        layer=$(mktemp -d "$work/layer.XXXXXX")
        mkdir -p "$layer/upper" "$layer/work" "$work/root$directory"
        # Names the lower layer by a relative path, so that a character in its name cannot be read as an option.
        cd "$directory"
        mount -t overlay overlay -o "lowerdir=.,upperdir=$layer/upper,workdir=$layer/work" "$work/root$directory"
        cd "$work/root"
    done
    mkdir -p before
    pivot_root . before
    cd /
    umount -l /before
    # Without shared propagation a unit with User= does not see its credentials.
    mount --make-rshared /
    ip link set lo up
    # Only the services that every system has may start.
    for unit in /etc/systemd/system/*.wants/*; do
        case $unit in *dbus*) ;; *) rm -f "$unit" ;; esac
    done
    # A first boot would enable all units of the presets again: on Debian every unit. After the boot the command has a
    # system without this preset, in which a package enables its units.
    mkdir -p /etc/systemd/system-preset
    echo "disable *" >/etc/systemd/system-preset/00-box.preset
    for unit in systemd-logind systemd-udevd systemd-update-utmp systemd-firstboot getty@tty1 console-getty; do
        ln -sf /dev/null "/etc/systemd/system/$unit.service"
    done
    for unit in dev-hugepages dev-mqueue sys-kernel-debug sys-kernel-tracing sys-fs-fuse-connections; do
        ln -sf /dev/null "/etc/systemd/system/$unit.mount"
    done
    echo uninitialized >/etc/machine-id
    export container=box
    exec /lib/systemd/systemd --system --unit=multi-user.target --log-target=null --show-status=no </dev/null
'
# Two systemds below one cgroup would kill each other's processes, and remove each other's cgroups.
# shellcheck disable=SC2016  # Expanded in there.
enter='
    work=$1 boot=$2
    shift 2
    mount -t cgroup2 cgroup2 "$work"
    mkdir "$work/${work##*/}"
    echo $$ >"$work/${work##*/}/cgroup.procs"
    umount "$work"
    exec unshare --pid --fork --kill-child --mount --uts --ipc --cgroup --net bash -euc "$boot" box "$work" "$@"
'
# shellcheck disable=SC2016  # Expanded in there.
remove_cgroup='
    mount -t cgroup2 cgroup2 "$1"
    for ((tries = 0; tries < 100; tries++)); do
        find "$1/${1##*/}" -depth -type d -exec rmdir {} + && break
        sleep 0.05
    done
'
# Ends with this script, even when the script is killed.
setpriv --pdeathsig KILL unshare --mount bash -euc "$enter" box "$work" "$boot" "${shown[@]}" >/dev/null 2>"$work.log" &
outer=$!
# shellcheck disable=SC2317  # By the trap.
clean_up() {
    kill -KILL "$outer" 2>/dev/null || true
    wait "$outer" 2>/dev/null || true
    unshare --mount bash -uc "$remove_cgroup" box "$work" 2>/dev/null || true
    rm -f "$work.log"
    rmdir "$work" 2>/dev/null || true
}
trap clean_up EXIT

state=none
for ((tries = 1; tries <= 900; tries++)); do
    # Prints a sign of life every 50 tries.
    ((tries % 50)) || echo "box.sh: the system in the box is starting" >&2
    kill -0 "$outer" 2>/dev/null || broken "systemd did not start: $(<"$work.log")"
    inner=$(pgrep -P "$outer" -x systemd || true)
    if [[ -n $inner ]]; then
        state=$(nsenter -t "$inner" -a systemctl is-system-running 2>/dev/null || true)
        [[ $state == running || $state == degraded ]] && break
    fi
    sleep 0.2
done
[[ $state == running || $state == degraded ]] || broken "the boot did not end: $state"

status=0
# shellcheck disable=SC2016  # Expanded in there.
timeout --kill-after=5 "$seconds" nsenter -t "$inner" -a bash -euc '
    rm /etc/systemd/system-preset/00-box.preset
    mkdir -p /sys/fs/cgroup/command
    echo $$ >/sys/fs/cgroup/command/cgroup.procs
    exec "$@"
' box "$@" || status=$?
exit "$status"
