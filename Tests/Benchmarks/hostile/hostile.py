"""Drives a daemon whose handlers are hostile, by seed; hostile.sh calls it.

hostile.py WORK DAEMON CONTAINMENT RUNS SEED
"""
import collections, json, os, random, re, socket, sqlite3, struct, sys, time

work, daemon, containment = sys.argv[1:4]
pid, runs, seed = int(daemon), int(sys.argv[4]), int(sys.argv[5])
kinds = "forks setsid daemonises ignores stops closes unread floods dies zombie".split()
if containment == "cgroups":
    kinds.append("hides")
at_once = 20
chosen = random.Random(seed)


def connect(name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"{work}/runtime/{name}.sock")
    return connection, connection.makefile("rb")


def request(kind):
    return json.dumps({"op": "deliver", "app": kind, "payload": {"k": "v"}, "wait": "outcome"}).encode() + b"\n"


def drive(words, limit):
    """Sends a request for each word, so many at once; the outcome lines in the order in which they come."""
    connection, lines = connect("inject")
    outcomes, sent = [], 0
    while len(outcomes) < len(words):
        while sent < len(words) and sent - len(outcomes) < limit:
            connection.sendall(request(words[sent]))
            sent += 1
        line = json.loads(lines.readline())
        if "outcome" in line:
            outcomes.append(line)
        elif not line["ok"]:
            sys.exit(f"refused: {line}")
    return outcomes


def ask(op):
    connection, lines = connect("control")
    connection.sendall(json.dumps({"op": op}).encode() + b"\n")
    return json.loads(lines.readline())


def handlers():
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{process}/exe") == f"{work}/hostile":
                found.append(int(process))
        except OSError:
            pass
    return found


def descriptors():
    """What each descriptor of the daemon is, but for the segments of the log, which are made when it has more to keep."""
    found = []
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            what = re.sub(r"\[\d+\]", "", os.readlink(f"/proc/{pid}/fd/{descriptor}"))
            if not what.startswith(f"{work}/state/log/segment-"):
                found.append(what)
        except FileNotFoundError:
            pass
    return collections.Counter(found)


def at(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def told(name, values):
    print(f"{name}: p50 {at(values, .5):.2f} ms  p99 {at(values, .99):.2f} ms  max {max(values):.2f} ms  ({len(values)})")


def settle():
    """Waits until nothing is left, ten seconds at most; how long that took."""
    start = time.monotonic()
    while time.monotonic() < start + 10 and (handlers() or descriptors() - before):
        time.sleep(0.005)
    return time.monotonic() - start


status = ask("status")["status"]
if status["containment"] != containment:
    sys.exit(f"containment is {status['containment']}: {status['containment_reason']}")
drive(["good"] * 20 + ["unread"] * 2, 10)
time.sleep(0.2)
before = descriptors()

words = [chosen.choice(kinds) for _ in range(runs)]
begin = time.monotonic()
outcomes = drive(words, at_once)
took = time.monotonic() - begin
settling = settle()
left, more = handlers(), descriptors() - before
over = sum(more.values())
print(f"{runs} hostile runs, seed {seed}, {containment}: {took:.0f} s; "
      f"{len(left)} processes and {over} descriptors more than before, {settling * 1000:.0f} ms after the last outcome")
for what, number in sorted(more.items()):
    print(f"  {number} of {what}")
if ask("sync")["complete"] is not True:
    sys.exit("the ledger does not follow")
ledger = sqlite3.connect(f"file:{work}/state/ledger.db?mode=ro", uri=True)
late = []
for seq, deadline in ledger.execute("SELECT seq, deadline_ns FROM invocations WHERE outcome = 'timed_out'"):
    try:
        with open(f"{work}/lives/{seq}", "rb") as file:
            late.append((struct.unpack("q", file.read())[0] - deadline) / 1e6)
    except (FileNotFoundError, struct.error):
        pass
told("last sign of life after the deadline", [max(0, value) for value in late])
count = {}
for line in outcomes:
    count[line["outcome"]] = count.get(line["outcome"], 0) + 1
print("outcomes:", ", ".join(f"{name} {number}" for name, number in sorted(count.items())))
turns = ask("status")["status"]["turns"]
print(f"turns of the loop: p99 {turns['p99_us']} us, longest {turns['longest_us']} us, {turns['count']} in all")


def latency(count):
    times = []
    connection, lines = connect("inject")
    for _ in range(count):
        start = time.perf_counter()
        connection.sendall(request("good"))
        while b'"outcome"' not in lines.readline():
            pass
        times.append((time.perf_counter() - start) * 1000)
    return times


good = max(100, min(1000, runs))
alone = latency(good)
beside_connection, _ = connect("inject")
for _ in range(32):
    beside_connection.sendall(request("sleeping"))
time.sleep(0.3)
beside = latency(good)
told("good handlers alone", alone)
told("good handlers beside 32 that sleep", beside)
print(f"beside by alone: p50 {at(beside, .5) / at(alone, .5):.2f}, p99 {at(beside, .99) / at(alone, .99):.2f}")
drive(["good"], 1)

peaceful = runs * 6 // 10
harmed = sum(line["outcome"] != "handled" for line in drive(["peaceful"] * peaceful, 8))
print(f"{peaceful} peaceful handlers with a daemonised helper: {harmed} harmed")
sys.exit(bool(left or over > 0 or harmed))
