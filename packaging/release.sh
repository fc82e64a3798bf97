#!/usr/bin/env bash
# Makes the files of a release: source archive, Debian packages, archives of the programs for other systems with glibc
# 2.36 or later, container images, a list of what is inside (SPDX), the licenses of what is linked, notes and checksums.
# The same commit in the same directory gives the same bytes, but for the images. Lists missing files.
# usage: release.sh [--output DIR] [--programs DIR] [--base IMAGE]     --output: default .build/release-files
#        --programs DIR: pack the programs that are in DIR, and build nothing
#        --base IMAGE: the images' base; without it root with debootstrap and buildah makes one, else
#        docker.io/library/debian:bookworm-slim
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/common.sh
. packaging/common.sh

usage() { sed -n 's/^# usage/usage/p; s/^#   *--/       --/p' "$0" >&2; exit 2; }

output=$PWD/.build/release-files programs=() base=()
while (($# > 0)); do
    (($# > 1)) || usage
    case $1 in
        --output) output=$2 ;;
        --programs) programs=(--programs "$2") ;;
        --base) base=(--build-arg "BASE=$2") ;;
        *) usage ;;
    esac
    shift 2
done

command -v git >/dev/null || fail "git is not installed: the source archive is made from a commit"
changes=$(git status --porcelain) || fail "this is no git checkout: the source archive is made from a commit"
[[ -z $changes ]] || fail "files are changed and not committed; commit them, or put them aside: git stash --include-untracked"
version=$(sed -n 's/.*pushrouterdVersion = "\(.*\)".*/\1/p' Sources/Core/PushModel/Texts/Version.swift)
[[ -n $version ]] || fail "Sources/Core/PushModel/Texts/Version.swift has no version"
mkdir -p "$output"
output=$(cd "$output" && pwd)
[[ -z $(ls -A "$output") ]] || fail "$output has files already; a release is made in an empty directory"
missing=()

# Gzip's header has no time, so the same commit gives the same bytes.
say "sources: git archive"
git archive --format=tar --prefix="pushrouterd-$version/" HEAD | gzip -9n >"$output/pushrouterd-$version.tar.gz"

say "packages: packaging/build-deb.sh"
packaging/build-deb.sh "${programs[@]}" --output "$output"

# Files in archives have the time of the commit, no owner and one order.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
pack() { # NAME: the directory $work/NAME as an archive
    tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$1" | gzip -9n >"$output/$1.tar.gz"
}
# The Debian package of each library that a program is linked with, and the library's name: "libcurl4 libcurl.so.4".
libraries() { # PROGRAM...
    local name path owner needed
    needed=$(objdump -p "$@" | sed -nE 's/^ *NEEDED +//p' | sort -u)
    ldd "$@" | sed -nE 's/^[[:space:]]*([^ ]+) => (\/[^ ]+) .*/\1 \2/p' | sort -u | while read -r name path; do
        [[ $'\n'$needed$'\n' == *$'\n'"$name"$'\n'* ]] || continue
        # Debian's lists have the path before or behind the link from /lib to /usr/lib.
        owner=$(dpkg-query -S "$(readlink -f "$path")" 2>/dev/null || dpkg-query -S "${path#/usr}" 2>/dev/null) ||
            fail "no package of this machine has $path"
        printf '%s %s\n' "${owner%%:*}" "$name"
    done | sort -u
}
work=$(mktemp -d "${TMPDIR:-/tmp}/release.XXXXXX")
trap 'rm -rf "$work"' EXIT
architecture=$(dpkg --print-architecture)
swift_license=$(dirname "$(dirname "$(readlink -f "$(PATH=$PATH:/opt/swift/usr/bin command -v swift)")")")/share/swift/LICENSE.txt

# archive NAME PACKAGE...: what the packages install, with the list and the licenses of the libraries.
archive() {
    local root=$work/$1-$version-linux-$architecture package path programs=() library
    mkdir -p "$root/licenses"
    for package in "${@:2}"; do dpkg-deb -x "$output/$package"_*.deb "$root"; done
    cp LICENSE "$root/"
    cp "$swift_license" "$root/licenses/swift-runtime"
    while read -r path; do
        [[ $(head -c 4 "$path") != $'\x7fELF' ]] || programs+=("$path")
    done < <(find "$root" -type f -executable)
    libraries "${programs[@]}" >"$root/LIBRARIES"
    while read -r library _; do cp "/usr/share/doc/$library/copyright" "$root/licenses/$library"; done <"$root/LIBRARIES"
    pack "${root##*/}"
}
say "archives: what the packages install, for systems without dpkg"
archive pushctl pushrouterd-ctl
archive pushrouterd pushrouterd-ctl pushrouterd pushrouterd-fleet

say "contents: pushrouterd-$version.spdx"
inside=$work/pushrouterd-$version-linux-$architecture
{
    cat <<END
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: pushrouterd-$version
DocumentNamespace: https://pushrouterd.dev/spdx/pushrouterd-$version-$(git rev-parse HEAD)
Creator: Tool: packaging/release.sh
Created: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-pushrouterd
END
    # The files stand before the packages: behind one they would be parts of it.
    (cd "$inside" && find usr/bin usr/sbin -type f | sort) | while read -r path; do
        id=SPDXRef-file-$(tr -c 'A-Za-z0-9\n' - <<<"$path")
        printf '\nFileName: ./%s\nSPDXID: %s\n' "$path" "$id"
        printf 'FileChecksum: SHA1: %s\nFileChecksum: SHA256: %s\n' "$(sha1sum <"$inside/$path" | cut -d ' ' -f 1)" \
            "$(sha256sum <"$inside/$path" | cut -d ' ' -f 1)"
        printf 'LicenseConcluded: NOASSERTION\nLicenseInfoInFile: NOASSERTION\nFileCopyrightText: NOASSERTION\n'
        echo "Relationship: SPDXRef-DOCUMENT DESCRIBES $id"
    done
    # spdx_package ID NAME VERSION LICENSE COMMENT
    spdx_package() {
        printf '\nPackageName: %s\nSPDXID: SPDXRef-%s\nPackageVersion: %s\n' "$2" "$1" "$3"
        printf 'PackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\nPackageLicenseConcluded: NOASSERTION\n'
        printf 'PackageLicenseDeclared: %s\nPackageCopyrightText: NOASSERTION\nPackageComment: <text>%s</text>\n' "$4" "$5"
    }
    spdx_package pushrouterd pushrouterd "$version" Apache-2.0 "commit $(git rev-parse HEAD)"
    spdx_package swift-runtime swift-runtime "$(PATH=$PATH:/opt/swift/usr/bin swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+).*/\1/p')" \
        "Apache-2.0 WITH Swift-exception" "linked into each program; licenses/swift-runtime of the archives"
    echo "Relationship: SPDXRef-pushrouterd STATIC_LINK SPDXRef-swift-runtime"
    cut -d ' ' -f 1 "$inside/LIBRARIES" | sort -u | while read -r library; do
        spdx_package "${library//+/-}" "$library" "$(dpkg-query -W -f '${Version}\n' "$library" | sed -n 1p)" NOASSERTION \
            "Debian's package, which is not a part of the release; licenses/$library of the archives"
        echo "Relationship: SPDXRef-pushrouterd DYNAMIC_LINK SPDXRef-${library//+/-}"
    done
} >"$output/pushrouterd-$version.spdx"

# The notes are the version's part of the changelog.
awk -v version="${version%-dev}" '/^## / { inside = index($0, "[" version "]") } inside' CHANGELOG.md >"$output/NOTES.md"
[[ -s $output/NOTES.md ]] || fail "CHANGELOG.md has nothing about $version"

builder=()
for command in podman buildah; do
    if command -v "$command" >/dev/null; then
        builder=("$command")
        break
    fi
done
pull=missing
if ((${#base[@]} == 0 && EUID == 0)) && command -v buildah >/dev/null && PATH=$PATH:/usr/sbin command -v debootstrap >/dev/null; then
    say "base of the images: debootstrap"
    # A store of its own, of which nothing stays.
    builder=(buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs)
    export BUILDAH_ISOLATION=chroot
    debian_base "$work/base" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "debootstrap failed"; }
    container=$("${builder[@]}" from scratch)
    "${builder[@]}" add "$container" "$work/base" >/dev/null
    rm -rf "$work/base"
    "${builder[@]}" commit --rm "$container" base:1 >/dev/null
    base=(--build-arg BASE=localhost/base:1) pull=never
fi
# Builds one target of the Containerfile, and writes its image as an OCI archive.
build_image() { # NAME ARGUMENT...
    local name=$1 archive=$output/$1-$version-image.tar
    shift
    say "image: ${builder[0]} build, $name"
    if "${builder[@]}" build --pull="$pull" "${base[@]}" "$@" -f packaging/Containerfile -t "$name:$version" "$output" &&
        "${builder[@]}" push "$name:$version" "oci-archive:$archive:$name:$version"; then
        return
    fi
    rm -f "$archive"
    missing+=("image $name: ${builder[0]} failed, see above")
}
if ((${#builder[@]})); then
    build_image pushctl
    build_image pushrouterd --target router
else
    missing+=("images: neither podman nor buildah is installed")
fi

say "checksums: SHA256SUMS"
(cd "$output" && sha256sum -- * >"$output.sums") && mv "$output.sums" "$output/SHA256SUMS"

say "made, in $output:"
cat "$output/SHA256SUMS"
for part in "${missing[@]}"; do say "not made: $part"; done
[[ $version == *-dev ]] || say "the tag, by hand, when all is right: git tag -s v$version -m 'pushrouterd $version' && git push origin v$version"
