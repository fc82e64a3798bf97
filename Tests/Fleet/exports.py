"""An export of events that goes on over takeovers, as a program does it that keeps the cursor itself."""

import json
import subprocess


class Export:
    def __init__(self, programs):
        self.program = programs / "pushctl"
        self.lines, self.cursor, self.times = [], 0, 0

    @property
    def is_possible(self):
        return self.program.exists()

    def read(self, node, cursor):
        """The events that a node's ledger has behind a cursor."""
        command = [
            self.program, "export", "--config", node.root / "etc", "--state", node.state, "--after", str(cursor),
            "--event", "Open,Received,InfluencedOpen,SessionStart,SessionEnd"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"{node.name}: {result.stderr}")
        return result.stdout.splitlines()

    def go_on(self, leader):
        """Reads what is new at the machine that leads now."""
        lines = self.read(leader, self.cursor)
        self.lines += lines
        self.times += 1
        if lines:
            self.cursor = json.loads(lines[-1])["cursor"]

    def problem(self, node):
        """Where it differs from an export of all that a node has."""
        self.go_on(node)
        lines = self.read(node, 0)
        if lines == self.lines:
            return None
        place = next((it for it, (one, two) in enumerate(zip(lines, self.lines)) if one != two), None)
        said = f"the export over takeovers has {len(self.lines)} events, a whole one {len(lines)}"
        return said if place is None else f"{said}; event {place} is {self.lines[place]}, and {lines[place]}"
