#!/usr/bin/env bash
# Tests the Debian packages under their own systemd (box.sh): install, start by socket, reload, watchdog, upgrade under
# load, remove, purge. Prints its measurements. Skips with the reason if there can be no such systemd; with
# PUSH_TEST_ALL=1 that is a failure.
# usage: run.sh [DIR]     DIR has the packages; default .build/debian
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
packages=$(cd "${1:-.build/debian}" && pwd)
[[ -n $(ls "$packages"/pushrouterd_*_amd64.deb 2>/dev/null) ]] || {
    echo "run.sh: $packages has no packages; packaging/build-deb.sh makes them" >&2
    exit 2
}

# The next version has the same files, so that only the upgrade itself matters.
work=$(mktemp -d "${TMPDIR:-/tmp}/package.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/old" "$work/new"
cp "$packages"/*.deb "$work/old/"
for package in "$work"/old/*.deb; do
    name=$(basename "$package" .deb)
    dpkg-deb --raw-extract "$package" "$work/tree"
    sed -i 's/^\(Version:.*\)/\1+next/; s/\(pushrouterd\(-ctl\)\? (= [^)]*\))/\1+next)/' "$work/tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone --build "$work/tree" "$work/new/$name.deb" >/dev/null
    rm -rf "$work/tree"
done

status=0
bash "$here/box.sh" --seconds 600 --show "$work" bash "$here/inside.sh" "$work" || status=$?
case $status in
    0) echo "package tests: passed" ;;
    77)
        echo "package tests: skipped"
        [[ ${PUSH_TEST_ALL-} == 1 ]] || status=0
        ;;
    *) echo "package tests: failed ($status)" >&2 ;;
esac
exit "$status"
