"""What the daemon wrote to its journal, a file of logfmt for each run, held against the rows of the ledger."""

import re
from collections import Counter

from installation import check

FIELD = re.compile(rb'(\w+)=("(?:[^"\\]|\\.)*"|\S*)')
ESCAPE = re.compile(r'\\(u[0-9a-f]{4}|.)')
PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
# A field of an outcome's entry, and the column of the view with the same value.
COLUMNS = [
    ("push_outcome", "outcome"), ("push_callback", "callback"), ("push_handler", "handler"), ("push_route", "route"),
    ("push_provider", "provider"), ("push_queue_usec", "queue_us"), ("push_exec_usec", "exec_us"),
    ("push_total_usec", "total_us"), ("push_deadline_usec", "budget_us"), ("push_reason_code", "reason_code"),
    ("push_platform", "platform"), ("push_mode", "mode"), ("push_app", "app"), ("push_transport", "transport"),
]
# The columns that an erasure clears.
OF_PERSONS = [("push_reason", "reason"), ("push_id", "id"), ("push_replay_of", "replay_of")]


def fields(line):
    """The fields of one entry."""
    return {name.decode(): text(value) for name, value in FIELD.findall(line)}


def text(value):
    value = value.decode(errors="replace")
    if not value.startswith('"'):
        return value
    return ESCAPE.sub(lambda found: PLAIN.get(found[1]) or chr(int(found[1][1:], 16)), value[1:-1])


class RunJournal:
    """The outcomes of which one run told."""

    def __init__(self, run):
        self.run = run
        self.entries, self.summed, self.total = [], 0, None
        for line in run.log.read_bytes().splitlines(keepends=True):
            # A kill -9 may leave half a line.
            if not line.endswith(b"\n") or not line.startswith(b"time="):
                continue
            if b" push_outcome=" in line and b" push_outcome_number=" in line:
                self.entries.append(fields(line))
            elif b"message_id=3b2fb7bf8ac14822b95d42f339ec63d7" in line:
                self.summed += int(fields(line)["push_outcomes"])
            elif b"message_id=4c2fa914e05d4f4f8cf2f4b33db32ca1" in line:
                self.total = int(fields(line)["push_outcome_number"])
            check(b"message_id=df5fefc0fff7c5e9a51211bf7291ba91" not in line, f"journal: entries were dropped: {line}")

    def check_numbers(self):
        """Each outcome has a number; none is missing but those that were summed up."""
        numbers = [int(entry["push_outcome_number"]) for entry in self.entries]
        where = f"journal of run {self.run.number}"
        check(numbers == sorted(set(numbers)), f"{where}: numbers of outcomes go back or repeat")
        last = max(numbers + [self.total or 0])
        missing = last - len(numbers)
        # The last ten seconds may not be summed up yet.
        check(
            missing == self.summed or missing > self.summed > 0 and self.run.end == "kill",
            f"{where}: of {last} outcomes {missing} have no entry, and {self.summed} are summed up")

    def counts(self, *names, observer):
        """How many outcomes there were, by these fields."""
        return Counter(
            tuple(entry.get(name, "none") for name in names)
            for entry in self.entries if ("push_observer" in entry) == observer)


def compare(runs, ledger, is_erased):
    """
    Each entry with its row, and each row with its entry. Gives how many rows the last moments before a kill took.
    is_erased says of the id of a request whether an erasure may have taken it.
    """
    told = {}
    journals = [RunJournal(run) for run in runs]
    for journal in journals:
        journal.check_numbers()
        for entry in journal.entries:
            key = int(entry["push_seq"]), int(entry["push_n"])
            check(key not in told, f"journal: two outcomes of {key}: {told.get(key)} and {entry}")
            told[key] = entry
    columns = ", ".join({column for _, column in COLUMNS + OF_PERSONS})
    rows = {}
    for row in ledger.execute(
            f"SELECT seq, n, {columns}, observer, started, decided_at, body = x'7b7d' AS erased "
            "FROM requests JOIN invocations USING (seq)"):
        rows[row["seq"], row["n"]] = row
    requests = {row["seq"] for row in ledger.execute("SELECT seq FROM requests")}
    for key, entry in told.items():
        row = rows.get(key)
        # While no daemon runs an erasure takes the whole of a request of which one invocation has no outcome
        # (`takesUndecided` of an `ErasureOrder`).
        if row is None and key[0] not in requests and is_erased(entry.get("push_id")):
            continue
        check(row is not None, f"journal: {entry} is not in the ledger")
        for name, column in COLUMNS + (OF_PERSONS if not row["erased"] else []):
            value = None if row[column] is None else str(row[column])
            field = entry.get(name)
            check(field == value, f"journal and ledger differ in {column} of {key}: {field}, {value}")
        check(("push_observer" in entry) == bool(row["observer"]), f"journal and ledger differ in observer of {key}")
        check(("push_started" in entry) == bool(row["started"]), f"journal and ledger differ in started of {key}")
    lost = 0
    # The end of a killed run: from its last entry, or its start, to its end. All times are of the same clock.
    tails = []
    for journal in journals:
        if journal.run.end == "kill":
            last = max(
                (rows[key]["decided_at"] for key in map(key_of, journal.entries[-20:]) if key in rows),
                default=journal.run.started_at * 1000)
            tails.append((last, journal.run.ended_at * 1000))
    summed = sum(journal.summed for journal in journals)
    for key, row in rows.items():
        if row["outcome"] is not None and key not in told:
            if any(begin - 1 <= row["decided_at"] <= end + 1 for begin, end in tails):
                lost += 1
                continue
            summed -= 1
            check(summed >= 0, f"journal: no entry for {dict(row)}; the runs that were killed ended within {tails}")
    return lost


def key_of(entry):
    return int(entry["push_seq"]), int(entry["push_n"])
