"""Calls of libpq's that fail: one at a time, chosen for the library that is preloaded into a node."""

import itertools
import mmap
import struct

from engine import wait_until

# The same order as in preload/libpq.c.
CALLS = [
    "none", "start", "poll", "prepare", "send", "sync", "flush", "consume", "result", "complete", "ready", "clone"]
ACTIONS = ["none", "cut before", "cut after", "fail", "stop before", "stop after"]
LAYOUT = "=iiii16s"

# Each call dies in each way, at its first, second and third turn: the calls of each append, and those of a new session.
APPENDING = ["send", "sync", "flush", "consume", "result", "complete", "ready"]
CONNECTING = ["start", "poll", "prepare"]
DEATHS = [
    (call, action, turn)
    for turn, action, call in itertools.product((1, 2, 3), ("cut before", "cut after", "fail"), APPENDING + CONNECTING)]


class Calls:
    """The choice for one node."""

    def __init__(self, path, library):
        path.write_bytes(bytes(struct.calcsize(LAYOUT)))
        self.path = path
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.environment = {"LD_PRELOAD": str(library), "FLEET_CALLS": str(path)}

    def choose(self, call, action, turn=1, role="log"):
        """The call of that turn from now on is the one, among those of the sessions with that role."""
        rest = struct.pack("=iii16s", ACTIONS.index(action), turn, 0, role.encode())
        # Writes the call last: it activates the other fields.
        self.memory[4:] = rest
        self.memory[:4] = struct.pack("=i", CALLS.index(call))

    @property
    def is_done(self):
        return struct.unpack(LAYOUT, self.memory[:])[3] != 0

    def wait(self, seconds):
        """Whether the call came."""
        try:
            wait_until("the chosen call", lambda: self.is_done, seconds, 0.002)
        except Exception:
            return False
        return True

    def clear(self):
        self.memory[:] = bytes(struct.calcsize(LAYOUT))
