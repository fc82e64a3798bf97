#!/bin/sh
# Takes pushes that have an order; 80 leaves any other to the next route that matches.
[ "$PUSH_OP" = deliver ] || exit 80
case $(cat) in
*'"order_id":'*) echo '{"result":"newData"}' ;;
*) exit 80 ;;
esac
