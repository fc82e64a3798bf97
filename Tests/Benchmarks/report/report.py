"""What report.sh measures: report.py WORK DELIVERIES SECONDS, with `load` in WORK and the programs in .build/release."""

import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

DAEMON, PUSHCTL = ".build/release/pushrouterd", ".build/release/pushctl"
DAYS = 30
work, deliveries, seconds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
places = ["--config", "etc/pushrouterd", "--state", str(work / "state"), "--runtime", str(work / "runtime")]

# Every value derives from the request's number, so that each run makes the same ledger. Rows have numbers for texts, as
# the daemon writes them: for closed sets those of Sources/System/Store/Ledger/StoredWord.swift, for others those below.
TEXTS = [*(f"com.example.app{i}" for i in range(4)), *(f"20-{i}" for i in range(5)), *(f"handler-{i}" for i in range(5)),
         "onesignal", "airship", bytes(16)]
APP, ROUTE, HANDLER, PROVIDER, BOOT = 1, 5, 10, 15, 17
REQUESTS = f"""
    WITH RECURSIVE numbers(i) AS (VALUES (:first) UNION ALL SELECT i + 1 FROM numbers WHERE i < :last)
    INSERT INTO request_rows (seq, operation, uid, gid, pid, accepted_at, accepted_ns, boot, mode, platform, app, device,
        body, transport, original_priority, delivered_priority)
    SELECT i, 0, 0, 0, 1, :begin + i * :span / :count, i, {BOOT}, 0,
        iif(i % 3, 0, 1), {APP} + i % 4, 'device-' || (i % 9973), x'7b7d',
        iif(i % 3, 0, 1), iif(i % 3, 0, NULL), iif(i % 3, iif(i % 7, 0, 1), NULL)
    FROM numbers
"""
INVOCATIONS = f"""
    WITH RECURSIVE numbers(i) AS (VALUES (:first) UNION ALL SELECT i + 1 FROM numbers WHERE i < :last),
        times(i, outcome, queue, exec) AS (
            SELECT i, CASE WHEN i % 1009 = 0 THEN 3 WHEN i % 97 = 0 THEN 2 ELSE 0 END,
                i * 7919 % 900, 500 + (i * 104729 % 1000) * (i * 1299709 % 100) FROM numbers)
    INSERT INTO invocation_rows (seq, n, callback, provider, route, handler, budget_us, started, outcome, queue_us, exec_us,
        total_us, decided_at, observer)
    SELECT i, 0, iif(i % 3, 0, 1), {PROVIDER} + NOT (i % 5),
        {ROUTE} + i % 5, {HANDLER} + i % 5, 9000000, 0, outcome, queue, exec + 9000000 * (outcome = 3),
        queue + exec + 9000000 * (outcome = 3), :begin + i * :span / :count, 0
    FROM times
"""


def start():
    process = subprocess.Popen([DAEMON, *places], stderr=subprocess.DEVNULL)
    while not (work / "runtime/control.sock").exists():
        if process.poll() is not None:
            sys.exit("the daemon did not start")
        time.sleep(0.02)
    return process


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait()


def fill():
    """Rows, and then the daemon's first start, which counts them."""
    stop(start())
    begun = time.monotonic()
    database = sqlite3.connect(work / "state/ledger.db", isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    span = DAYS * 86_400_000
    begin = int(time.time() * 1000) - span
    database.executemany("INSERT INTO texts (used, text) VALUES (?, ?)", [(deliveries, text) for text in TEXTS])
    for first in range(1, deliveries + 1, 500_000):
        last = min(first + 499_999, deliveries)
        values = dict(first=first, last=last, begin=begin, span=span, count=deliveries)
        database.execute("BEGIN")
        database.execute(REQUESTS, values)
        database.execute(INVOCATIONS, values)
        database.execute("COMMIT")
    database.execute("UPDATE figure_state SET version = 0")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    made = time.monotonic()
    stop(start())
    print(f"{deliveries} deliveries over {DAYS} days: made in {made - begun:.0f} s, counted in {time.monotonic() - made:.0f} s")


def report(*arguments):
    """Seconds and the peak of memory in MB."""
    begun = time.monotonic()
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen([PUSHCTL, *places, "report", "--json", *arguments], stdout=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"the report ended with {status}")
    return time.monotonic() - begun, usage.ru_maxrss / 1024


def show(name, *arguments):
    runs = [report(*arguments) for _ in range(5)]
    took, memory = statistics.median(run[0] for run in runs), max(run[1] for run in runs)
    print(f"{name:6} {took * 1000:8.0f} ms  {memory:5.0f} MB")


def load(name):
    result = subprocess.run(
        [work / "load", work / "runtime/inject.sock", "8", "64", str(seconds), work / "line"], capture_output=True,
        text=True, check=True)
    print(f"load   {name}: {result.stdout.strip()}")
    return float(result.stdout.split()[0])


def loss():
    payload = pathlib.Path("Tests/Benchmarks/ingest/payload.json").read_text().replace("\n", "")
    (work / "line").write_text(
        '{"op":"deliver","platform":"android","app":"com.example.shop","device":"device-@","payload":%s}\n' % payload)
    daemon = start()
    try:
        # Deliveries do not wait for the ledger while the log has room: fills the log before any comparison.
        load("until the log is full")
        alone = load("alone")
        command = f"{PUSHCTL} {' '.join(places)} report --json"
        for name, script in [
            ("beside five reports", f"for i in 1 2 3 4 5; do {command}; sleep {seconds / 6}; done"),
            ("beside five programs that make one report after the other",
             f"for i in 1 2 3 4 5; do while :; do {command}; done & done; wait"),
        ]:
            reports = subprocess.Popen(
                ["nice", "-n", "19", "sh", "-c", script], stdout=subprocess.DEVNULL, start_new_session=True)
            beside = load(name)
            os.killpg(reports.pid, signal.SIGKILL)
            reports.wait()
            again = load("alone")
            print(f"load   {100 * (1 - 2 * beside / (alone + again)):.1f} % fewer {name}")
            alone = again
    finally:
        stop(daemon)


def size():
    """Of a ledger of its own, with deliveries of the ordinary payload as the daemon stores them."""
    global places
    places = ["--config", "etc/pushrouterd", "--state", str(work / "small"), "--runtime", str(work / "runtime")]
    daemon = start()
    payload = pathlib.Path("Tests/Benchmarks/ingest/payload.json").read_text().replace("\n", "")
    (work / "size").write_text(
        '{"op":"deliver","id":"order-@-#","platform":"android","app":"com.example.shop","device":"device-@",'
        '"external_id":"user-@","payload":%s}\n' % payload)
    subprocess.run([work / "load", work / "runtime/inject.sock", "8", "64", "40000r", work / "size"], check=True,
                   stdout=subprocess.DEVNULL)
    stop(daemon)
    database = sqlite3.connect(work / "small/ledger.db")
    count, lines = database.execute("SELECT count(*), sum(length(body)) FROM requests").fetchone()
    total = database.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0]
    print(f"size   {(total - lines) / count:.0f} bytes a delivery beside its line of {lines // count}")
    try:
        rows = list(database.execute("SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name ORDER BY 2 DESC"))
    except sqlite3.OperationalError:
        rows = []
    for name, used, unused in rows[:12]:
        print(f"size   {used / count:7.1f} {name}, {unused / count:.1f} of it unused")


(work / "runtime").mkdir()
fill()
show("all")
show("hour", "--since", "-1h")
loss()
size()
