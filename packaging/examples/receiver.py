#!/usr/bin/env python3
import http.server, json, sys

class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # the connection stays for the next request

    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))  # delivery, payload, deadline
        mine = event["delivery"]["op"] == "deliver" and event["delivery"]["callback"] != "onDeletedMessages"
        self.send_response(404 if not mine else 200 if event["deadline"]["remaining_ms"] >= 100 else 503)
        self.send_header("Push-Declined", "0" if mine else "1")
        self.send_header("Content-Length", "0")
        self.end_headers()

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
