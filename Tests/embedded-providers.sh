#!/bin/sh
# Prints the Swift file that SwiftPM generates from the .provider files, which are compiled into PushSettings: for
# scripts that compile it without SwiftPM.
# usage: embedded-providers.sh
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
echo "struct PackageResources {"
for file in "$top"/etc/pushrouterd/providers.d/*.provider; do
    name=$(basename "$file" .provider | tr - _)
    echo "    static let ${name}_provider: [UInt8] = [$(od -An -v -tu1 "$file" | tr -s ' \n' ',' | sed 's/^,//;s/,$//')]"
done
echo "}"
