#!/bin/sh
# The program of an exec handler: the payload's "end" selects its end.
# Arguments: the length of its stall in seconds, longer than any deadline; the file that gets a line for each run.
stall=$1
echo "$PUSH_SEQ.$PUSH_N.$PUSH_ATTEMPT" >>"$2"
IFS= read -r line
end=${line#*'"end":"'}
case ${end%%'"'*} in
fail) echo "the shop is closed" >&2; exit 1 ;;
retry) exit 75 ;;
decline) exit 80 ;;
die) kill -9 $$ ;;
stall) exec sleep "$stall" ;;
garbage) head -c 3000 /dev/urandom; exit 0 ;;
noise)
    i=0
    while [ $i -lt 200 ]; do
        echo "line $i of a noisy program, which says much and means little" >&2
        i=$((i + 1))
    done ;;
leave) sleep "$stall" & setsid sleep "$stall" & exit 0 ;;
close) exec <&- >&- 2>&-; sleep 0.1 ;;
answer) echo '{"result":"newData","log":[{"kind":"custom_event","name":"answered","suite":"s"}]}' ;;
slow) sleep 0.2 ;;
esac
exit 0
