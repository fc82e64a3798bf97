#!/usr/bin/env python3
"""A web server for tests: http-server.py DIRECTORY PORT [CERTIFICATE KEY]

Writes its port, any for 0, to DIRECTORY/port and each request to DIRECTORY/requests, a JSON object a line. What it does is the path:
/status/N answers so, /flaky answers 503 once, then 200; the others are below.
"""
import http.server, json, os, socket, ssl, struct, sys, threading, time

directory = sys.argv[1]
lock = threading.Lock()
connections = 0
seen = set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write an answer: two would wait for an acknowledgement

    def setup(self):
        global connections
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with lock:
            connections += 1
            self.number = connections

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", length=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self):
        self.answer(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        record = {
            "connection": self.number,
            "path": self.path,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "body": body,
        }
        with lock:
            again = self.path in seen
            seen.add(self.path)
            with open(directory + "/requests", "a") as log:
                log.write(json.dumps(record) + "\n")
        path = self.path.split("/")
        if path[1] == "status":
            self.answer(int(path[2]), path[3].encode() if len(path) > 3 else b"")
        elif path[1] == "declined":
            self.answer(404, Push_Declined="1")
        elif path[1] == "redirect":
            self.answer(302, Location="/status/200")
        elif path[1] == "result":
            self.answer(200, b'{\n"result": "newData"\n}')
        elif path[1] == "flaky":
            self.answer(200) if again else self.answer(503, Retry_After="0")
        elif path[1] == "later":
            self.answer(503, Retry_After="60")
        elif path[1] == "gate":  # answers when a byte comes through the named pipe DIRECTORY/gate
            with open(directory + "/gate", "rb", buffering=0) as gate:
                gate.read(1)
            self.answer(200)
        elif path[1] == "hang":
            time.sleep(60)
        elif path[1] == "trickle":
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(0.02)
            except OSError:
                self.close_connection = True
        elif path[1] == "huge":
            try:
                self.answer(200, b"x" * 100_000_000)
            except OSError:
                pass
            self.close_connection = True
        elif path[1] == "headers":
            self.send_response(200)
            try:
                for number in range(1_000_000):
                    self.send_header("X-%d" % number, "x" * 1000)
                    self.flush_headers()
            except OSError:
                pass
            self.close_connection = True
        elif path[1] == "truncated":
            self.answer(200, b"{", length=1000)
            self.close_connection = True
        elif path[1] == "garbage":
            self.wfile.write(b"\0\1\2 this is no HTTP\r\n\r\n")
            self.wfile.flush()
            self.close_connection = True
        elif path[1] == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif path[1] == "reused":  # answers the first request of a connection, and closes it at the second
            if getattr(self, "count", 0):
                self.connection.close()
                self.close_connection = True
            else:
                self.count = 1
                self.answer(200)
        else:
            self.answer(200)

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", int(sys.argv[2])), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(directory + "/port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(directory + "/port.new", directory + "/port")
server.serve_forever()
