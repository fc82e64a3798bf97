#!/usr/bin/env python3
import json, sys

for line in sys.stdin:  # a line in: id, delivery, payload, deadline
    event = json.loads(line)
    status = "handled"
    if event["delivery"]["op"] != "deliver" or event["delivery"]["callback"] == "onDeletedMessages":
        status = "declined"  # not mine: the next route
    elif event["deadline"]["remaining_ms"] < 100:
        status = "retry"  # too little time left
    print(json.dumps({"id": event["id"], "status": status}), flush=True)  # a line out
