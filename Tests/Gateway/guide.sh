#!/bin/sh
# The first blocks of the guide to the gateway, in an empty directory, with the programs in PATH. gateway.py runs them
# in their own namespaces, because the guide names the port.
set -e
trap 'kill $dev && wait $dev' EXIT
pushctl dev --json >addresses 2>log &
dev=$!
until [ -s addresses ]; do sleep 0.1; done
# shellcheck source=/dev/null
pushctl gateway env >exports && . ./exports

curl -s https://fcm.googleapis.com/v1/projects/demo/messages:send \
    -d '{"message":{"token":"tok1","data":{"order_id":"1017"}}}'
pushctl report
pushctl show 1 | grep order_id
