#!/bin/sh
# Prints the Swift file that SwiftPM generates from the files that are compiled into a module: for scripts that compile it
# without SwiftPM.
# usage: embedded-resources.sh FILE...
set -eu
echo "struct PackageResources {"
for file in "$@"; do
    name=$(basename "$file" | tr -c '[:alnum:]\n' _)
    echo "    static let $name: [UInt8] = [$(od -An -v -tu1 "$file" | tr -s ' \n' ',' | sed 's/^,//;s/,$//')]"
done
echo "}"
