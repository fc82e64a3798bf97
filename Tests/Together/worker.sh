#!/bin/sh
# The program of a worker handler: a line in, a line out; the payload's "end" selects its answer and whether it exits.
# Arguments: the length of its stall in seconds, longer than any deadline.
stall=$1
while IFS= read -r line; do
    id=${line#'{"id":'}
    id=${id%%,*}
    end=${line#*'"end":"'}
    status=handled
    case ${end%%'"'*} in
    fail) status=rejected ;;
    retry) status=retry ;;
    decline) status=declined ;;
    die) kill -9 $$ ;;
    exit) exit 3 ;;
    last) echo "{\"id\":$id,\"status\":\"handled\"}"; exit 0 ;;
    stall) exec sleep "$stall" ;;
    garbage) echo "no JSON at all"; status=excellent ;;
    half) printf '{"id":%s,"sta' "$id"; exit 0 ;;
    wrong) echo "{\"id\":987654321,\"status\":\"handled\"}" ;;
    twice) echo "{\"id\":$id,\"status\":\"handled\"}" ;;
    long) head -c 300000 /dev/zero | tr '\0' x ;;
    noise) echo "a worker says something about $id" >&2 ;;
    close) exec >&-; sleep "$stall" ;;
    deaf) exec <&-; sleep 0.1 ;;
    leave) sleep "$stall" & ;;
    answer)
        log='[{"kind":"custom_event","name":"answered","suite":"s"}]'
        echo "{\"id\":$id,\"status\":\"handled\",\"result\":\"noData\",\"log\":$log}"
        continue ;;
    slow) sleep 0.2 ;;
    esac
    echo "{\"id\":$id,\"status\":\"$status\"}"
done
