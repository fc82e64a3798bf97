"""Reads requests as http-server.py writes them with two other implementations: http-interop.py REQUESTS SECRET

Prints how many are events of CloudEvents (PyPI cloudevents) with a right signature (PyPI standardwebhooks).
"""
import json, sys

from cloudevents.http import from_http
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

right = 0
for line in open(sys.argv[1]):
    request = json.loads(line)
    event = from_http(request["headers"], request["body"].encode())
    assert event["specversion"] == "1.0" and event["type"] == "local.pushrouterd.deliver", event
    assert event["expirytime"] and event["callback"] == "onMessageReceived", event
    assert event.data["payload"]["data"]["job"], event.data
    Webhook(sys.argv[2]).verify(request["body"], request["headers"])
    try:
        Webhook(sys.argv[2]).verify(request["body"] + " ", request["headers"])
        sys.exit("a changed body is taken")
    except WebhookVerificationError:
        right += 1
print(right)
