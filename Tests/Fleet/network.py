"""The network of a pair: each node has a cable of its own to the database, and a cable loses packets without a word."""

import contextlib
import pathlib
import subprocess

from engine import SERVERS, run

# A queue without room for a packet.
DROP = ["tbf", "rate", "8bit", "burst", "1", "limit", "1"]


def is_possible():
    """Whether this machine lets us have namespaces, bridges and queues."""
    network = Network("fleet-try", ["x"])
    try:
        network.make()
        network.cut("x", True, True)
        return True
    except Exception:
        return False
    finally:
        network.close()


class Network:
    """Network namespaces: one for the database, one for each node, one for what lies between."""

    def __init__(self, name, nodes):
        self.nodes = nodes
        self.middle, self.engine = f"{name}-middle", f"{name}-engine"
        self.places = {node: f"{name}-{node}" for node in nodes}

    def make(self):
        for namespace in (self.middle, self.engine, *self.places.values()):
            run(["ip", "netns", "add", namespace])
            run(["ip", "-n", namespace, "link", "set", "lo", "up"])
        for address in SERVERS:
            run(["ip", "-n", self.engine, "address", "add", f"{address}/32", "dev", "lo"])
        for number, node in enumerate(self.nodes, 1):
            self.lay(node, number)

    def lay(self, node, number):
        """A cable in two halves, with a bridge between them: neither end knows of a packet that is lost there."""
        bridge, place = f"bridge-{node}", self.places[node]
        run(["ip", "-n", self.middle, "link", "add", bridge, "type", "bridge", "forward_delay", "0"])
        run(["ip", "-n", self.middle, "link", "set", bridge, "up"])
        for namespace, inner, outer in (
                (place, "engine", f"to-{node}"), (self.engine, f"node-{node}", f"from-{node}")):
            peer = ["peer", "name", inner, "netns", namespace]
            run(["ip", "-n", self.middle, "link", "add", outer, "type", "veth", *peer])
            run(["ip", "-n", self.middle, "link", "set", outer, "master", bridge, "up"])
            run(["ip", "-n", namespace, "link", "set", inner, "up"])
        run(["ip", "-n", place, "address", "add", f"10.88.{number}.1/24", "dev", "engine"])
        run(["ip", "-n", self.engine, "address", "add", f"10.88.{number}.2/24", "dev", f"node-{node}"])
        run(["ip", "-n", place, "route", "add", "default", "via", f"10.88.{number}.2"])

    def within(self, place):
        """What a command begins with that runs at a node, or at the database."""
        return ["ip", "netns", "exec", self.places.get(place, self.engine)]

    def cut(self, node, is_to_engine, is_to_node):
        """Packets are lost from now on: those that a node sends, those that it is sent, or both."""
        for is_lost, link in ((is_to_engine, f"from-{node}"), (is_to_node, f"to-{node}")):
            if is_lost:
                run(["tc", "-n", self.middle, "qdisc", "replace", "dev", link, "root", *DROP])

    def mend(self, node):
        for link in (f"from-{node}", f"to-{node}"):
            subprocess.run(["tc", "-n", self.middle, "qdisc", "del", "dev", link, "root"], stderr=subprocess.DEVNULL)

    def close(self):
        for namespace in (self.middle, self.engine, *self.places.values()):
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/run/netns/{namespace}").exists():
                    subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)
