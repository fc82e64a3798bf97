"""flood.py unread|lane|large DIRECTORY PID: one flood on the daemon whose sockets are in DIRECTORY/runtime."""
import json, os, selectors, socket, subprocess, sys, threading, time

flood, work, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
inject, control = f"{work}/runtime/inject.sock", f"{work}/runtime/control.sock"
ends = time.monotonic() + 8


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client


def ask(operation):
    client = connect(control)
    client.sendall(json.dumps(operation).encode() + b"\n")
    return json.loads(client.makefile("rb").readline())


def memory(field):
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024


highest = 0


def watch():
    global highest
    while time.monotonic() < ends:
        highest = max(highest, memory("Rss"))
        time.sleep(0.02)


def hang():
    """Handlers that hang, one after the other; their outcomes tell how late they were killed."""
    client = connect(inject)
    lines = client.makefile("rb")
    number = 0
    while time.monotonic() < ends - 1:
        number += 1
        for part in range(4):
            client.sendall(b'{"op":"deliver","app":"hang","device":"%d-%d","payload":{"k":"v"},"wait":"outcome"}\n' % (number, part))
        for part in range(8):
            line = json.loads(lines.readline())
            if "outcome" in line:
                overshoots.append(line["total_ms"] - 300)


def unread():
    clients = []
    for _ in range(300):
        client = connect(inject)
        client.setblocking(False)
        clients.append([client, b"1\n" * 32768])
    while time.monotonic() < ends:
        for entry in clients:
            try:
                entry[1] = entry[1][entry[0].send(entry[1]):] or b"1\n" * 32768
            except (BlockingIOError, BrokenPipeError, ConnectionResetError):
                pass
        time.sleep(0.001)


def stream(lines, clients):
    """Sends lines over so many connections, reading what comes, and counts the answers by kind."""
    selector = selectors.DefaultSelector()
    for _ in range(clients):
        client = connect(inject)
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE, {"rest": b"", "reply": b""})
    outstanding, finished = 0, False
    while time.monotonic() < ends and not (finished and outstanding == 0):
        for key, events in selector.select(0.1):
            data = key.data
            if events & selectors.EVENT_WRITE:
                if not data["rest"]:
                    data["rest"] = next(lines, b"")
                    if not data["rest"]:
                        finished = True
                        selector.modify(key.fileobj, selectors.EVENT_READ, data)
                        continue
                    outstanding += 1
                try:
                    data["rest"] = data["rest"][key.fileobj.send(data["rest"]):]
                except BlockingIOError:
                    pass
            if events & selectors.EVENT_READ:
                try:
                    received = key.fileobj.recv(65536)
                except BlockingIOError:
                    continue
                if not received:
                    selector.unregister(key.fileobj)
                    continue
                *replies, data["reply"] = (data["reply"] + received).split(b"\n")
                for reply in replies:
                    outstanding -= 1
                    reply = json.loads(reply)
                    kind = "ok" if reply["ok"] else reply["error"]["code"]
                    answers[kind] = answers.get(kind, 0) + 1


def line(app, device, size, number):
    head = b'{"op":"deliver","id":"%d","app":"%s","device":"%s","payload":{"k":"' % (number, app.encode(), device.encode())
    return head + b"x" * (size - len(head) - 4) + b'"}}\n'


overshoots, answers = [], {}
threads = [threading.Thread(target=watch), threading.Thread(target=hang)]
if flood == "unread":
    threads.append(threading.Thread(target=unread))
elif flood == "lane":
    threads.append(threading.Thread(target=stream, args=((line("lane", "one", 250_000, n) for n in range(3000)), 4)))
else:
    lines = (line("big", f"d{n}", 256 << 10, n) for n in iter(int, 1))
    counter = iter(range(10**9))
    threads.append(threading.Thread(target=stream, args=((line("big", f"d{n}", 256 << 10, n) for n in counter), 20)))
for thread in threads:
    thread.start()
time.sleep(0.5)
good = subprocess.run(
    [f"{work}/load", inject, "1", "1", "5", f"{work}/line", "50000000"], capture_output=True, text=True)
for thread in threads:
    thread.join()
during = ask({"op": "status"})["status"]
time.sleep(11)
print("good client during:", (good.stdout or good.stderr).strip())
overshoots.sort()
if overshoots:
    p99 = overshoots[min(len(overshoots) - 1, int(len(overshoots) * 0.99))]
    print(f"handlers killed late by: p50 {overshoots[len(overshoots) // 2]:.1f} ms, p99 {p99:.1f} ms, {len(overshoots)} runs")
turns = during["turns"]
print(f"turns, processor time: p99 {turns['p99_us'] / 1000:.2f} ms, longest {turns['longest_us'] / 1000:.2f} ms, of {turns['count']}")
print(f"memory: highest {highest:.1f} MiB; 11 s later {memory('Rss'):.1f} MiB, of it anonymous {memory('Anonymous'):.1f}")
refused = {k: v for k, v in during["clients"]["refused"].items() if v}
print("answers:", answers, "refused:", refused)
if highest >= 128:
    sys.exit("the daemon took 128 MiB or more")
if good.returncode != 0 or " 0 errors" not in good.stdout:
    sys.exit("the good client was not served")
if answers.get("overloaded", 0) > refused.get("overloaded", 0):
    sys.exit("a refusal was not counted")
