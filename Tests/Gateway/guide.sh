#!/bin/sh
# The first blocks of the guide to the gateway, in an empty directory, with the programs in PATH. gateway.py runs them
# in their own namespaces, because the guide names the port.
set -e
trap 'kill $daemon $gateway' EXIT
mkdir run state
pushrouterd --state state --runtime run 2>daemon.log &
daemon=$!
pushrouter-gateway --state gateway --runtime run 2>gateway.log &
gateway=$!
until curl -sf http://127.0.0.1:18443/leader; do sleep 0.1; done
# shellcheck source=/dev/null
pushctl gateway env --state gateway >exports && . ./exports

curl -s https://fcm.googleapis.com/v1/projects/demo/messages:send \
    -d '{"message":{"token":"tok1","data":{"order_id":"1017"}}}'
pushctl report --state state
pushctl show --state state 1 | grep order_id
