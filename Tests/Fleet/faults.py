"""What happens to a pair."""

import itertools
import signal
import subprocess
import time

import engine as engines
from calls import CONNECTING, DEATHS
from engine import PATIENCE, check, run, wait_until

# The lease of a leader, in seconds, and the longest stop of one.
LEASE = 1
LONGEST_STOP = 2.5 * LEASE


class Faults:
    """Each method causes a fault and takes away its cause."""

    # The features that each fault needs besides a pair.
    NEEDS = {
        "kill": set(), "stop": set(), "term": set(), "move": set(), "drain": set(), "restart": set(),
        "immediate": set(), "engine-kill": set(), "terminate": set(), "cancel": set(),
        "disk": set(), "leader-disk": set(), "both-disks": set(), "trim": set(),
        "promote": {"standby"}, "promote-waiting": {"standby"},
        "drop-out": {"network"}, "drop-in": {"network"}, "drop-both": {"network"}, "drop-follower": {"network"},
        "engine-clock": {"clocks"}, "node-clock": {"clocks"},
        "patroni-kill": {"patroni"}, "patroni-standby": {"patroni"}, "patroni-switch": {"patroni"},
        "patroni-pause": {"patroni"},
        "call": {"calls"}, "stop-complete": {"calls"}, "stop-ready": {"calls"}, "stop-exec": {"calls"},
    }

    # The faults of the nodes alone, with any database.
    OF_NODES = {"kill", "stop", "term", "move", "drain", "restart", "disk", "leader-disk", "both-disks"}

    @classmethod
    def possible(cls, features):
        """The faults that a pair with these can have."""
        if "patroni" in features:
            return [name for name, needs in cls.NEEDS.items() if needs == {"patroni"} or name in cls.OF_NODES]
        return [name for name, needs in cls.NEEDS.items() if needs <= features]

    def __init__(self, pair, engine, generator):
        self.pair, self.engine, self.generator = pair, engine, generator
        functions = ("pg_cancel_backend", "pg_terminate_backend", None)
        self.ways = itertools.cycle([(function, is_killed) for is_killed in (False, True) for function in functions])
        # The deaths of calls, in turn, and those that did not happen.
        self.deaths, self.missed = itertools.cycle(DEATHS), []

    def do(self, name):
        getattr(self, name.replace("-", "_"))()

    # The nodes

    def signal_leader(self, number, leader=None):
        leader = leader or self.pair.leader()
        ends = len(leader.ends)
        leader.signal(number)
        wait_until(f"{leader.name} has ended", lambda: len(leader.ends) > ends)

    def kill(self):
        """The leader's process dies."""
        self.signal_leader(signal.SIGKILL)

    def term(self):
        """The leader is told to stop, and gives the lease back."""
        self.signal_leader(signal.SIGTERM)

    def move(self):
        """A person has another node lead."""
        self.order(self.pair.leader(), "--move")

    def drain(self):
        """The leader is not to lead for a while."""
        leader = self.pair.leader()
        self.order(leader, "--drain")
        self.pair.wait_whole()
        run(leader.command("--drain", "--undo"))

    def order(self, leader, *words):
        ends = len(leader.ends)

        def is_taken():
            # A copy that is made on a busy machine may be far behind: a person tries again.
            result = subprocess.run(leader.command(*words), capture_output=True, text=True, cwd="/", timeout=PATIENCE)
            check(result.returncode == 0 or "near enough" in result.stderr, f"{words}: {result.stderr[-2000:]}")
            return result.returncode == 0

        wait_until(f"{leader.name} takes {words}", is_taken, pause=1)
        wait_until(f"{leader.name} has ended", lambda: len(leader.ends) > ends)

    def restart(self):
        """The nodes restart one after the other, as for an upgrade: the leader last, after it has handed over."""
        leader = self.pair.leader()
        self.signal_leader(signal.SIGTERM, self.pair.other(leader))
        self.pair.wait_whole()
        self.order(leader, "--move")
        self.pair.wait_whole()
        self.signal_leader(signal.SIGTERM, leader)

    def stop(self):
        """The leader stands still past its lease, and goes on."""
        leader = self.pair.leader()
        leader.signal(signal.SIGSTOP)
        self.go_on_late(leader)

    def go_on_late(self, leader):
        time.sleep(self.generator.uniform(LEASE, LONGEST_STOP))
        leader.signal(signal.SIGCONT)

    def disk(self):
        """The follower's disk is empty when it starts again."""
        self.pair.other(self.pair.leader()).lose_disk()

    def leader_disk(self):
        """The leader's machine is replaced by an empty one."""
        self.pair.leader().lose_disk()

    def both_disks(self):
        """Both machines are replaced by empty ones: all that there was is in the database."""
        self.pair.lose_disks()

    def trim(self):
        """Batches are deleted behind two snapshots, as if ten minutes had passed."""
        first = self.engine.sql("SELECT min(number) FROM push_batches")
        moves, moved = None, time.monotonic()

        def is_trimmed():
            # A snapshot of a large ledger takes minutes on a busy machine: one that moves may go on.
            nonlocal moves, moved
            now = self.engine.sql("SELECT snapshot, state, moves FROM push_snapshots ORDER BY snapshot")
            if now != moves:
                moves, moved = now, time.monotonic()
            check(time.monotonic() < moved + PATIENCE, f"no snapshot has moved for {PATIENCE} s")
            self.pair.look()
            # Keeps the last batches: machines compare their clocks by the batches' ages.
            self.engine.sql(
                "UPDATE push_batches SET at = at - interval '1 hour' "
                "WHERE at > clock_timestamp() - interval '10 minutes' "
                "AND number < (SELECT max(number) - 100 FROM push_batches)")
            return self.engine.sql("SELECT min(number) FROM push_batches") != first

        wait_until("batches are deleted", is_trimmed, 10 * PATIENCE, pause=0.3)

    # The calls between node and database

    def call(self):
        """A call of the leader's fails, or loses its connection before or after it, each one in turn."""
        call, action, turn = next(self.deaths)
        leader = self.pair.leader()
        leader.calls.choose(call, action, turn)
        if call in CONNECTING:
            # The leader makes these calls only at the start of a session.
            for _ in range(2 * turn):
                self.engine.end_log_session("pg_terminate_backend")
                if leader.calls.wait(0.3):
                    break
        if not leader.calls.wait(3):
            self.missed.append((call, action, turn))
        leader.calls.clear()

    def stop_complete(self):
        """The leader stands still when it was told the end of its append, and not of the commit."""
        self.stop_at("complete", "stop after")

    def stop_ready(self):
        """The leader stands still when it was told the end of a commit, before it acknowledges or starts anything."""
        self.stop_at("ready", "stop after")

    def stop_exec(self):
        """The leader stands still right before it starts a handler, which it does after its lease."""
        self.stop_at("clone", "stop before", "")

    def stop_at(self, call, action, role="log"):
        leader = self.pair.leader()
        leader.calls.choose(call, action, 1, role)
        check(leader.calls.wait(engines.PATIENCE), f"{leader.name} did not come to {call}")
        leader.calls.clear()
        self.go_on_late(leader)

    # The network

    def drop_out(self):
        """What the leader sends to the database is lost on its way."""
        self.drop(self.pair.leader(), True, False)

    def drop_in(self):
        """What the database sends to the leader is lost on its way."""
        self.drop(self.pair.leader(), False, True)

    def drop_both(self):
        self.drop(self.pair.leader(), True, True)

    def drop_follower(self):
        """A follower's packets are lost, in one direction or in both."""
        is_to_engine, is_to_node = self.generator.choice(((True, False), (False, True), (True, True)))
        self.drop(self.pair.other(self.pair.leader()), is_to_engine, is_to_node)

    def drop(self, node, is_to_engine, is_to_node):
        network = self.engine.network
        network.cut(node.name, is_to_engine, is_to_node)
        # Shorter than the lease, or longer.
        time.sleep(LEASE * self.generator.choice((0.4, 1.5, 3)))
        network.mend(node.name)

    # The clocks

    def engine_clock(self):
        """The database's clock is set while requests are in flight, and then the leader dies."""
        self.engine.clock.set(self.generator.choice((10, -3600, 0, 10, -3600)))
        time.sleep(self.generator.choice((0, 0.2)))
        self.signal_leader(signal.SIGKILL)

    def node_clock(self):
        """The clocks of the nodes are set, and then the leader dies."""
        for node in self.pair.nodes:
            node.clock.set(self.generator.choice((-3600, 3600, 365 * 86400, -365 * 86400, 0)))
        self.signal_leader(signal.SIGKILL)

    # The database

    def immediate(self):
        """The database ends at once, and starts again."""
        self.engine.restart(signal.SIGQUIT, self.generator.choice((0, 0.5, 1.5 * LEASE)))

    def engine_kill(self):
        """All of the database's processes die, and it starts again."""
        self.engine.restart(signal.SIGKILL, self.generator.choice((0, 0.5, 1.5 * LEASE)))

    def terminate(self):
        self.end_session("pg_terminate_backend")

    def cancel(self):
        self.end_session("pg_cancel_backend")

    def end_session(self, function):
        """The session that appends, or what it is doing, ends; with a standby, while it waits for that."""
        if not self.engine.has_standby:
            for _ in range(20):
                self.engine.end_log_session(function)
            return
        with self.engine.held_standby():
            self.engine.wait_for_waiter()
            self.engine.end_log_session(function)
            time.sleep(self.generator.choice((0, 0.1, 0.5)))

    def patroni_kill(self):
        """The primary's machine dies with its Patroni, which has the standby promoted and takes the old one back."""
        self.engine.lose_primary()

    def patroni_standby(self):
        """The standby's machine is away, and nothing is acknowledged."""
        self.engine.lose_standby(self.generator.choice((0, 2, 5)))

    def patroni_switch(self):
        self.engine.switch()

    def patroni_pause(self):
        self.engine.pause(self.generator.choice((0, 2)))

    def promote(self):
        """The database's machine is lost, and its standby takes its place."""
        self.engine.primary.stop(signal.SIGKILL)
        self.engine.promote()

    def promote_waiting(self):
        """The same while an append waits for the standby, maybe after its wait was cut off, or its leader died."""
        # No node leads while the standby is held for longer than a lease.
        leader = self.pair.leader()
        with self.engine.held_standby(is_lost=True):
            self.engine.wait_for_waiter()
            function, is_leader_killed = next(self.ways)
            if function:
                self.engine.end_log_session(function)
            # The batch is now visible on the primary alone. The follower may read it; the leader must not acknowledge
            # it.
            time.sleep(self.generator.choice((0.2, 0.4, 0.8)))
            if is_leader_killed:
                self.signal_leader(signal.SIGKILL, leader)
            self.engine.primary.stop(signal.SIGKILL)
        self.engine.promote()
