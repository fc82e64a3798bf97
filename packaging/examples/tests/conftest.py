"""Pushes of your tests go to a pushrouterd of their own. Copy this file beside the tests.

    def test_order(pushes):
        messaging.send(messaging.Message(token="tok1", data={"order_id": "1017"}))
        assert [push["outcome"] for push in pushes("device:tok1")] == ["handled"]
"""
import json
import os
import signal
import subprocess
import time
import urllib.error
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
    """pushes(query, count, seconds) waits for the pushes of this test that match, and returns them, newest first.

    It returns when there are `count`, each with its outcome, or with fewer after `seconds`: [] says that no push came.
    """
    return search(pushrouter["page"], "-is:pending -code:refused_send")


@pytest.fixture
def refused(pushrouter):
    """The same for the sends that the gateway refused."""
    return search(pushrouter["page"], "code:refused_send")


def search(page, always):
    def ask(**parameters):
        try:
            with direct.open(f"{page}/api/pushes?{urllib.parse.urlencode(parameters)}") as answer:
                return json.load(answer)["pushes"] if answer.status == 200 else []
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]["message"]) from None

    def wait(query="", count=1, seconds=10):
        end = time.monotonic() + seconds
        while True:
            left = max(0, int(1000 * (end - time.monotonic())))
            found = ask(query=f"{query} {always}", after=before, limit=500, wait=f"{left}ms")  # until the first is there
            if len(found) >= count or not left:
                return found
            time.sleep(0.05)

    before = max([push["seq"] for push in ask(limit=1)], default=0)
    return wait


direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # The page is not behind a proxy.
