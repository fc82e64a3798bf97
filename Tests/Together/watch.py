"""The watch: while requests wait for their acknowledgement, something is acknowledged again and again."""

import contextlib
import threading
import time

from installation import Failure

# The longest time without an acknowledgement while requests wait and the daemon is up, in seconds.
SILENCE = 10
TICK = 0.2


class Watch(threading.Thread):
    """Counts the silence in its own ticks, so that a machine that stands still does not look like a silent daemon."""

    def __init__(self, installation, trouble):
        super().__init__(daemon=True)
        self.installation, self.trouble = installation, trouble
        self.lock, self.waiting, self.answers, self.is_over = threading.Lock(), 0, 0, False
        self.longest = 0

    @contextlib.contextmanager
    def wait(self, count):
        """Meanwhile so many requests wait; the value is called with each reply."""
        left = count

        def answered():
            nonlocal left
            left -= 1
            self.change(-1, 1)

        self.change(count, 0)
        try:
            yield answered
        finally:
            self.change(-left, 0)

    def change(self, waiting, answers):
        with self.lock:
            self.waiting += waiting
            self.answers += answers

    def run(self):
        silent, before = 0, None
        while not self.is_over:
            time.sleep(TICK)
            run = self.installation.runs[-1] if self.installation.runs else None
            with self.lock:
                now = run, self.answers
                is_waited = self.waiting > 0
            is_silent = run and run.is_ready and not run.end and is_waited and now == before
            before = now
            silent = silent + TICK if is_silent else 0
            self.longest = max(self.longest, silent)
            if silent > SILENCE:
                self.trouble.append(Failure(
                    f"nothing is acknowledged for {SILENCE} s, and {self.waiting} requests wait; the daemon says "
                    f"{self.said()}"))
                return

    def said(self):
        """Its status, for the reader of a failure."""
        try:
            status = self.installation.ask("read", {"op": "status"}, seconds=5)["status"]
            return {name: status.get(name) for name in ("state", "store_problem", "ledger_problem", "store")}
        except (OSError, KeyError, ValueError) as error:
            return f"nothing: {error!r}"
