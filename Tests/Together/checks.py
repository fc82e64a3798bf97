"""What must hold when nothing is in flight: of the ledger, reports, metrics, journal, and the daemon itself."""

import csv
import io
import json
import re
from collections import Counter, defaultdict

import journal
from installation import Failure, check, wait_until

DUE = {"handled", "failed", "timed_out", "expired"}
MISSED = {"timed_out", "expired"}
# The metrics' name for an unknown provider.
NOBODY = "(none)"


class Erasures:
    """Whom the daemon was told to erase, and when. Says which requests may have lost their names by that."""

    def __init__(self, record):
        self.record, self.done = record, []

    def add(self, user, device, at):
        self.done.append((user, device, at))

    def devices(self):
        """Who was named together with a device, ever."""
        users = defaultdict(set)
        for request in self.record.by_id().values():
            if request.user and request.device:
                users[request.user].add(request.device)
        return users

    def predicate(self):
        users = self.devices()

        def may_be_erased(request):
            for user, device, at in self.done:
                if request.at > at:
                    continue
                # A tap without a device has the device of the delivery whose message it names.
                if request.op == "interact" and not request.device:
                    return True
                if device and request.device == device or user and request.user == user:
                    return True
                if user and not request.user and request.device in users[user]:
                    return True
            return False

        return may_be_erased


    def of_ids(self):
        """Says of an id whether its request may be erased. A replay, which has no id of its own, may be."""
        may_be_erased, requests = self.predicate(), self.record.by_id()
        return lambda id: id is None or id in requests and may_be_erased(requests[id])


def check_requests(ledger, record, erasures, requests=None):
    """Each acknowledged request is there once, with the outcomes that it was promised and told."""
    may_be_erased = erasures.predicate()
    rows = {row["seq"]: row for row in ledger.execute("SELECT seq, id, operation, external_id, device FROM requests")}
    outcomes = defaultdict(dict)
    for row in ledger.execute("SELECT seq, n, outcome FROM invocations"):
        outcomes[row["seq"]][row["n"]] = row["outcome"]
    for seq, of_request in outcomes.items():
        check(seq in rows, f"invocations of {seq}, which is no request")
        check(sorted(of_request) == list(range(len(of_request))), f"the invocations of {seq} are {sorted(of_request)}")
    for request in record.acknowledged if requests is None else requests:
        row = rows.get(request.seq)
        if row is None or row["id"] is None:
            check(may_be_erased(request), f"{request.id} was acknowledged as {request.seq}, and " + (
                "is not in the ledger" if row is None else "has lost its id, though nobody erased it"))
            if row is None:
                continue
        else:
            check(row["id"] == request.id, f"{request.seq} is {row['id']}, and was acknowledged as {request.id}")
        check(row["operation"] == request.op, f"{request.id} is {row['operation']}, and was sent as {request.op}")
        found = outcomes[request.seq]
        check(found or request.op in ("session", "log", "publish"), f"{request.id} ({request.seq}) has no invocation")
        if request.outcomes is not None:
            check(
                len(found) == request.outcomes,
                f"{request.id} ({request.seq}) has {len(found)} invocations, and {request.outcomes} were promised")
        for n, outcome in request.told.items():
            check(found.get(n) == outcome, f"{request.id}, {n}: told {outcome}, the ledger has {found.get(n)}")
    twice = ledger.execute(
        "SELECT id, count(*) AS c FROM requests WHERE id IS NOT NULL GROUP BY uid, id HAVING c > 1").fetchall()
    check(not twice, f"the ledger has these ids more than once: {[tuple(row) for row in twice[:10]]}")
    ids = {row["id"] for row in rows.values()}
    for request in record.refused:
        check(
            not request.is_refused or request.id not in ids,
            f"{request.id} was refused and is in the ledger")
    # Invocations of one request that become dead letters one after the other are replayed one after the other.
    twice = ledger.execute(
        "SELECT replay_of, count(*) AS c FROM requests AS r WHERE replay_of IS NOT NULL GROUP BY 1 "
        "HAVING c > max(1, (SELECT count(*) FROM invocations WHERE seq = r.replay_of))").fetchall()
    check(not twice, f"replayed twice: {[tuple(row) for row in twice[:10]]}")
    return len(rows)


def open_publishes(ledger):
    return ledger.execute("SELECT count(*) FROM fan_outs WHERE devices IS NOT NULL").fetchone()[0]


def check_publishes(ledger, record, erasures):
    """Each acknowledged publish has a delivery for each device that is not left out, and none has two."""
    progress = {row["seq"]: row for row in ledger.execute("SELECT seq, members, made, left_out FROM fan_outs")}
    deliveries = defaultdict(list)
    query = "SELECT message_id, device FROM requests WHERE operation = 'deliver' AND replay_of IS NULL"
    for row in ledger.execute(query):
        deliveries[row["message_id"]].append(row["device"])
    count = 0
    for request in record.acknowledged:
        if request.op != "publish":
            continue
        row = progress.get(request.seq)
        check(row, f"{request.id} was acknowledged as {request.seq}, and the ledger does not know its members")
        check(
            request.members in (None, row["members"]),
            f"{request.id} has {row['members']} members, and {request.members} were told")
        check(
            row["made"] + row["left_out"] == row["members"],
            f"{request.id}: {row['made']} made and {row['left_out']} left out of {row['members']}")
        found = deliveries[request.facts["message_id"]]
        # An erasure takes the message's id and the device.
        check(
            len(found) == row["made"] or len(found) < row["made"] and erasures.done,
            f"{request.id}: {row['made']} made, the ledger has {len(found)}")
        twice = [device for device, times in Counter(found).items() if device and times > 1]
        check(not twice, f"{request.id} came twice to {twice}")
        count += len(found)
    return count


def check_all_decided(ledger):
    open_ones = ledger.execute("SELECT seq, n FROM invocations WHERE outcome IS NULL LIMIT 10").fetchall()
    check(not open_ones, f"no outcome, though nothing is in flight: {[tuple(row) for row in open_ones]}")


def check_reports(installation, ledger):
    """The report and the CSV say what the rows say."""
    report = json.loads(installation.pushctl("report", "--json"))
    owners, observers, by_handler, due, missed = Counter(), Counter(), Counter(), Counter(), 0
    query = "SELECT outcome, handler, observer, count(*) AS c FROM invocations GROUP BY 1, 2, 3"
    for row in ledger.execute(query):
        (observers if row["observer"] else owners)[row["outcome"]] += row["c"]
        if not row["observer"]:
            by_handler[row["handler"]] += row["c"]
            if row["outcome"] in DUE:
                due[row["handler"]] += row["c"]
            missed += row["c"] * (row["outcome"] in MISSED)
    check(
        report["accepted"] == owners.total(),
        f"report: {report['accepted']} accepted, the ledger has {owners.total()}")
    told = {outcome: count for outcome, count in report["outcomes"].items() if count}
    check(told == {k: v for k, v in owners.items() if k}, f"report: outcomes {told}, the ledger has {owners}")
    told = {outcome: count for outcome, count in report["observers"]["outcomes"].items() if count}
    check(told == {k: v for k, v in observers.items() if k}, f"report: observers {told}, the ledger has {observers}")
    check(report["due"] == due.total(), f"report: {report['due']} due, the ledger has {due.total()}")
    check(report["missed"] == missed, f"report: {report['missed']} missed, the ledger has {missed}")
    told = {name: figures["count"] for name, figures in report["by_handler"].items() if figures["count"]}
    check(told == {k: v for k, v in by_handler.items() if k}, f"report: by handler {told}, the ledger has {by_handler}")
    check_csv(installation.pushctl("report", "--format", "csv"), ledger)


def check_csv(text, ledger):
    told = {}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        key = int(row["seq"]), int(row["n"])
        check(key not in told, f"csv: {key} is there twice")
        told[key] = row
    query = """SELECT seq, n, outcome, callback, provider, route, handler, budget_us, started, reason, reason_code,
        queue_us, exec_us, total_us, observer, platform, app, device, id, message_id, mode, transport, replay_of
        FROM invocations JOIN requests USING (seq)"""
    count = 0
    for row in ledger.execute(query):
        count += 1
        cells = told.get((row["seq"], row["n"]))
        check(cells, f"csv: {row['seq']}.{row['n']} is missing")
        for column in row.keys():
            value = row[column]
            if column.endswith("_us"):
                cell = cells["deadline_ms" if column == "budget_us" else column[:-3] + "_ms"]
                same = cell == "" if value is None else cell != "" and round(float(cell) * 1000) == value
            elif column in ("observer", "started"):
                same = cells[column] == ("true" if value else "false")
            else:
                same = cells[column].removeprefix("'") == ("" if value is None else str(value))
            check(same, f"csv: {row['seq']}.{row['n']} {column}: {cells}, the ledger has {value}")
    check(count == len(told), f"csv: {len(told)} rows, the ledger has {count}")


SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def metrics(installation):
    """All samples of counters and gauges: by name and labels."""
    text = installation.ask("control", {"op": "metrics"})["metrics"]
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = SAMPLE.match(line).groups()
            samples[name, tuple(value for _, value in LABEL.findall(labels or ""))] = float(value)
    return samples


def compare_metrics(samples, counts, what):
    """`counts` are those by which the metrics must go: owners' and observers' outcomes, and the handlers'."""
    for name, expected in counts.items():
        told = {labels: int(value) for (sample, labels), value in samples.items() if sample == name and value}
        expected = {key: count for key, count in expected.items() if count}
        check(told == expected, f"metrics: {name} is {told}, {what} {expected}")


def counts_of_journal(entries):
    providers = entries.counts("push_provider", "push_outcome", observer=False)
    handlers = entries.counts("push_handler", "push_outcome", observer=False)
    handlers += entries.counts("push_handler", "push_outcome", observer=True)
    return {
        "pushrouterd_outcomes_total": entries.counts("push_outcome", observer=False),
        "pushrouterd_observer_outcomes_total": entries.counts("push_outcome", observer=True),
        "pushrouterd_provider_outcomes_total": Counter({
            (NOBODY if provider == "none" else provider, outcome): count
            for (provider, outcome), count in providers.items()}),
        "pushrouterd_handler_outcomes_total": Counter(
            {key: count for key, count in handlers.items() if key[0] != "none"}),
    }


def counts_of_rows(ledger):
    counts = defaultdict(Counter)
    query = """SELECT outcome, provider, handler, observer, count(*) AS c FROM invocations WHERE outcome IS NOT NULL
        GROUP BY 1, 2, 3, 4"""
    for row in ledger.execute(query):
        outcome = row["outcome"]
        name = "pushrouterd_observer_outcomes_total" if row["observer"] else "pushrouterd_outcomes_total"
        counts[name][outcome,] += row["c"]
        if not row["observer"]:
            counts["pushrouterd_provider_outcomes_total"][row["provider"] or NOBODY, outcome] += row["c"]
        if row["handler"]:
            counts["pushrouterd_handler_outcomes_total"][row["handler"], outcome] += row["c"]
    return counts


def check_metrics_by_journal(installation):
    """The metrics of this run are what its journal has."""
    samples = metrics(installation)
    total = sum(
        value for (name, _), value in samples.items()
        if name in ("pushrouterd_outcomes_total", "pushrouterd_observer_outcomes_total"))

    def is_written():
        entries = journal.RunJournal(installation.run)
        return entries if len(entries.entries) + entries.summed >= total else None

    # Another thread of the daemon writes the entries.
    entries = wait_until(f"the journal of run {installation.run.number} has {total} outcomes", is_written)
    if not entries.summed:
        compare_metrics(samples, counts_of_journal(entries), "the journal has")


def check_processes(installation):
    """What runs for handlers ends, but for workers of today's configuration: as many as they may be."""
    before = installation.foreign_processes()

    def left():
        return sorted(text for process, text in installation.foreign_processes().items() if process in before)

    try:
        wait_until("processes of handlers that are removed, changed or too many end", lambda: not left(), 60)
    except Failure as failure:
        raise Failure(f"{failure}: {left()}") from None


def check_taken(installation, ledger, record, erasures):
    """The endpoint took nothing twice, and everything that is said to be sent.

    A mark is the id of its request. A publish has an entry for each member whose user is known. An erasure forgets ids:
    a request without a reply that comes again after it is a new one, whose entry is sent as well.
    """
    path = installation.root / "taken"
    taken = Counter(path.read_text().split()) if path.exists() else Counter()
    may_be_erased, requests = erasures.of_ids(), record.by_id()

    def at_most(mark):
        request = requests.get(mark)
        return request.members or 1 if request and request.op == "publish" else 1

    twice = [
        (mark, count, vars(requests[mark]) if mark in requests else None) for mark, count in taken.items()
        if count > at_most(mark) and not may_be_erased(mark)]
    check(not twice, f"sent more than once: {twice[:10]}; erased: {erasures.done}")
    for row in ledger.execute("SELECT number, data FROM entries WHERE state = 'sent'"):
        found = re.search(rb'"mark":\s*"([^"]+)"', bytes(row["data"]))
        check(
            not found or found[1].decode() in taken,
            f"entry {row['number']} is sent, and the endpoint has not got it")
    return len(taken)


def check_attempts(installation):
    """The numbers of exec handlers' attempts go on over a kill -9: only the attempt that it ended may come again."""
    path = installation.root / "ran"
    before, count = {}, 0
    for line in path.read_text().split() if path.exists() else []:
        seq, n, attempt = map(int, line.split("."))
        count += 1
        last = before.get((seq, n), 0)
        check(last <= attempt, f"{seq}.{n}: attempt {attempt} ran after attempt {last}")
        before[seq, n] = attempt
    return count


def check_events(ledger):
    """A crash counts nothing twice: a delivery is received once, and opened once."""
    for kind, column in (
            ("local.pushnotification.Received", "seq"), ("users.messages.pushnotification.Open", "delivery"),
            ("users.behaviors.app.SessionStart", "seq"), ("users.behaviors.app.SessionEnd", "seq")):
        twice = ledger.execute(
            f"SELECT {column}, count(*) AS c FROM events WHERE kind = ? GROUP BY 1 HAVING c > 1 LIMIT 5",
            [kind]).fetchall()
        check(not twice, f"events: {kind} more than once: {[tuple(row) for row in twice]}")
