"""The other end of a socket handler, of an http handler, or of the forwarder: what comes says how it is answered.

service.py socket PATH STALL
service.py http PORT STALL
service.py track PORT STALL RECORD

STALL is how many seconds a stall takes. RECORD gets a line for each entry that the endpoint of custom data took. A
port is bound with SO_REUSEPORT: whoever started the program holds it while no service runs.
"""

import http.server
import json
import os
import re
import socket
import socketserver
import struct
import sys
import threading
import time

END = re.compile(rb'"end":\s*"(\w+)"')
MARK = re.compile(rb'"mark":\s*"([^"]+)"')
REFUSALS = {"fail": 401, "odd": 500, "retry": 503, "wrong": 429}
refused = set()
kind, place, stall = sys.argv[1], sys.argv[2], float(sys.argv[3])


def end_of(data):
    found = END.search(data)
    return found[1].decode() if found else "ok"


def reset(connection):
    """Closes so that the other side sees ECONNRESET."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            for line in self.rfile:
                if not self.answer(line):
                    return
        except OSError:
            pass

    def answer(self, line):
        """Whether the connection stays."""
        number = json.loads(line)["id"]
        end, status = end_of(line), "handled"
        if end == "die":
            os._exit(9)
        if end == "exit":
            return False
        if end == "reset":
            reset(self.connection)
            return False
        if end == "stall":
            time.sleep(stall)
            return False
        if end == "half":
            self.wfile.write(b'{"id":%d,"sta' % number)
            return False
        if end == "long":
            self.wfile.write(b"x" * 300_000 + b"\n")
        if end == "garbage":
            self.wfile.write(os.urandom(200).replace(b"\n", b" ") + b"\n")
        if end == "wrong":
            self.wfile.write(b'{"id":987654321,"status":"handled"}\n')
        if end == "slow":
            time.sleep(0.2)
        status = {"fail": "rejected", "retry": "retry", "decline": "declined", "odd": "excellent"}.get(end, status)
        answer = {"id": number, "status": status}
        if end == "answer":
            answer["log"] = [{"kind": "custom_event", "name": "answered", "suite": "s"}]
        text = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
        self.wfile.write(text * (2 if end == "twice" else 1))
        if end == "close":
            # Sends the answer, and then ends the peer's input; the connection stays open for a moment.
            self.connection.shutdown(socket.SHUT_WR)
            time.sleep(0.05)
        return end not in ("last", "close")


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *arguments):
        pass

    def give(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        end = end_of(body)
        if end == "die":
            os._exit(9)
        if end in ("exit", "reset"):
            if end == "reset":
                reset(self.connection)
            self.close_connection = True
            return
        if end == "stall":
            time.sleep(stall)
            self.close_connection = True
            return
        if end in ("half", "garbage"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{" if end == "half" else os.urandom(300))
            self.wfile.flush()
            self.close_connection = True
            return
        self.close_connection = end in ("last", "close")
        if kind == "track":
            self.take(body, end)
        else:
            self.react(end)

    def react(self, end):
        if end == "slow":
            time.sleep(0.2)
        if end == "fail":
            self.give(400, b"the shop is closed")
        elif end == "retry":
            self.give(503)
        elif end == "odd":
            self.give(500)
        elif end == "wrong":
            self.give(429, Retry_After="0")
        elif end == "twice":
            self.give(302, Location="/elsewhere")
        elif end == "decline":
            self.give(404, Push_Declined="1")
        elif end == "answer":
            self.give(200, b'{"result":"newData","log":[{"kind":"custom_event","name":"answered","suite":"s"}]}')
        else:
            self.give(200, b"y" * 100_000 if end == "long" else b"")

    def take(self, body, end):
        # Each entry is refused once: the forwarder sends it again.
        first = MARK.search(body)
        if end in REFUSALS and first and first[1] not in refused:
            refused.add(first[1])
            self.give(REFUSALS[end])
            return
        document = json.loads(body)
        # An endpoint that never answers has taken the entries all the same; the forwarder gives them the outcome
        # unknown.
        with open(sys.argv[4], "ab", buffering=0) as record:
            for entry in document.get("events", []) + document.get("attributes", []):
                mark = entry.get("properties", entry).get("mark")
                if mark:
                    record.write(f"{mark}\n".encode())
        if end == "slow":
            time.sleep(0.2)
        counts = {name + "_processed": len(document[name]) for name in ("events", "attributes") if name in document}
        self.give(201, json.dumps(dict(message="success", **counts)).encode())


class UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


class WebServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


threading.stack_size(256 << 10)
socketserver.BaseServer.handle_error = lambda *_: None
if kind == "socket":
    if os.path.exists(place):
        os.unlink(place)
    UnixServer(place, Lines).serve_forever()
else:
    WebServer(("127.0.0.1", int(place)), Pages).serve_forever()
