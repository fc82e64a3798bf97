#!/usr/bin/env bash
# Makes the guides of the package: Markdown for people who read it with less, from the pages that DocC reads. A link to a
# page that is packed names its file; a link to another page names it as a page of the sources. A path in the sources
# becomes that of the package.
# usage: guides.sh DIRECTORY
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 1)) || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
directory=$1
pages=Sources/PushDaemon/Documentation.docc
packed=("$pages"/{Operations,Protocol,ThreatModel,TrackerRules}.md "$pages"/Guides/*.md)

names=$(basename -s .md "${packed[@]}" | paste -sd '|')
mkdir -p "$directory"
for page in "${packed[@]}"; do
    # The remarks are for the tests of the documentation.
    # shellcheck disable=SC2016  # The backticks are Markdown's.
    sed -E -e '/^<!-- .* -->$/d' -e "s/<doc:($names)>/[\\1](\\1.md)/g" -e 's/<doc:([A-Za-z]+)>/`\1` (in the sources)/g' \
        -e 's#packaging/examples|(^|[^/])etc/pushrouterd/tracks\.d#\1/usr/share/doc/pushrouterd/examples#g' \
        -e 's#(^|[^/])etc/pushrouterd#\1/usr/lib/pushrouterd#g' "$page" >"$directory/${page##*/}"
done
