#!/usr/bin/env python3
import json, socketserver, sys

class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:  # a line in: id, delivery, payload, deadline
            event = json.loads(line)
            mine = event["delivery"]["op"] == "deliver" and event["delivery"]["callback"] != "onDeletedMessages"
            status = "declined" if not mine else "handled" if event["deadline"]["remaining_ms"] >= 100 else "retry"
            self.wfile.write(json.dumps({"id": event["id"], "status": status}).encode() + b"\n")

socketserver.ThreadingUnixStreamServer(sys.argv[1], Connection).serve_forever()
