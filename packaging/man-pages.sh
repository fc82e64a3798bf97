#!/usr/bin/env bash
# Makes all manual pages: those of packaging/man, one of pushctl and one for each of its commands, and one for each kind
# of configuration file, which is its section of pushrouterd.conf(5).
# usage: man-pages.sh PUSHCTL DIRECTORY     PUSHCTL: the built program, which has the table of its commands
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 2)) || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
pushctl=$1 directory=$2

mkdir -p "$directory"
cp packaging/man/* "$directory/"

"$pushctl" --generate man >"$directory/pushctl.1"
"$pushctl" --help | sed -n '/^Options of/q;s/^  \([a-z][a-z-]*\)  .*/\1/p' | while read -r command; do
    "$pushctl" "$command" --generate man >"$directory/pushctl-$command.1"
done

# file_page KIND SECTION WHAT: the page pushrouterd.KIND(5).
file_page() {
    local page=$directory/pushrouterd.$1.5 source=packaging/man/pushrouterd.conf.5
    {
        grep -m 1 '^\.Dd' "$source"
        printf '%s\n' ".Dt PUSHROUTERD.${1^^} 5"
        grep -m 1 '^\.Os' "$source"
        printf '%s\n' '.Sh NAME' ".Nm pushrouterd.$1" ".Nd $3" '.Sh SYNOPSIS' \
            ".Pa /etc/pushrouterd/$1s.d/*.$1" '.Pp' ".Pa /run/pushrouterd/$1s.d/*.$1" '.Pp' \
            ".Pa /usr/lib/pushrouterd/$1s.d/*.$1" '.Sh DESCRIPTION' \
            'This page is the section' ".Em $2" 'of' '.Xr pushrouterd.conf 5 ,' \
            'which explains the syntax, and which of several files with one name counts.' '.Pp'
        # Macros that end a list or a display stand within the section: awk prints the whole section.
        awk -v section=".Sh $2" '/^\.Sh /{ inside = $0 == section; next } inside' "$source"
        printf '%s\n' '.Sh SEE ALSO' '.Xr pushctl 1 ,' '.Xr pushrouterd.conf 5 ,' '.Xr pushrouterd 8'
    } >"$page"
    grep -q '^\.It Cm' "$page" || { echo "${0##*/}: pushrouterd.conf.5 has no section $2" >&2; exit 1; }
}

file_page provider 'PROVIDER FILES' 'rules by which a provider owns a payload'
file_page handler 'HANDLER FILES' 'a program or service that handles payloads'
file_page route 'ROUTE FILES' 'which payloads go to which handler'
file_page track 'TRACK FILES' 'custom events and attributes to be sent for pushes'
