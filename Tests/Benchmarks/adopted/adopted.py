"""Drives a daemon with and without adopted processes, in turn; adopted.sh calls it.

adopted.py WORK HELPERS RUNS ROUNDS
"""
import json, socket, statistics, sys, time

work = sys.argv[1]
helpers, runs, rounds = map(int, sys.argv[2:5])
at_once = 8


def connect(name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"{work}/runtime/{name}.sock")
    return connection, connection.makefile("rb")


connection, lines = connect("inject")


def send(app, **data):
    request = {"op": "deliver", "app": app, "payload": data, "wait": "outcome"}
    connection.sendall(json.dumps(request).encode() + b"\n")


def outcome():
    while True:
        line = json.loads(lines.readline())
        if "outcome" in line:
            if line["outcome"] != "handled":
                sys.exit(f"not handled: {line}")
            return
        if not line["ok"]:
            sys.exit(f"refused: {line}")


def keep(count):
    """Has the worker keep so many helpers, and the daemon look at them all."""
    send("keeper", helpers=str(count))
    outcome()
    rate(100)
    time.sleep(3)


def rate(count):
    begin = time.monotonic()
    for sent in range(count):
        if sent >= at_once:
            outcome()
        send("good", k="v")
    for _ in range(min(at_once, count)):
        outcome()
    return count / (time.monotonic() - begin)


rates = {0: [], helpers: []}
for number in range(rounds):
    for count in (0, helpers) if number % 2 == 0 else (helpers, 0):
        keep(count)
        rates[count].append(rate(runs))
        print(f"round {number + 1}, {count} adopted: {rates[count][-1]:.0f} runs a second", flush=True)
alone, beside = (statistics.median(rates[count]) for count in (0, helpers))
print(f"median: {alone:.0f} a second without, {beside:.0f} with {helpers} adopted processes: {beside / alone:.3f}")
control, answers = connect("control")
control.sendall(b'{"op":"status"}\n')
turns = json.loads(answers.readline())["status"]["turns"]
print(f"turns of the loop: p99 {turns['p99_us']} us, longest {turns['longest_us']} us")
sys.exit(0 if beside >= 0.9 * alone else 1)
