#!/usr/bin/env bash
# Builds the Debian packages pushrouterd, pushrouterd-ctl and pushrouterd-fleet from this tree. The same sources give the same bytes.
# usage: build-deb.sh [--output DIR] [--programs DIR]     --output: default .build/debian
#        --programs DIR: pack the programs that are in DIR, and build nothing
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/common.sh
. packaging/common.sh

usage() { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }

output=$PWD/.build/debian programs=
while (($# > 0)); do
    case $1 in
        --output) (($# > 1)) || usage; mkdir -p "$2"; output=$(cd "$2" && pwd); shift 2 ;;
        --programs) (($# > 1)) || usage; programs=$(cd "$2" && pwd); shift 2 ;;
        *) usage ;;
    esac
done

version=$(sed -n 's/.*pushrouterdVersion = "\(.*\)".*/\1/p' Sources/Core/PushModel/Texts/Version.swift)
# In Debian's order 1.0.0~dev comes before 1.0.0; a hyphen would begin the Debian revision.
version=${version//-/\~}
[[ $version =~ ^[0-9][0-9.~a-z+]*$ ]] || fail "Sources/Core/PushModel/Texts/Version.swift has no version"
mapfile -t products < <(sed -n 's/^ *\.executable(name: "\([^"]*\)".*/\1/p' Package.swift)
((${#products[@]} > 0)) || fail "Package.swift has no executable products"

require_packages debhelper dpkg-dev
if [[ -z $programs ]]; then
    require_packages "${build_packages[@]}"
    require_swift
    for product in "${products[@]}"; do
        say "building: swift build -c release --product $product"
        # Keeps the path of the sources out of the programs.
        swift build -c release --product "$product" -Xswiftc -file-prefix-map -Xswiftc "$PWD=." \
            -Xlinker --build-id=sha1
    done
    programs=$PWD/.build/release
fi

# The time stamp of all files in the packages: the last change of the sources.
if [[ -z ${SOURCE_DATE_EPOCH-} ]]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022

work=$(mktemp -d "${TMPDIR:-/tmp}/build-deb.XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/pushrouterd-$version
mkdir -p "$tree/programs"
for product in "${products[@]}"; do install -m 755 "$programs/$product" "$tree/programs/"; done
cp -r packaging/debian "$tree/debian"
cp -r packaging etc "$tree/"
cp packaging/systemd/pushrouterd.sysusers packaging/systemd/pushrouterd.tmpfiles "$tree/debian/"
cp CHANGELOG.md "$tree/"
chmod -R go=u-w "$tree/etc" "$tree/packaging" "$tree/debian"
cat >"$tree/debian/changelog" <<END
pushrouterd ($version) unstable; urgency=medium

  * The changes of this version are in /usr/share/doc/pushrouterd/changelog.gz.

 -- The pushrouterd authors <packages@pushrouterd.dev>  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
bash packaging/man-pages.sh "$tree/programs/pushctl" "$tree/man"
bash packaging/guides.sh "$tree/guides"

say "packing: dpkg-buildpackage, version $version"
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign --unsigned-changes >"$work/log" 2>&1) || {
    cat "$work/log" >&2
    fail "dpkg-buildpackage failed"
}
mkdir -p "$output"
rm -f "$output"/pushrouterd*.deb
cp "$work"/*.deb "$output/"
if command -v lintian >/dev/null; then
    say "lintian: no errors, no warnings"
    lintian --allow-root --fail-on error,warning "$work"/*.changes || fail "lintian has complaints"
else
    say "left out: lintian is not installed"
fi
for package in "$output"/*.deb; do say "$package: $(stat -c %s "$package") bytes"; done
