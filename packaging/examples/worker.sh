#!/bin/sh
# A line in, a line out. Each line begins with its id. The same program serves a socket unit with Accept=yes.
while IFS= read -r line; do
    id=${line#'{"id":'}
    case $line in
    *'"op":"deliver",'*'"order_id":'*) status=handled ;;
    *) status=declined ;;
    esac
    echo "{\"id\":${id%%,*},\"status\":\"$status\"}"
done
