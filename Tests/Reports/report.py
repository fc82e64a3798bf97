"""Recomputes `pushctl report` from the rows of the ledger, and checks its formats.

report.py PUSHROUTERD PUSHCTL [ROWS]

It makes a ledger with the daemon, puts random rows into it and compares: counts must be equal, quantiles within 1 %.
First of reports from rows, then, when the daemon has counted them, of reports from figures.
Then of reports of random windows. Formats are read by other programs' readers: jsonschema, junitparser and
prometheus_client, which PyPI and Debian have, and promtool. One that is not installed is named and left out. Exit status: 0 all agree, 1 something differs.
"""

import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from html.parser import HTMLParser

DUE = {"handled", "failed", "timed_out", "expired"}
MISSED = {"timed_out", "expired"}
TIMED = DUE | {"handed_to_tracker"}
# The transport, and the priorities with which a message was sent to FCM and delivered by it.
TRANSPORTS = {
    "android": [
        ("fcm", "high", "high"), ("fcm", "high", "normal"), ("fcm", "normal", "normal"), (None, None, None),
        ("adm", None, None)],
    "ios": [("apns", None, None), ("fcm", None, None)],
    "web": [("web_push", None, None)],
}
CALLBACKS = {
    "android": ["onMessageReceived"], "ios": ["didReceiveRemoteNotification", "serviceExtension"], "web": ["push"]}
# The platform, the callback, whether FCM alone, the delivered priority ("normal" if unknown), the start, and
# microseconds.
LIMITS = {
    "android_policy": ("android", "onMessageReceived", False, None, "invocation", 9_000_000),
    "android_broadcast": ("android", "onMessageReceived", True, "high", "acceptance", 10_000_000),
    "android_fcm": ("android", "onMessageReceived", True, "normal", "acceptance", 20_000_000),
    "android_broadcast_background": ("android", "onMessageReceived", True, "normal", "acceptance", 60_000_000),
    "android_fcm_high": ("android", "onMessageReceived", True, "high", "acceptance", 60_000_000),
    "ios_background": ("ios", "didReceiveRemoteNotification", False, None, "invocation", 30_000_000),
    "ios_service_extension": ("ios", "serviceExtension", False, None, "invocation", 30_000_000),
}
# The tables behind these views, which the test writes, and the stored values of their words of closed sets.
TABLES = {"requests": "request_rows", "invocations": "invocation_rows", "events": "event_rows"}
NUMBERS = {
    "operation": ["deliver"], "mode": ["device"], "platform": ["android", "ios", "web"],
    "transport": ["fcm", "apns", "web_push", "adm"], "original_priority": ["high", "normal"],
    "delivered_priority": ["high", "normal"],
    "callback": ["onMessageReceived", "didReceiveRemoteNotification", None, None, None, "serviceExtension", "push"],
    "outcome": ["handled", "handed_to_tracker", "failed", "timed_out", "expired"],
    "kind": ["local.pushnotification.Received", "users.messages.pushnotification.Open"],
}
SHARED = {"app", "provider", "route", "handler", "reason_code"}
# The page's words for a miss, by its reason code.
REASONS = {
    "queue_full": "waited for a free place", "not_finished_at_deadline": "ran too long",
    "waiting_in_lane": "waited in a lane", "daemon_down": "expired while the daemon was down", "none": "gave no reason",
}
WINDOWS = {"5m": 300, "30m": 1800, "1h": 3600, "6h": 21600, "3d": 259200}
ALERTS = [("1h", "5m", 14.4), ("6h", "30m", 6), ("3d", "6h", 1)]
HERE = pathlib.Path(__file__).resolve().parent.parent.parent
problems = []


def check(holds, what):
    if not holds:
        problems.append(what)


def run_daemon(root, daemon):
    """A start and a stop: the ledger is made, what was in flight ends, and what is not counted is."""
    arguments = [daemon, "--config", root / "config", "--state", root / "state", "--runtime", root / "run"]
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    while not (root / "run/control.sock").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    if process.wait(60) != 0:
        sys.exit("the daemon did not start")


def make_ledger(root, daemon, rows):
    for name in ("config", "state", "run"):
        (root / name).mkdir()
    (root / "config/pushrouterd.conf").write_text("[Deadline]\nObjective=99.9%\n")
    run_daemon(root, daemon)
    database = sqlite3.connect(root / "state/ledger.db")
    generator = random.Random(7)
    begin = int(time.time() * 1000) - 8 * 3_600_000
    for seq in range(1, rows + 1):
        insert_request(database, generator, seq, begin + seq * 8 * 3_600_000 // (rows + 1))
    for kind in (
        "down", "clock_stepped", "suspended", "disk_stalled", "leader_lost", "engine_away", "unprotected"
    ) * 5:
        gap = begin + generator.randrange(8 * 3_600_000)
        length = generator.randrange(-60_000 if kind == "clock_stepped" else 0, 900_000)
        insert(database, "gaps", dict(kind=kind, begin_at=gap, end_at=gap + length))
    # The daemon has not counted these rows: reports must read the rows.
    database.execute("UPDATE figure_state SET version = 0")
    database.commit()
    return database


def share(database, text):
    found = database.execute("SELECT number FROM texts WHERE text = ?", [text]).fetchone()
    return found[0] if found else database.execute(
        "INSERT INTO texts (used, text) VALUES (?, ?)", [1 << 40, text]).lastrowid


def insert(database, table, row):
    table = TABLES.get(table, table)
    if table in TABLES.values():
        for column, value in row.items():
            if value is not None and column in NUMBERS:
                row[column] = NUMBERS[column].index(value)
            elif value is not None and column in SHARED and row["seq"] % 2 == 0:
                # The row itself holds a text that no other row shares.
                row[column] = share(database, value)
    columns, marks = ",".join(row), ",".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(row.values()))


def insert_request(database, generator, seq, at):
    platform = generator.choices(["android", "ios", "web"], [6, 3, 1])[0]
    transport, sent, delivered = generator.choice(TRANSPORTS[platform])
    app = generator.choice(["com.example.shop", 'com.exämple."<b>&', None])
    insert(
        database, "requests",
        dict(
            seq=seq, operation="deliver", uid=0, gid=0, pid=1, accepted_at=at, accepted_ns=at, boot=bytes(16),
            mode="device", platform=platform, app=app, device="d1", body=b"{}", transport=transport,
            original_priority=sent, delivered_priority=delivered))
    callback = generator.choice(CALLBACKS[platform])
    for n in range(2 if generator.random() < 0.1 else 1):
        row = dict(
            seq=seq, n=n, callback=callback, provider=generator.choice(["onesignal", "airship", None]),
            handler=generator.choices(["crm", "orders", "broken"], [6, 4, 1])[0], budget_us=9_000_000, started=1,
            observer=n)
        row["route"] = "20-" + row["handler"]
        outcome = "failed" if row["handler"] == "broken" else "handled"
        queue = int(generator.lognormvariate(7, 1.5))
        execution = int(generator.lognormvariate(10.5, 1.1))
        if generator.random() < 0.1:
            queue = generator.randrange(70_000_000)
        chance = generator.random()
        if chance < 0.05:
            outcome, execution = "handed_to_tracker", 0
            row.update(provider="braze", handler=None, route=None)
        elif chance < 0.06:
            outcome = None
        elif chance < 0.07:
            outcome, queue, execution = "expired", 9_000_000 + generator.randrange(500_000), 0
            row["reason_code"] = generator.choice(["queue_full", "waiting_in_lane", "daemon_down", None, "owner"])
        elif chance < 0.08:
            outcome, execution = "timed_out", 9_000_000 + generator.randrange(1000)
            row["reason_code"] = "not_finished_at_deadline"
        if outcome:
            row.update(outcome=outcome, queue_us=queue, exec_us=execution, total_us=queue + execution, decided_at=at)
        insert(database, "invocations", row)


def quantile(times, permille):
    """The duration that so many of 1000 do not exceed, by sorting."""
    return sorted(times)[(len(times) * permille + 999) // 1000 - 1] / 1000 if times else None


def compare_group(name, figures, rows):
    outcomes = Counter(row["outcome"] for row in rows)
    check(figures["count"] == len(rows), f"{name}: count")
    check(figures["due"] == sum(outcomes[o] for o in DUE), f"{name}: due")
    check(figures["missed"] == sum(outcomes[o] for o in MISSED), f"{name}: missed")
    check(figures["handled"] == outcomes["handled"], f"{name}: handled")
    check(figures["failed"] == outcomes["failed"], f"{name}: failed")
    check(figures.get("misses_by_reason", {}) == count_reasons(rows), f"{name}: misses by reason")
    # The tracker runs no handler: its deliveries have no meaningful times.
    timed = [row for row in rows if row["outcome"] in DUE]
    for part in ("queue", "exec", "total"):
        times = [row[part + "_us"] for row in timed if part != "exec" or row["outcome"] != "expired"]
        for key, permille in (("p50", 500), ("p90", 900), ("p99", 990), ("p999", 999), ("max", 1000)):
            expected, actual = quantile(times, permille), figures[part][key + "_ms"]
            if expected is None:
                check(actual is None, f"{name}: {part} {key} of nothing is {actual}")
            else:
                check(abs(actual - expected) <= 0.01 * expected + 0.001, f"{name}: {part} {key} {actual}, not {expected}")


def count_reasons(rows):
    """Misses by reason code; a code by which no report counts is none."""
    reasons = (row["reason_code"] for row in rows if row["outcome"] in MISSED)
    return Counter(reason if reason in REASONS else "none" for reason in reasons)


def name_reasons(rows):
    reasons = sorted(count_reasons(rows).items(), key=lambda item: (-item[1], item[0]))
    rest = sum(count for _, count in reasons[3:])
    return ", ".join(f"{count:,} {REASONS[reason]}" for reason, count in reasons[:3]) + (f", {rest:,} more" if rest else "")


def answer(rows, width):
    """What every format says first. Beyond 200 misses the first one is known by its span of the timeline, of `width` seconds."""
    due, missed = ([row for row in rows if row["outcome"] in ends] for ends in (DUE, MISSED))
    failed = Counter(row["handler"] for row in rows if row["outcome"] == "failed")
    end = ""
    if failed:
        most = sorted(failed.items(), key=lambda item: (-item[1], item[0]))[:3]
        rest = failed.total() - sum(count for _, count in most)
        end = f" {failed.total():,} failed in time"
        end += f", all at {most[0][0]}." if len(failed) == 1 else "; of them " + ", ".join(
            f"{count:,} at {name}" for name, count in most) + (f", {rest:,} elsewhere." if rest else ".")
    if missed:
        first = min(row["accepted_at"] for row in missed) // 1000
        if len(missed) > 200:
            first -= first % width
        end = f", since {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(first))} +00:00.{end}"
    end += f" The objective of 99.9 % is {'' if len(missed) * 1000 <= len(due) else 'not '}met."
    if not due:
        begin = "No handler had a deadline to keep"
        if not rows:
            return "No push came in this time, so no handler had a deadline to keep."
        words = {"handed_to_tracker": "handed to Braze's SDK", None: "in flight"}
        ends = sorted(Counter(words[row["outcome"]] for row in rows).items(), key=lambda item: (-item[1], item[0]))
        noun = f"{len(rows):,} push{'' if len(rows) == 1 else 'es'}"
        if len(ends) == 1:
            return f"{begin}: {'the one push was' if len(rows) == 1 else f'all {noun} were'} {ends[0][0]}."
        return f"{begin}: of {noun} " + ", ".join(
            f"{count:,} {'was' if count == 1 else 'were'} {text}" for text, count in ends) + "."
    if not missed:
        return f"None of {len(due):,} was late." + end
    handlers = defaultdict(list)
    for row in missed:
        handlers[row["handler"]].append(row)
    first = sorted(handlers.items(), key=lambda item: (-len(item[1]), item[0]))[:3]
    places = [f"at {name} ({name_reasons(of)})" for name, of in first]
    start = f"{len(missed):,} of {len(due):,} {'was' if len(missed) == 1 else 'were'} late"
    if len(first[0][1]) == len(missed):
        return f"{start}, all {places[0]}" + end
    listed = ", ".join(f"{len(of):,} {place}" for (_, of), place in zip(first, places))
    rest = len(missed) - sum(len(of) for _, of in first)
    return f"{start}; of them {listed}" + (f", {rest:,} elsewhere" if rest else "") + end


def compare(report, database, since=0, until=1 << 62):
    """A report of the requests that were accepted from `since` on and before `until`, in Unix milliseconds."""
    database.row_factory = sqlite3.Row
    query = "SELECT * FROM requests JOIN invocations USING (seq) ORDER BY seq, n"
    of_all_times = list(database.execute(query))
    everything = [row for row in of_all_times if since <= row["accepted_at"] < until]
    rows = [row for row in everything if not row["observer"]]
    outcomes = Counter(row["outcome"] for row in rows)
    check(report["accepted"] == len(rows), "accepted")
    check(report["in_flight"] == outcomes[None], "in_flight")
    check(report["accepted"] == sum(report["outcomes"].values()) + report["in_flight"], "the proof")
    check(all(count == outcomes[outcome] for outcome, count in report["outcomes"].items()), "outcomes")
    check(report["observers"]["accepted"] == len(everything) - len(rows), "observers")
    compare_group("all", report["all"], rows)
    check(report["misses_by_reason"] == count_reasons(rows), "misses_by_reason")
    expected = answer(rows, report["timeline"]["width_s"])
    check(report["answer"] == expected, f"answer: {report['answer']}, not {expected}")
    late = sum(row["outcome"] in DUE and row["total_us"] >= row["budget_us"] for row in rows)
    check(report["from_acceptance"]["missed"] == late, "from_acceptance")
    columns = [
        ("handler", False), ("route", False), ("provider", True), ("platform", True), ("callback", True), ("app", True),
        ("outcome", True), ("transport", True), ("delivered_priority", False)]
    for column, has_none in columns:
        field = "by_" + column.removeprefix("delivered_")
        groups = defaultdict(list)
        for row in rows:
            if has_none or row[column] is not None:
                groups[row[column] or ("in_flight" if column == "outcome" else "none")].append(row)
        check(set(groups) == set(report[field]), f"{field}: names")
        for name, group in groups.items():
            compare_group(f"{field} {name}", report[field].get(name, report["all"]), group)
    groups = defaultdict(list)
    for row in rows:
        groups[row["handler"] or "none", row["platform"]].append(row)
    crossed = {tuple(group["names"]): group["figures"] for group in report["crossed"][0]["groups"]}
    check(set(crossed) == set(groups), "crossed: names")
    for names, group in groups.items():
        compare_group(f"crossed {names}", crossed.get(names, report["all"]), group)
    lowered = sum(row["original_priority"] == "high" and row["delivered_priority"] == "normal" for row in rows)
    check(report["lowered_priority"] == lowered, "lowered_priority")
    missed = [(row["seq"], row["n"]) for row in rows if row["outcome"] in MISSED]
    listed = [(row["seq"], row["n"]) for row in report["misses"]]
    check(set(listed) <= set(missed) and len(listed) == min(200, len(missed)), "misses")
    spans = report["timeline"]["spans"]
    check(sum(span["accepted"] for span in spans) == len(rows), "timeline: accepted")
    check(sum(span["missed"] for span in spans) == len(missed), "timeline: missed")
    check(sum(sum(span["bands"]) for span in spans) == sum(outcomes[o] for o in DUE), "timeline: bands")
    gaps = [
        (gap["kind"], gap["end_at"] - gap["begin_at"])
        for gap in database.execute("SELECT * FROM gaps ORDER BY number")
        if min(gap["begin_at"], gap["end_at"]) < until and max(gap["begin_at"], gap["end_at"]) >= since
    ]
    check([(gap["kind"], gap["length_ms"]) for gap in report["daemon_gaps"]] == gaps, "daemon_gaps")
    compare_limits(report, rows, since > 0)
    compare_burn(report, [row for row in of_all_times if not row["observer"]], database)


def since_invocation(row):
    """On Android in device mode the execution, or the budget on a miss; else the time from acceptance."""
    if row["platform"] != "android":
        return row["total_us"]
    return max(row["exec_us"], row["budget_us"] * (row["outcome"] in MISSED))


def compare_limits(report, rows, is_window):
    check({limit["id"] for limit in report["limits"]} == set(LIMITS), "limits: which")
    for limit in report["limits"]:
        platform, callback, is_fcm, priority, start, microseconds = LIMITS[limit["id"]]
        of = [
            row for row in rows
            if row["platform"] == platform and row["callback"] == callback and row["outcome"] in TIMED
            and (not is_fcm or (row["transport"] or "fcm") == "fcm")
            and (priority is None or (row["delivered_priority"] or "normal") == priority)]
        over = sum((row["total_us"] if start == "acceptance" else since_invocation(row)) >= microseconds for row in of)
        check((limit["within"], limit["over"]) == (len(of) - over, over), f"limits: {limit['id']}")
        check(over > 0 or is_window, f"limits: no row is over {limit['id']}, so nothing was compared")


def compare_burn(report, rows, database):
    """Each rate by the time to which the report says that its windows run, and the alerts."""
    query = "SELECT CAST(ROUND((julianday(?) - 2440587.5) * 86400000) AS INTEGER)"
    end = sqlite3.connect(":memory:").execute(query, [report["error_budget"]["until"]]).fetchone()[0]
    query = "SELECT min(accepted_at) FROM requests"
    first = database.execute(query).fetchone()[0]
    absences = [
        (gap["begin_at"], gap["end_at"]) for gap in database.execute("SELECT * FROM gaps")
        if gap["kind"] in ("down", "suspended", "leader_lost")]
    rates, unrecorded = {}, []
    for window, seconds in WINDOWS.items():
        of = [r for r in rows if r["outcome"] in DUE and 0 < end - r["accepted_at"] <= seconds * 1000]
        rate = sum(row["outcome"] in MISSED for row in of) / len(of) / 0.001 if of else None
        actual = report["error_budget"]["burn_rates"][window]
        same = rate == actual or None not in (rate, actual) and abs(rate - actual) < 1e-6 * max(1, rate)
        check(same, f"burn rate {window}: {actual}, not {rate}")
        rates[window] = rate or 0
        begin = max(first, end - seconds * 1000)
        edges = sorted({begin, end, *(min(max(edge, begin), end) for gap in absences for edge in gap)})
        recorded = sum(
            to - at for at, to in zip(edges, edges[1:]) if not any(gap[0] <= at and to <= gap[1] for gap in absences))
        if of and recorded < seconds * 500:
            unrecorded.append(window)
    check(report["error_budget"]["unrecorded"] == unrecorded, f"unrecorded: not {unrecorded}")
    fire = [
        long for long, short, most in ALERTS
        if min(rates[long], rates[short]) > most and not {long, short} & set(unrecorded)]
    check([alert["long"] for alert in report["error_budget"]["alerts"]] == fire, f"alerts: not {fire}")


class Page(HTMLParser):
    """Whether every element ends that must, every link leads somewhere, and every cell has a heading."""

    VOID = {"meta", "link"}

    def __init__(self):
        super().__init__()
        self.open, self.identifiers, self.links, self.drawings, self.texts = [], set(), [], 0, []

    def handle_data(self, text):
        self.texts.append(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        check("id" not in attributes or attributes["id"] not in self.identifiers, f"html: id {attributes.get('id')}")
        self.identifiers.add(attributes.get("id"))
        if tag == "a":
            self.links.append(attributes["href"])
        check(tag != "script", "html: a script")
        check(tag != "th" or "scope" in attributes, "html: a heading without scope")
        if tag == "svg":
            self.drawings += 1
            # The strip of a handler stands beside its words.
            has_name = attributes.get("aria-label") or "aria-labelledby" in attributes
            check(has_name if "role" in attributes else attributes.get("aria-hidden") == "true", "html: a drawing without name")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"html: </{tag}>")


def check_schema(documents):
    """Each document is as the schema says, and none could have a member that the schema does not have."""
    try:
        import jsonschema
    except ImportError:
        print("left out: jsonschema is not installed")
        return
    schema = json.loads((HERE / "packaging/report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name, document in documents.items():
        for error in validator.iter_errors(document):
            check(False, f"schema, {name}: {error.json_path}: {error.message[:200]}")
    seen = set()

    def visit(document, node, path):
        for key, value in list(node.items()) if isinstance(node, dict) else enumerate(node):
            if isinstance(value, (dict, list)):
                visit(document, value, path + ("*" if isinstance(node, list) else key,))
        if isinstance(node, dict) and path not in seen:
            seen.add(path)
            place = ".".join(path) or "the document"
            node["undocumented"] = None
            check(not validator.is_valid(document), f"schema: {place} may have a member that nobody documented")
            del node["undocumented"]

    for document in documents.values():
        if len(document["misses"]) < 10:
            visit(document, document, ())
    check(len(seen) > 60, f"schema: only {len(seen)} objects were tried")


def check_formats(pushctl, report):
    page = Page()
    page.feed(pushctl("--format", "html"))
    check(any("Made by pushctl " in text for text in page.texts), "html: who made it, and when")
    check(not page.open and page.drawings >= 3, "html: drawings, or an element that does not end")
    check(all(link[0] == "#" and link[1:] in page.identifiers for link in page.links), "html: a link to nothing")
    check(report["answer"] in page.texts, "html: the answer")
    text = pushctl("--width", "1000")
    check(text.startswith(report["answer"] + "\n\nWindow "), "text: the answer")
    markdown = pushctl("--format", "markdown")
    check(report["answer"].replace("_", "\\_") in markdown, "markdown: the answer")
    for reason, count in report["misses_by_reason"].items():
        check(f"it {REASONS[reason]}" in text and f"| `{reason}` | {count:,} |" in markdown, f"{reason}: text, markdown")
        check(reason in page.texts, f"html: {reason}")
    try:
        import junitparser

        cases = [case for suite in junitparser.JUnitXml.fromstring(pushctl("--format", "junit").encode()) for case in suite]
        groups = len(report["by_route"]) + len(report["by_handler"])
        check(len(cases) == 1 + groups, f"junit: {len(cases)} cases")
        suite = next(iter(junitparser.JUnitXml.fromstring(pushctl("--format", "junit").encode())))
        facts = {fact.name: fact.value for fact in suite.properties()}
        reasons = {f"missed_by_reason.{reason}": str(count) for reason, count in report["misses_by_reason"].items()}
        check(facts["answer"] == report["answer"] and reasons.items() <= facts.items(), f"junit: {facts}")
        broken = next(case for case in cases if case.name == "broken")
        check(broken.result and "nothing was handled" in broken.result[0].message, "junit: a handler that fails")
    except ImportError:
        print("left out: junitparser is not installed")


def compare_baseline(pushctl, root, report):
    """A baseline with times that are ten times as short: execution and queue are named apart, of all and of each part."""
    faster = json.loads(json.dumps(report))
    groups = [faster["histograms"]["all"]]
    for part in ("by_handler", "by_route", "by_provider"):
        groups += faster["histograms"][part].values()
    for group in groups:
        group["exec"] = [[time // 10, count] for time, count in group["exec"]]
    (root / "faster.json").write_text(json.dumps(faster))
    comparison = json.loads(pushctl("--json", "--baseline", root / "faster.json"))["comparison"]
    figures = {(finding["part"], finding["name"], finding["figure"]) for finding in comparison["worse"]}
    check(("all", "", "exec_p50") in figures and ("handler", "crm", "exec_p90") in figures, f"baseline: {figures}")
    check(not any(figure.startswith("queue") for _, _, figure in figures), f"baseline: the queue is blamed: {figures}")
    check(comparison["file"] == str(root / "faster.json"), "baseline: the file")
    line = f"Compared with {root / 'faster.json'}: {comparison['tests']:,} figures, {len(comparison['worse']):,} worse; "
    for form in ("text", "markdown", "html"):
        shown = pushctl("--format", form, "--baseline", root / "faster.json", *(["--width", "1000"] if form == "text" else []))
        check(line in shown.replace("\\_", "_"), f"baseline: not in {form}: {line}")
    try:
        import junitparser
    except ImportError:
        print("left out: junitparser is not installed")
        return
    document = pushctl("--format", "junit", "--baseline", root / "faster.json")
    suites = {suite.name: suite for suite in junitparser.JUnitXml.fromstring(document.encode())}
    failed = {case.name for case in suites["baseline"] if case.result}
    worse = {f"{part} {name}" if name else "all invocations" for part, name, _ in figures}
    check(failed == worse and suites["baseline"].failures == len(worse), f"junit: {failed} fail, not {worse}")


def stamp(milliseconds):
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
    return f"{whole}.{milliseconds % 1000:03}Z"


def main():
    daemon, program = sys.argv[1:3]
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 5000
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        database = make_ledger(root, daemon, rows)
        where = [program, "--config", root / "config", "--state", root / "state", "--runtime", root / "run"]

        def pushctl(*arguments, status=0):
            result = subprocess.run(where + ["report", *arguments], capture_output=True, text=True, encoding="utf-8")
            check(result.returncode == status, f"{arguments}: exit {result.returncode}: {result.stderr}")
            return result.stdout

        compare(json.loads(pushctl("--json", "--by", "handler,platform")), database)
        print("from rows: " + (f"{len(problems)} differ" if problems else "agrees"))
        run_daemon(root, daemon)
        counted = database.execute("SELECT count(*) FROM figures_by_minute").fetchone()[0]
        check(counted > 0, "the daemon has counted nothing")
        text = pushctl("--json", "--by", "handler,platform")
        report = json.loads(text)
        compare(report, database)
        check_formats(pushctl, report)
        documents = {"all": report}
        generator = random.Random(11)
        times = [row["accepted_at"] for row in database.execute("SELECT accepted_at FROM requests ORDER BY seq")]
        for _ in range(2):
            since, until = sorted(generator.sample(times, 2))
            window = ["--since", stamp(since), "--until", stamp(until)]
            documents[f"window {since}"] = json.loads(pushctl("--json", "--by", "handler,platform", *window))
            compare(documents[f"window {since}"], database, since, until)
        documents["of nothing"] = json.loads(pushctl("--json", "--until", "2000-01-01"))
        (root / "before.json").write_text(text)
        documents["equal"] = equal = json.loads(pushctl("--json", "--baseline", root / "before.json"))
        check(equal["comparison"]["worse"] == [], "a report is not worse than itself")
        # The same rows with times ten times as short: all figures got worse, and a short window has few misses.
        compare_baseline(pushctl, root, report)
        begin = ["--since", stamp(times[len(times) // 2]), "--until", stamp(times[len(times) // 2 + 100])]
        documents["worse"] = worse = json.loads(pushctl(
            "--json", "--by", "handler,platform", "--by", "app", "--baseline", root / "faster.json", *begin))
        check(worse["comparison"]["worse"], "what got ten times as slow is not worse")
        check_schema(documents)
        check_formats(pushctl, equal)
        pushctl("--fail-on-miss", status=1)
        pushctl("--fail-under", "99.9", status=1)
    for problem in problems:
        print(f"differs: {problem}")
    print(f"{rows} requests: {'all agree' if not problems else f'{len(problems)} differ'}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
