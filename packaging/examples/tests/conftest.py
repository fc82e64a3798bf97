"""Pushes of your tests go to a pushrouterd of their own. Copy this file beside the tests.

    def test_order(pushes):
        messaging.send(messaging.Message(token="tok1", data={"order_id": "1017"}))
        assert [push["outcome"] for push in pushes("device:tok1")] == ["handled"]
"""
import json
import os
import signal
import subprocess
import urllib.parse
import urllib.request

import pytest


@pytest.fixture(scope="session")
def pushrouter():
    """The addresses of a daemon, a gateway and a page, which clients reach through the environment."""
    if "PUSHROUTER_PAGE" in os.environ:  # Run by "pushctl dev -- pytest".
        yield {"page": os.environ["PUSHROUTER_PAGE"]}
        return
    words = ["pushctl", "dev", "--temporary", "--json", "--port", "0", "--gateway-port", "0"]
    dev = subprocess.Popen(words, stdout=subprocess.PIPE)
    line = dev.stdout.readline()
    assert line, "pushctl dev did not start: standard error has the reason"
    addresses, before = json.loads(line), dict(os.environ)
    os.environ.update(addresses["environment"])
    yield addresses
    os.environ.clear()
    os.environ.update(before)
    dev.send_signal(signal.SIGINT)
    assert dev.wait(60) == 0


@pytest.fixture
def pushes(pushrouter):
    """A function that waits for the pushes of this test that match a query, newest first; none: there was no push."""
    def ask(**parameters):
        url = f"{pushrouter['page']}/api/pushes?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url) as answer:
            return json.load(answer)["pushes"] if answer.status == 200 else []

    after = max([push["seq"] for push in ask(limit=1)], default=0)
    return lambda query="", seconds=10: ask(query=f"{query} -is:pending".strip(), wait=f"{seconds}s", after=after)
