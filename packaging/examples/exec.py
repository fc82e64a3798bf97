#!/usr/bin/env python3
import json, sys

event = json.load(sys.stdin)  # delivery, payload, deadline
delivery = event["delivery"]
if delivery["op"] != "deliver" or delivery["callback"] == "onDeletedMessages":
    sys.exit(80)  # not mine: the next route
if event["deadline"]["remaining_ms"] < 100:
    sys.exit(75)  # too little time left
print(json.dumps({"result": "newData"}))
