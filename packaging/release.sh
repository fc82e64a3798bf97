#!/usr/bin/env bash
# Makes the files of a release: source archive, Debian packages, container images and checksums. Lists missing files.
# usage: release.sh [--output DIR] [--programs DIR] [--base IMAGE]     --output: default .build/release-files
#        --programs DIR: pack the programs that are in DIR, and build nothing
#        --base IMAGE: the images' base in place of docker.io/library/debian:bookworm-slim
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

builder=
for command in podman buildah; do
    if command -v "$command" >/dev/null; then
        builder=$command
        break
    fi
done
# Builds one target of the Containerfile, and writes its image as an OCI archive.
build_image() { # NAME ARGUMENT...
    local name=$1 archive=$output/$1-$version-image.tar
    shift
    say "image: $builder build, $name"
    if "$builder" build --pull=missing "${base[@]}" "$@" -f packaging/Containerfile -t "$name:$version" "$output" &&
        "$builder" push "$name:$version" "oci-archive:$archive:$name:$version"; then
        return
    fi
    rm -f "$archive"
    missing+=("image $name: $builder failed, see above")
}
if [[ -n $builder ]]; then
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
