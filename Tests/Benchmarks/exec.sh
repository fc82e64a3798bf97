#!/usr/bin/env bash
# Measures exec handlers a second, end to end and durable: accepted, committed, started, run, decided, committed,
# reported. Compares them with the webhook program, which runs a program for each request and stores nothing, with the
# same callers; and with a plain C loop of posix_spawn and wait of the same program. Alternates at 1, 8 and 64 callers,
# each of which waits for its outcome.
#
#   Tests/Benchmarks/exec.sh [ROUNDS] [HANDLERS] [process_groups|cgroups]
#
# Prints the ratios to both. The goal is at least webhook's rate, and 0.8 of the plain loop's, 0.6 with a cgroup for
# each run; cgroups creates a cgroup for the daemon, which needs root and cgroup v2. Needs gcc, and webhook (Debian's
# package) for that peer. The handler is a static program that does nothing. BUILD=DIR takes the programs from there,
# and builds nothing. At 1 caller a disk with slow syncs dominates: WORK=/dev/shm measures without it.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} handlers=${2:-3000} containment=${3:-process_groups}
work=$(mktemp -d "${WORK:-/var/tmp}/pushrouterd-exec.XXXXXX")
daemon='' webhook='' cgroup=''
cleanup() {
  kill $daemon $webhook 2>/dev/null || true
  wait 2>/dev/null || true
  [[ -z $cgroup ]] || rmdir "$cgroup"/daemon "$cgroup"/runs "$cgroup" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

build=${BUILD:-.build/release}
[[ -n ${BUILD:-} ]] || swift build -c release >&2
gcc -O2 -o "$work/peer" Tests/Benchmarks/spawn/peer.c
gcc -O2 -o "$work/callers" Tests/Benchmarks/exec/callers.c
echo 'int main(void) { return 0; }' >"$work/noop.c"
gcc -O2 -static -o "$work/noop" "$work/noop.c"
mkdir -p "$work/config/handlers.d" "$work/config/routes.d" "$work/runtime"
printf '[Handler]\nType=exec\nExec=%s/noop\n' "$work" >"$work/config/handlers.d/noop.handler"
printf '[Match]\n[Route]\nHandler=noop\n' >"$work/config/routes.d/10-noop.route"
start=("$build/pushrouterd" --config "$work/config" --state "$work/state" --runtime "$work/runtime")
if [[ $containment == cgroups ]]; then
  for mount in /sys/fs/cgroup /sys/fs/cgroup/unified; do [[ ! -e $mount/cgroup.procs ]] || break; done
  cgroup=$mount/pushrouterd-exec-$$
  mkdir "$cgroup"
  python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.delegate", b"1")' "$cgroup"
  # shellcheck disable=SC2016  # The words are the inner shell's.
  start=(sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$cgroup" "${start[@]}")
fi
"${start[@]}" 2>"$work/log" &
daemon=$!
until [[ -S $work/runtime/inject.sock ]]; do
  kill -0 $daemon 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.01
done
port=$((20000 + $$ % 10000))
if command -v webhook >/dev/null; then
  # webhook answers when the program has ended.
  printf '[{"id":"noop","execute-command":"%s/noop","include-command-output-in-response":true}]' "$work" >"$work/hooks.json"
  webhook -hooks "$work/hooks.json" -ip 127.0.0.1 -port "$port" >"$work/webhook.log" 2>&1 &
  webhook=$!
  until (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.01; done
fi
printf '{"order":"1017","title":"On its way"}' >"$work/payload"

median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
for callers in 1 8 64; do
  for ((round = 1; round <= rounds; round++)); do
    ours=$("$work/callers" inject "$work/runtime/inject.sock" $callers "$handlers" "$work/payload")
    line="$callers callers: pushrouterd ${ours%% *}/s (p50 $(cut -d' ' -f2 <<<"$ours") ms)"
    if [[ -n $webhook ]]; then
      peer=$("$work/callers" http $port $callers "$handlers" "$work/payload")
      awk -v ours="${ours%% *}" -v peer="${peer%% *}" 'BEGIN { print ours / peer }' >>"$work/webhook-$callers"
      line+=", webhook ${peer%% *}/s (p50 $(cut -d' ' -f2 <<<"$peer") ms)"
    fi
    # Two programs at once keep both processors busy; more are not faster.
    spawn=$("$work/peer" rate $((callers > 2 ? 2 : callers)) "$work/noop" | grep -o '[0-9]*/s' | tr -d '/s')
    awk -v ours="${ours%% *}" -v peer="$spawn" 'BEGIN { print ours / peer }' >>"$work/spawn-$callers"
    echo "$line, plain loop $spawn/s"
  done
  line="$callers callers, median ratio: $(median <"$work/spawn-$callers") of the plain loop"
  [[ -z $webhook ]] || line+=", $(median <"$work/webhook-$callers") of webhook"
  echo "$line"
done
