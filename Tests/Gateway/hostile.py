#!/usr/bin/env python3
"""Hostile clients of the gateway beside a good one.

hostile.py [--programs DIR]

Idle connections, connections that send a byte a second, floods of each kind of frame of HTTP/2, clients that do not read, broken
TLS: the good client is served all the while, each flood is ended and counted, and the gateway stays below 64 MiB.
"""
import argparse
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

LIMIT = 64 << 20
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
BODY = b'{"message":{"token":"tok1","data":{"a":"b"}}}'


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


REQUEST = literal(b":method", b"POST") + literal(b":scheme", b"http") + literal(b":path", b"/v1/projects/demo/messages:send") + \
    literal(b":authority", b"fcm.googleapis.com")


class Scene:
    def __init__(self, programs, root):
        self.root = root
        for name in ["run", "config/handlers.d", "config/routes.d"]:
            os.makedirs(f"{root}/{name}")
        open(f"{root}/config/handlers.d/nobody.handler", "w").write("[Handler]\nType=discard\n")
        open(f"{root}/config/routes.d/10-all.route", "w").write("[Match]\n[Route]\nHandler=nobody\n")
        self.path = f"{root}/gateway.sock"
        # A peer on a Unix socket may use half of the connections.
        open(f"{root}/config/gateway.conf", "w").write("[Gateway]\nConnectionsMax=5000\n")
        self.daemon = subprocess.Popen(
            [f"{programs}/pushrouterd", "--config", f"{root}/config", "--state", f"{root}/state", "--runtime", f"{root}/run"],
            stderr=open(f"{root}/daemon.log", "wb"))
        self.gateway = subprocess.Popen(
            [f"{programs}/pushrouter-gateway", "--config", f"{root}/config", "--state", f"{root}/gateway", "--runtime",
             f"{root}/run", "--listen", f"unix:{self.path}"], stderr=open(f"{root}/gateway.log", "wb"))
        self.wait(lambda: self.ask(b"GET /leader HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").startswith(b"HTTP/1.1 200"))
        self.descriptors = self.open_descriptors()

    @staticmethod
    def wait(is_so, what="something"):
        end = time.monotonic() + 60
        while True:
            try:
                if is_so():
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                sys.exit(f"waited a minute for {what} in vain")
            time.sleep(0.02)

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        connection.connect(self.path)
        return connection

    def ask(self, request):
        with self.connect() as connection:
            connection.sendall(request)
            answer = b""
            while part := connection.recv(65536):
                answer += part
            return answer

    def status(self):
        answer = self.ask(b"GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        return json.loads(answer.split(b"\r\n\r\n", 1)[1])

    def send(self):
        """A good push, and how long its answer took."""
        started = time.monotonic()
        answer = self.ask(b"POST /v1/projects/demo/messages:send HTTP/1.1\r\nhost: fcm.googleapis.com\r\nconnection: close\r\n"
                          b"content-length: %d\r\n\r\n" % len(BODY) + BODY)
        if not answer.startswith(b"HTTP/1.1 200"):
            sys.exit(f"the good client got {answer[:200]}")
        return time.monotonic() - started

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.gateway.pid}/fd"))

    def memory(self):
        for line in open(f"/proc/{self.gateway.pid}/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10


def is_ended(connection):
    """Whether the gateway ends a connection; what it sends before is read."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


def flood(scene, name, bytes_, begins=PREFACE + frame(4)):
    """A client that floods is ended, and counted."""
    before = scene.status()["floods"]
    with scene.connect() as connection:
        try:
            connection.sendall(begins + bytes_)
        except ConnectionError:
            pass
        if not is_ended(connection):
            sys.exit(f"{name}: the connection goes on")
    counted = scene.status()["floods"] - before
    print(f"{name}: ended{', and counted as a flood' if counted else ''}", flush=True)


def main():
    # Two thousand connections.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 8192:
        print("left out: this process may have fewer than 8,192 descriptors")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 8192), hard))
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=".build/debug")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        scene = Scene(os.path.abspath(arguments.programs), root)
        try:
            run(scene)
        except BaseException:
            for process in [scene.gateway, scene.daemon]:
                process.kill()
            raise
        for process in [scene.gateway, scene.daemon]:
            process.terminate()
            if process.wait(30) != 0:
                sys.exit(f"{process.args[0]} ended with {process.returncode}")


def begin(scene, bytes_):
    """A connection that sends, as far as it may."""
    connection = scene.connect()
    try:
        connection.sendall(bytes_)
    except ConnectionError:
        pass
    return connection


def hold(scene):
    """Clients whose requests do not end: those that hold most are ended, the good one is served."""
    before = scene.status()["floods"]
    bodies = PREFACE + frame(4) + b"".join(frame(1, 4, 2 * number + 1, REQUEST) for number in range(100)) + b"".join(
        frame(0, 0, 2 * number + 1, b"x" * 16000) for _ in range(4) for number in range(100))
    held = [begin(scene, bodies) for _ in range(20)]
    waits = [scene.send() for _ in range(5)]
    body = b"POST /token HTTP/1.1\r\nhost: a\r\ncontent-length: 250000\r\n\r\n" + b"x" * 240000
    held += [begin(scene, body) for _ in range(200)]
    waits += [scene.send() for _ in range(5)]
    ended = scene.status()["floods"] - before
    print(f"220 clients whose requests do not end: {ended} ended, the good client waits {max(waits) * 1000:.0f} ms at most",
          flush=True)
    if ended < 100:
        sys.exit("too few are ended")
    for connection in held:
        connection.close()


def odd(scene):
    """Requests that another server might take for something else, and clients that wait for their answer."""
    path = b"POST /v1/projects/demo/messages:send HTTP/1.1\r\n"
    heads = [
        (b"two hosts", path + b"host: a\r\nhost: b\r\ncontent-length: 0\r\n\r\n", b"400"),
        (b"two lengths", path + b"host: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx", b"400"),
        (b"an unknown coding", path + b"host: a\r\ntransfer-encoding: xchunked\r\n\r\n", b"501"),
        (b"a body of 300,000 bytes", path + b"host: a\r\nconnection: close\r\ncontent-length: 300000\r\n\r\n" + b"x" * 300_000,
         b"400"),
        (b"APNs over HTTP/1.1", b"POST /3/device/aa HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n",
         b"Unexpected HTTP/1.x request: POST /3/device/aa "),
    ]
    for name, request, answer in heads:
        got = scene.ask(request)
        if answer not in got[:200]:
            sys.exit(f"{name.decode()}: {got[:200]!r}")
    # A client that has said all waits for its answer.
    got = b""
    with scene.connect() as connection:
        connection.sendall(path + b"host: a\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY)
        connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(65536):
            got += part
    if not got.startswith(b"HTTP/1.1 200"):
        sys.exit(f"a client of HTTP/1.1 that shuts down its sending side gets no answer: {got!r}")
    with scene.connect() as connection:
        connection.sendall(PREFACE + frame(4) + frame(1, 4, 1, REQUEST) + frame(0, 1, 1, BODY))
        connection.shutdown(socket.SHUT_WR)
        got = b""
        while part := connection.recv(65536):
            got += part
    if b"projects/demo/messages/" not in got:
        sys.exit(f"a client that shuts down its sending side gets no answer: {got!r}")
    print("odd requests: each answered as it should", flush=True)


def gone(scene):
    """Clients that leave before their answer, while the daemon is slow: the gateway lets go of them, and does not spin."""
    scene.wait(lambda: scene.status()["connections"] <= 2, "the clients before to leave")
    before = scene.status()["answers"].get("503")
    scene.daemon.send_signal(signal.SIGSTOP)
    try:
        http1 = b"POST /v1/projects/demo/messages:send HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
        http2 = PREFACE + frame(4) + frame(1, 4, 1, REQUEST) + frame(0, 1, 1, BODY)
        for request in [http1, http2]:
            connections = [scene.connect() for _ in range(20)]
            for number, connection in enumerate(connections):
                connection.sendall(request)
                if number % 2:
                    connection.shutdown(socket.SHUT_WR)
            for connection in connections:
                # A first answer, such as SETTINGS: the request has been read.
                if request is http2:
                    connection.recv(1)
                connection.close()
        scene.wait(lambda: scene.status()["connections"] <= 2, "the clients that left to be gone")
        # The gateway gives up after 10 s, and would have let go of them then.
        if scene.status()["answers"].get("503") != before:
            sys.exit("clients that left are held until their answer")
    finally:
        scene.daemon.send_signal(signal.SIGCONT)
    print("clients that leave before their answer: gone at once", flush=True)


def run(scene):
    # The first request ends, the second one never does.
    unfinished = begin(scene, PREFACE + frame(4) + frame(1, 5, 1, REQUEST) + frame(1, 4, 3, REQUEST))
    crowd = [scene.connect() for _ in range(1000)]
    slow = [scene.connect() for _ in range(1000)]
    waits = []
    line = b"POST /v1/projects/demo/messages:send HTTP/1.1\r\n"
    for second in range(5):
        for connection in slow:
            connection.sendall(line[second:second + 1])
        for _ in range(10):
            waits.append(scene.send())
    print(f"1,000 idle and 1,000 slow connections: the good client waits {max(waits) * 1000:.0f} ms at most", flush=True)
    if max(waits) > 2:
        sys.exit("the good client waits too long")
    if scene.status()["connections"] < 2000:
        sys.exit("the connections are not there")
    for connection in crowd + slow:
        connection.close()
    scene.wait(lambda: scene.status()["connections"] <= 2, "the crowd to leave")
    hold(scene)

    headers = frame(1, 5, 1, REQUEST)
    flood(scene, "SETTINGS", frame(4) * 20_000)
    flood(scene, "PING", frame(6, 0, 0, b"12345678") * 20_000)
    flood(scene, "PRIORITY", headers + frame(2, 0, 1, b"\0\0\0\0\1") * 20_000)
    flood(scene, "WINDOW_UPDATE", frame(8, 0, 0, b"\0\0\0\1") * 20_000)
    flood(scene, "empty DATA", frame(1, 4, 1, REQUEST) + frame(0, 0, 1) * 20_000)
    flood(scene, "RST_STREAM", b"".join(
        frame(1, 5, 2 * number + 1, REQUEST) + frame(3, 0, 2 * number + 1, b"\0\0\0\10") for number in range(20_000)))
    flood(scene, "CONTINUATION", frame(1, 0, 1, REQUEST) + frame(9, 0, 1, literal(b"x", b"y" * 100)) * 20_000)
    # Each byte refers to a header of 100 bytes in the table of HPACK.
    many = b"\x40\1x" + bytes([100]) + b"y" * 100 + b"\xbe" * 8000
    flood(scene, "references of HPACK", frame(1, 5, 1, REQUEST + many))
    flood(scene, "a frame of 16 MiB", b"\xff\xff\xff\0\0\0\0\0\1" + b"x" * 100_000)
    flood(scene, "TLS that is none", b"\x16\3\1\0\5hello" + b"x" * 1000, begins=b"")
    flood(scene, "CONNECT without an end", b"CONNECT " + b"x" * 100_000, begins=b"")

    # Clients that send requests and do not read.
    silent = []
    for _ in range(200):
        connection = scene.connect()
        requests = b"".join(
            frame(1, 4, 2 * number + 1, REQUEST) + frame(0, 1, 2 * number + 1, BODY) for number in range(100))
        connection.sendall(PREFACE + frame(4, 0, 0, b"\0\4\0\0\0\0") + requests)
        silent.append(connection)
    waits = [scene.send() for _ in range(20)]
    print(f"200 clients that do not read: the good client waits {max(waits) * 1000:.0f} ms at most", flush=True)
    for connection in silent:
        connection.close()

    # Headers and bodies that are too long, over HTTP/1.1.
    long_header = scene.ask(b"GET /leader HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 100_000 + b"\r\n\r\n")
    long_body = scene.ask(b"POST /token HTTP/1.1\r\nhost: a\r\ncontent-length: 10000000\r\n\r\n" + b"x" * 1000)
    print(f"too long: {long_header[:20]!r}, {long_body[:20]!r}", flush=True)
    if not long_body.startswith(b"HTTP/1.1 413"):
        sys.exit("a body of 10 MB is not refused")
    odd(scene)
    gone(scene)
    if not is_ended(unfinished):
        sys.exit("a request of HTTP/2 that does not end goes on for ever")
    scene.wait(lambda: scene.status()["connections"] <= 1, "all to leave")
    scene.send()
    left = scene.open_descriptors() - scene.descriptors
    memory = scene.memory()
    print(f"memory at most {memory >> 20} MiB, {left} descriptors more than at the start", flush=True)
    if memory > LIMIT:
        sys.exit("the gateway took more than 64 MiB")
    if left > 2:
        sys.exit("descriptors are left")


if __name__ == "__main__":
    main()
