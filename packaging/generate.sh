#!/usr/bin/env bash
# Generates files, and parts of manual pages, from the programs' declarations: options, settings, members.
# usage: generate.sh [PUSHCTL [DIRECTORY]]     PUSHCTL: the built program, with those of gateway and page beside it
# usage:                                       default: all three are built
#        DIRECTORY: where the files go; default: into this tree
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# <= 2)) || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
if (($# == 0)); then
    for product in pushctl pushrouter-gateway pushrouter-web; do swift build --product "$product"; done
    set -- .build/debug/pushctl
fi
pushctl=$1 directory=${2-.} gateway=${1%/*}/pushrouter-gateway web=${1%/*}/pushrouter-web

# write FILE WHAT [PROGRAM]: writes the output of pushctl, or of the program, to the file.
write() {
    mkdir -p "$directory/$(dirname "$1")"
    "${3-$pushctl}" --generate "$2" >"$directory/$1.new"
    mv "$directory/$1.new" "$directory/$1"
}

write etc/pushrouterd/pushrouterd.conf conf
write etc/pushrouterd/gateway.conf conf "$gateway"
write etc/pushrouterd/web.conf conf "$web"
write packaging/report.schema.json schema
write packaging/conform.schema.json conform-schema
write packaging/reconcile.schema.json reconcile-schema
write Sources/PushDaemon/Documentation.docc/Guides/Accidents.md accidents

# The parts of the other pages: each begins with a line that names it, and ends at the next such line.
parts=$("$pushctl" --generate parts && "$gateway" --generate parts && "$web" --generate parts)
mapfile -t pages < <(grep -l '^\.\\" begin ' packaging/man/*)
mkdir -p "$directory/packaging/man"
for page in "${pages[@]}"; do
    awk '
        BEGIN { while (("cat" | getline line) > 0) {
            if (line ~ /^\.\\" begin /) name = line
            part[name] = part[name] line "\n"
        } }
        /^\.\\" begin / {
            if (!($0 in part)) { print FILENAME ": no program makes the part " $0 > "/dev/stderr"; exit 1 }
            printf "%s", part[$0]
            inside = 1
        }
        !inside
        /^\.\\" end$/ { inside = 0 }' "$page" <<<"$parts" >"$directory/$page.new"
    mv "$directory/$page.new" "$directory/$page"
done
