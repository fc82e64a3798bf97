"""What must hold of a pair when nothing is in flight: of its ledgers, its chain, and what the producers were told."""

import re
import sqlite3
import time
from collections import Counter, defaultdict

from engine import wait_until
from producers import MEMBERS

IDENTIFIER = re.compile(rb"p\d+-\d{6}")
LEADS = re.compile(r"(\w+) leads from term (\d+) on")
# The deadline of a request from its acceptance on, and the tolerance of the budget that a handler gets: a start takes a
# moment, longer on a busy machine.
DEADLINE, EARLY, LATE = 9, 0.05, 0.3
# Tables that differ between nodes: log_position is the place in a log of one machine, which a pair does not have; texts
# depends on what the node's process has seen. Tables that share texts are compared through their views.
LOCAL_TABLES = {"log_position", "texts"}
# Sums that each node adds up when it is idle: the rows that two nodes both have are equal.
SUMS = {"figures_by_hour", "figures_by_days"}


def ledger(node):
    database = sqlite3.connect(f"file:{node.state}/ledger.db?mode=ro", uri=True, timeout=60)
    # All queries read one state.
    database.execute("BEGIN")
    return database


def position(database):
    return database.execute("SELECT number, checksum FROM log_position").fetchone()


def rows(database):
    """All rows of all tables and views, by the name."""
    names = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    shared = {f"{name.removesuffix('s')}_rows" for name in names}
    return {
        name: sorted(database.execute(f"SELECT * FROM {name}"), key=repr)
        for name in names - LOCAL_TABLES - shared if not name.startswith("sqlite_")}


class Oracle:
    """Counts violations, and says what they are."""

    def __init__(self, nodes, engine, record, ran, is_relay, longest_stop):
        self.nodes, self.engine, self.record, self.ran = nodes, engine, record, ran
        self.is_relay, self.late = is_relay, LATE + longest_stop
        self.violations = list(record.problems)
        self.lost, self.doubled, self.run_twice = [], [], []
        self.by_id = {request.id: request for request in record.acknowledged}
        # The errors of the handlers' remaining times, for first runs and for those after a takeover.
        self.deadlines, self.ends = {False: [], True: []}, {}

    def expect(self, holds, what):
        if not holds:
            self.violations.append(what)

    def check(self):
        ledgers = self.equal_ledgers()
        database = ledgers[self.nodes[0].name]
        self.check_requests(database)
        self.check_publishes(database)
        self.check_runs(database)
        self.check_chain()
        self.check_terms()
        for it in ledgers.values():
            it.close()

    def equal_ledgers(self):
        """Readings of the ledgers, all up to the last batch of the chain."""

        def read():
            tail = int(self.engine.sql("SELECT max(number) FROM push_batches")[0])
            found = {node.name: ledger(node) for node in self.nodes}
            if {position(database)[0] for database in found.values()} == {tail}:
                return found
            for database in found.values():
                database.close()
            return None

        ledgers = wait_until("all ledgers have the last batch", read, pause=0.2)
        first, *others = [(name, position(database), rows(database)) for name, database in ledgers.items()]
        for name, place, tables in others:
            self.expect(place == first[1], f"{name} ends with {place}, {first[0]} with {first[1]}")
            self.expect(tables.keys() == first[2].keys(), f"{name} and {first[0]} have other tables")
            for table in tables.keys() & first[2].keys():
                one, two = first[2][table], tables[table]
                if table in SUMS:
                    places = {row[0] for row in one} & {row[0] for row in two}
                    one, two = [[row for row in them if row[0] in places] for them in (one, two)]
                if one == two:
                    continue
                only = [(first[0], row) for row in one if row not in two]
                only += [(name, row) for row in two if row not in one]
                self.expect(
                    False, f"{table}: {len(one)} rows in {first[0]}, {len(two)} in {name}; in one alone: {only[:4]}")
        return ledgers

    def check_requests(self, database):
        """Each acknowledged request is there once, with the outcomes that were promised and told."""
        ids = defaultdict(list)
        for seq, identifier in database.execute("SELECT seq, id FROM requests"):
            ids[identifier].append(seq)
        outcomes = defaultdict(dict)
        for seq, n, outcome in database.execute("SELECT seq, n, outcome FROM invocations"):
            self.expect(n not in outcomes[seq], f"invocation {seq}.{n} is there twice")
            outcomes[seq][n] = outcome
        self.doubled = [identifier for identifier, found in ids.items() if identifier and len(found) > 1]
        self.expect(not self.doubled, f"requests that are there twice: {self.doubled[:10]}")
        by_id = self.by_id
        self.lost = [request for request in by_id.values() if request.seq not in ids[request.id]]
        self.expect(
            not self.lost, "acknowledged, and not in the ledger under that number: "
            f"{[(request.id, request.seq, ids[request.id]) for request in self.lost[:10]]}")
        # Each request is repeated until it is acknowledged.
        strangers = [identifier for identifier in ids if identifier and identifier not in by_id]
        self.expect(not strangers, f"in the ledger, and never acknowledged: {strangers[:10]}")
        pending = [(seq, n) for seq, found in outcomes.items() for n, outcome in found.items() if outcome is None]
        self.expect(not pending, f"no outcome, though nothing is in flight: {pending[:10]}")
        for request in by_id.values():
            found = outcomes[request.seq]
            self.expect(
                request.outcomes is None or len(found) == request.outcomes,
                f"{request.id} ({request.seq}) has {len(found)} invocations, and {request.outcomes} were promised")
            for n, outcome in request.told.items():
                self.expect(
                    found.get(n) == outcome, f"{request.id} {n}: told {outcome}, the ledger has {found.get(n)}")
        self.outcomes = Counter(outcome for found in outcomes.values() for outcome in found.values())
        self.decided = sum(self.outcomes.values())

    def check_publishes(self, database):
        """Each acknowledged publish reached each member once."""
        progress = {seq: row for seq, *row in database.execute("SELECT seq, members, made, left_out FROM fan_outs")}
        reached = defaultdict(list)
        for message, device in database.execute(
                "SELECT message_id, device FROM requests WHERE operation = 'deliver' AND message_id IS NOT NULL"):
            reached[message].append(device)
        publishes = [request for request in self.by_id.values() if request.is_publish]
        for request in publishes:
            devices = sorted(reached[request.id])
            members, made, left_out = progress.get(request.seq, (0, 0, 0))
            self.expect(
                request.reply["members"] == members == made + left_out and len(devices) == made,
                f"{request.id} ({request.seq}) has {members} members, {made} made, {left_out} left out, and "
                f"{len(devices)} deliveries; the reply was {request.reply}")
            # A wall clock that is set ahead ends a publish.
            expected = sorted(set(devices)) if self.is_relay else MEMBERS
            self.expect(devices == expected, f"{request.id} ({request.seq}) reached {devices}")
        self.publishes = len(publishes)

    def check_runs(self, database):
        """Handlers ran for what is in the ledger alone, and once if they are not idempotent."""
        known = {(seq, n): (identifier, handler, outcome) for seq, n, identifier, handler, outcome in database.execute(
            "SELECT seq, n, id, handler, outcome FROM requests JOIN invocations USING (seq)")}
        runs = Counter()
        wall = time.time() - time.monotonic()
        for line in self.ran.read_text().splitlines() if self.ran.exists() else []:
            seq, n, identifier, handler, remaining, at = line.split()
            # The deliveries of a publish have no id.
            identifier = None if identifier == "-" else identifier
            place = int(seq), int(n)
            runs[place, handler] += 1
            self.check_deadline((place, handler), identifier, float(at) - wall, int(remaining) / 1000)
            self.expect(
                known.get(place, ())[:2] == (identifier, handler),
                f"{handler} ran for {identifier} ({seq}.{n}), and the ledger has {known.get(place)}")
        self.run_twice = [place for (place, handler), count in runs.items() if handler == "run" and count > 1]
        self.expect(not self.run_twice, f"not idempotent, and run twice: {self.run_twice[:10]}")
        self.runs, self.repeated_runs = runs.total(), runs.total() - len(runs)
        missing = [
            place for place, (_, handler, outcome) in known.items()
            if handler in ("run", "again") and outcome == "handled" and not runs[place, handler]]
        self.expect(not missing, f"handled, and no handler ran: {missing[:10]}")

    def check_deadline(self, place, identifier, begin, remaining):
        """The time that a handler is given, which begins at `begin` by a clock outside, ends with the request's."""
        request, is_again = self.by_id.get(identifier), place in self.ends
        end = begin + remaining
        if not self.is_relay or not request:
            return
        # It was accepted between the two, and nobody outside knows when.
        early, late = request.sent + DEADLINE, request.at + DEADLINE
        if is_again:
            # A later run has the same end as the first, whose start took its moment: its end was seen late, if at all.
            early, late = max(early, self.ends[place] - self.late), self.ends[place]
        self.ends.setdefault(place, end)
        self.deadlines[is_again].append(max(early - end, end - late))
        self.expect(early - end < EARLY, f"{identifier}: a handler was given {early - end:.3f} s too little")
        self.expect(end - late < self.late, f"{identifier}: a handler was given {end - late:.3f} s too much")
        self.expect(begin < late + self.late, f"{identifier}: a handler began {begin - late:.3f} s too late")

    def check_chain(self):
        """Each batch follows the one before it, the term never goes back, and what was acknowledged is in the chain."""
        number, last, term, found = None, None, 0, set()
        first = int(self.engine.sql("SELECT min(number) FROM push_batches")[0])
        kept = self.engine.sql("SELECT number FROM push_snapshots WHERE state = 'counts' ORDER BY number DESC LIMIT 2")
        self.expect(
            first == 0 or len(kept) == 2 and int(kept[1]) >= first,
            f"the chain begins with {first}, and the snapshots are {kept}")
        for line in self.engine.sql(
                "SELECT number, id, prev, epoch, encode(rows, 'hex') FROM push_batches ORDER BY number"):
            batch, identifier, before, epoch, content = line.split("|")
            self.expect(number is None or int(batch) == number + 1, f"batch {batch} comes after batch {number}")
            self.expect(last in (None, before), f"batch {batch} names {before} before it, and that is {last}")
            self.expect(int(epoch) >= term, f"batch {batch} is of term {epoch}, after term {term}")
            number, last, term = int(batch), identifier, int(epoch)
            found.update(IDENTIFIER.findall(bytes.fromhex(content)))
        # After a trim of the chain only the ledgers show the requests, and one of the ledgers came from a snapshot.
        missing = [
            request.id for request in self.record.acknowledged if first == 0 and request.id.encode() not in found]
        self.expect(not missing, f"acknowledged, and not in the chain: {missing[:10]}")
        self.batches = number

    def check_terms(self):
        """Each term has one leader, and no later one is lower."""
        leaders, self.terms = defaultdict(list), 0
        for node in self.nodes:
            last = 0
            for name, term in LEADS.findall(node.log.read_text(errors="replace")):
                leaders[int(term)].append(name)
                self.expect(int(term) > last, f"{name} leads from term {term} on, and before from term {last} on")
                last = int(term)
        for term, names in leaders.items():
            self.expect(len(names) == 1, f"term {term} is that of {names}")
        self.terms = len(leaders)
