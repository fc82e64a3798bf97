#!/usr/bin/env bash
# Counts the processes that hostile handlers leave behind, and measures how late the daemon kills them: a set of kinds,
# chosen by seed. Then runs good handlers beside sleeping ones, and peaceful ones with daemonised helpers, six for each
# ten hostile ones.
#
#   Tests/Benchmarks/hostile.sh [process_groups|cgroups] [RUNS] [SEED]
#
# The default is 10,000 runs; fails if a process or a descriptor is left, or a peaceful handler is harmed. cgroups
# creates a cgroup for the daemon, which needs root and cgroup v2, as in a container or in the systemd box. Needs gcc,
# python3 and the release build, in BUILD or .build/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
containment=${1:-process_groups} runs=${2:-10000} seed=${3:-1}
work=$(mktemp -d /var/tmp/pushrouterd-hostile.XXXXXX)
daemon='' cgroup=''
cleanup() {
  [[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true
  wait 2>/dev/null || true
  [[ -z $cgroup ]] || rmdir "$cgroup"/daemon "$cgroup"/runs "$cgroup" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

gcc -O2 -static -o "$work/hostile" Tests/Benchmarks/hostile/hostile.c
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime" "$work/lives"
printf '[Dispatch]\nMode=relay\nHandlersMax=64\n' >"$work/config/pushrouterd.conf"
for kind in forks setsid daemonises hides ignores stops closes unread floods dies zombie good peaceful sleeping; do
  printf '[Handler]\nType=exec\nExec=%s/hostile %s %s/lives\n' "$work" $kind "$work" >"$work/config/handlers.d/$kind.handler"
  [[ $kind != ignores ]] || echo 'Grace=50ms' >>"$work/config/handlers.d/$kind.handler"
  deadline=300ms
  case $kind in good | peaceful | sleeping) deadline=9s ;; esac
  printf '[Match]\nApp=%s\n[Route]\nHandler=%s\nDeadline=%s\n' $kind $kind $deadline >"$work/config/routes.d/50-$kind.route"
done
start=("${BUILD:-.build/release}/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime")
if [[ $containment == cgroups ]]; then
  for mount in /sys/fs/cgroup /sys/fs/cgroup/unified; do [[ ! -e $mount/cgroup.procs ]] || break; done
  cgroup=$mount/pushrouterd-hostile-$$
  mkdir "$cgroup"
  python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.delegate", b"1")' "$cgroup"
  # shellcheck disable=SC2016  # The words are the inner shell's.
  start=(sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$cgroup" "${start[@]}")
fi
"${start[@]}" 2>"$work/log" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do
  kill -0 "$daemon" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.01
done
python3 Tests/Benchmarks/hostile/hostile.py "$work" "$daemon" "$containment" "$runs" "$seed"
