#!/usr/bin/env bash
# Builds both images of packaging/Containerfile on a base that debootstrap makes here, and runs them: the daemon of one
# answers and handles a push, pushctl of the other explains one. Leaves nothing behind. Skips with the reason without
# root, debootstrap or buildah; with PUSH_TEST_ALL=1 that is a failure.
# usage: run.sh [DIR]     DIR has the packages; default .build/debian
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
packages=$(cd "${1:-.build/debian}" && pwd)
PATH=$PATH:/usr/sbin:/sbin

skip() {
    echo "left out: the images: $*"
    [[ ${PUSH_TEST_ALL-} != 1 ]] || exit 1
    exit 0
}
fail() { echo "run.sh: $*" >&2; exit 1; }
((EUID == 0)) || skip "they need root"
for program in debootstrap buildah; do command -v "$program" >/dev/null || skip "$program is not installed"; done
[[ -n $(ls "$packages"/pushrouterd_*.deb 2>/dev/null) ]] || fail "$packages has no packages; packaging/build-deb.sh makes them"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/image.XXXXXX")
trap 'rm -rf "$work"' EXIT
export BUILDAH_ISOLATION=chroot
quiet() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; fail "$* failed"; }; }
build() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }

# shellcheck source=packaging/common.sh
. packaging/common.sh
echo "-- base: debootstrap"
quiet debian_base "$work/base"
base=$(build from scratch)
quiet build add "$base" "$work/base"
rm -rf "$work/base"
quiet build commit --rm "$base" base:1

for target in pushctl pushrouterd; do
    echo "-- image: $target"
    stage=()
    [[ $target == pushctl ]] || stage=(--format docker --target router)
    quiet build build --pull=never --build-arg BASE=localhost/base:1 "${stage[@]}" -t "$target" \
        -f packaging/Containerfile "$packages"
done

# entry IMAGE: the program with which the image starts.
entry() { build inspect --type image --format '{{index .OCIv1.Config.Entrypoint 0}}' "$1"; }

echo "-- pushctl: explains a payload"
container=$(build from --pull=never localhost/pushctl)
explained=$(build run --volume "$PWD/Tests/Fixtures/payloads:/work:ro" "$container" -- \
    "$(entry localhost/pushctl)" explain --platform android braze-android/droidboy-campaign.json)
[[ $explained == *braze* ]] || fail "pushctl explains: $explained"

echo "-- pushrouterd: answers, handles a push and ends"
health=$(build inspect --type image --format '{{.Docker.Config.Healthcheck.Test}}' localhost/pushrouterd)
[[ $health == "[CMD /usr/bin/pushctl status]" ]] || fail "the health check is: $health"
container=$(build from --pull=never localhost/pushrouterd)
! build run "$container" -- dpkg -s systemd >/dev/null 2>&1 || fail "the image has all of systemd"
# shellcheck disable=SC2016  # Expanded in there.
session='
    "$0" 2>/tmp/journal & daemon=$!
    tries=0
    until pushctl status >/tmp/status 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { cat /tmp/status /tmp/journal; exit 1; }
        sleep 0.1
    done
    id -un
    pushctl status >/dev/null && [ "$(stat -c "%g %a" /run/pushrouterd/inject.sock)" = "$(id -g) 660" ] && echo "its group"
    printf "{\"data\":{\"k\":\"v\"}}" | pushctl inject --app org.example --platform android --wait -
    kill "$daemon"
    wait "$daemon"
    echo "ended with $?"
'
told=$(build run "$container" -- /bin/sh -c "$session" "$(entry localhost/pushrouterd)" 2>&1) || fail "$told"
for word in pushrouterd "its group" handled "ended with 0"; do
    [[ $told == *"$word"* ]] || fail "the daemon's container does not say $word: $told"
done
echo "images: both work"
