"""What examples.py runs with pytest, beside the files of packaging/examples/tests."""
import asyncio
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import threading
import time

import firebase_admin
import pytest
from aioapns import APNs, NotificationRequest
from firebase_admin import credentials, exceptions, messaging

import aioapns_through_proxy  # noqa: F401
import conftest

ROOT = os.environ["PUSH_TEST_ROOT"]
KEYS = os.environ["PUSH_TEST_KEYS"]


@pytest.fixture(scope="session")
def firebase(pushrouter):
    return firebase_admin.initialize_app(credentials.Certificate(f"{KEYS}/account.json"))


def test_firebase_admin_is_seen(firebase, pushes):
    messaging.send(messaging.Message(token="tok1", data={"order_id": "1017"}))
    assert [push["outcome"] for push in pushes("device:tok1")] == ["handled"]


def test_each_test_has_its_own_pushes(firebase, pushes):
    assert pushes("device:tok1", seconds=1) == []
    messaging.send(messaging.Message(token="tok1", data={"order_id": "1018"}))
    assert len(pushes()) == 1


def test_as_many_pushes_are_waited_for_as_the_test_says(firebase, pushes):
    sender = threading.Thread(target=lambda: [send_next(pushes, number) for number in (1, 2, 3)])
    sender.start()
    assert len(pushes("device:many", count=3)) == 3
    sender.join()
    assert len(pushes("device:many", count=4, seconds=1)) == 3


def send_next(pushes, number):
    """Sends a push, and waits until the list has as many: who waits for three sees one and two before."""
    messaging.send(messaging.Message(token="many", data={"order_id": str(number)}))
    assert len(pushes("device:many", count=number)) == number


def test_firebase_admin_is_refused(firebase, pushes, refused):
    with pytest.raises(messaging.UnregisteredError):
        messaging.send(messaging.Message(token="err-UNREGISTERED", data={"order_id": "1"}))
    assert [push["device"] for push in refused("device:err-*")] == ["err-UNREGISTERED"]
    assert pushes(seconds=1) == []


def test_repetitions_of_firebase_admin_are_refused_sends(firebase, refused):
    with pytest.raises(messaging.QuotaExceededError):
        messaging.send(messaging.Message(token="err-QUOTA_EXCEEDED+ra", data={"order_id": "1"}))
    assert len(refused("device:err-QUOTA_EXCEEDED+ra", count=5)) == 5


def test_a_misspelt_query_is_an_error(pushes):
    with pytest.raises(ValueError, match="did you mean device:"):
        pushes("devcie:tok1")


def test_a_proxy_of_the_environment_does_not_hide_the_page(monkeypatch, pushrouter):
    for name, value in {"http_proxy": "http://127.0.0.1:9", "no_proxy": "", "NO_PROXY": ""}.items():
        monkeypatch.setenv(name, value)
    fixture = runpy.run_path(conftest.__file__)  # Python reads these variables early.
    assert fixture["search"](pushrouter["page"], "")("device:nobody", seconds=0) == []


def test_outcomes_of_the_guide(firebase, pushes, pushrouter):
    messaging.send(messaging.Message(
        token="shown", notification=messaging.Notification(title="Sent"), data={"order_id": "1017"}))
    [push] = pushes("device:shown")
    assert (push["outcome"], push["app"], push["title"]) == ("shown_by_system", "demo", "Sent")
    with conftest.direct.open(f"{pushrouter['page']}/api/pushes/{push['seq']}") as answer:
        assert json.load(answer)["story"]["request"]["payload"]["message"]["data"] == {"order_id": "1017"}


def test_a_token_that_its_device_unregistered_or_replaced(firebase, pushes):
    def token(*words):
        subprocess.run(["pushctl", "token", "--app", "shop", "--platform", "android", *words, "--wait"], check=True)

    def is_unregistered(token):
        try:
            return messaging.send(messaging.Message(token=token, data={"order_id": "1"})) is None
        except messaging.UnregisteredError:
            return True

    token("first", "--device", "phone")
    assert not is_unregistered("first")
    token("second", "--device", "phone")
    assert is_unregistered("first") and not is_unregistered("second")
    token("--kind", "unregistered", "--device", "phone")
    assert is_unregistered("second")
    assert len(pushes("device:phone app:shop", count=2)) == 2


@pytest.fixture
def configuration(pushrouter):
    """A function that writes a file of the configuration, as the guide says; the files go away after the test."""
    place, written = f"{os.environ['PUSHROUTER_DIRECTORY']}/config", {}

    def write(name, text):
        path = f"{place}/{name}"
        written[path] = open(path).read() if os.path.exists(path) else None
        with open(path, "w") as file:
            file.write(text)
        return path

    yield write
    for path, text in written.items():
        if text is None:
            os.remove(path)
        else:
            with open(path, "w") as file:
                file.write(text)
    subprocess.run(["pushctl", "reload"], check=True)


def test_a_handler_in_the_directory_of_the_run(firebase, pushes, configuration):
    configuration("handlers.d/orders.handler", "[Handler]\nType=exec\nExec=/bin/false\n")
    configuration("routes.d/20-orders.route", "[Match]\nData=order_id\n[Route]\nHandler=orders\n")
    subprocess.run(["pushctl", "reload"], check=True)
    messaging.send(messaging.Message(token="tok1", data={"order_id": "1017"}))
    assert [(push["handler"], push["outcome"]) for push in pushes()] == [("orders", "failed")]


def test_errors_in_the_directory_of_the_run_and_no_repetitions(pushrouter, refused, configuration, monkeypatch):
    rules = configuration("errors.jsonl", '{"match":{"service":"fcm","token":"busy*"},"answer":"UNAVAILABLE"}\n')
    configuration("gateway.conf", f"[Gateway]\nErrorTokens=yes\nErrors={rules}\n")
    monkeypatch.setattr(firebase_admin._http_client, "DEFAULT_RETRY_CONFIG", 0)
    app = firebase_admin.initialize_app(credentials.Certificate(f"{KEYS}/account.json"), name="once")
    end = time.monotonic() + 60
    while True:  # until the gateway has read the rules
        try:
            messaging.send(messaging.Message(token="busy-first", data={"order_id": "0"}), app=app)
        except exceptions.UnavailableError:
            break
        assert time.monotonic() < end
    with pytest.raises(exceptions.UnavailableError):
        messaging.send(messaging.Message(token="busy", data={"order_id": "1"}), app=app)
    assert len(refused("device:busy", count=2, seconds=1)) == 1


# Each form of the guide for authors of handlers, with the platform.
FORMS = {
    "android": [
        {"order_id": "1017", "image": "IMAGE"}, {"data": {"order_id": "1017", "image": "IMAGE"}},
        {"message": {"token": "t", "data": {"order_id": "1017", "image": "IMAGE"}}},
        {"message": {"token": "t", "android": {"data": {"order_id": "1017"}}}}],
    "ios": [{"aps": {"content-available": 1}, "order_id": "1017", "image": "IMAGE"},
            {"message": {"token": "t", "apns": {"payload": {"aps": {"content-available": 1}, "order_id": "1017"}}}}],
    "web": [{"data": {"order_id": "1017", "image": "IMAGE"}},
            {"message": {"token": "t", "webpush": {"data": {"order_id": "1017"}}}}],
}


@pytest.fixture(scope="module")
def inputs(pushrouter, tmp_path_factory):
    """What a handler gets on standard input, for each form."""
    place = tmp_path_factory.mktemp("inputs")
    program = place / "keep"
    program.write_text(f"#!/bin/sh\ncat >{place}/input\n")
    program.chmod(0o755)
    got = []
    for platform, forms in FORMS.items():
        for form in forms:
            (place / "push.json").write_text(json.dumps(form))
            subprocess.run(
                ["pushctl", "run-handler", program, "--platform", platform, place / "push.json"], check=True)
            got.append(json.loads((place / "input").read_text()))
    return got


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_expressions_of_the_guide_find_the_key(inputs):
    guide = open(f"{ROOT}/Sources/PushDaemon/Documentation.docc/Guides/GuideForHandlerAuthors.md").read()
    expressions = re.findall(r"^\| .* \| `(\.payload[^`]*)` \|$", guide, re.M)

    def found(expression, event):
        ended = subprocess.run(["jq", "-r", expression], input=json.dumps(event), text=True, stdout=subprocess.PIPE)
        return ended.stdout == "1017\n"

    for event in inputs:
        assert len([line for line in expressions if found(line, event)]) == 1, event["payload"]
    [every] = re.findall(r"^order=\$\(jq -r '(.*)'\)$", guide, re.M)
    for event in inputs:
        assert found(every, event) == ('"image"' in json.dumps(event)), event["payload"]


def test_the_example_with_a_picture_finds_its_keys(inputs, tmp_path):
    (tmp_path / "key").write_text("secret")
    environment = {
        "PATH": os.environ["PATH"], "PUSH_CREDENTIAL_CRM": f"{tmp_path}/key", "IMAGES": "IMA", "CRM": "file:///dev/null"}
    for event in inputs:
        ended = subprocess.run(
            [sys.executable, f"{ROOT}/packaging/examples/picture.py"], input=json.dumps(event), text=True,
            env=environment, stderr=subprocess.PIPE)
        # 80: it is not its push. Otherwise it asks for the picture, whose name is none of the web.
        asked = ended.returncode == 1 and "unknown url type: 'IMAGE'" in ended.stderr
        assert asked if "image" in json.dumps(event) else ended.returncode == 80, (event["payload"], ended)


def send_to_apns(token):
    async def send():
        client = APNs(key=open(f"{KEYS}/AuthKey.p8").read(), key_id="ABCDEF1234", team_id="TEAM123456",
                      topic="com.example.shop", use_sandbox=True)
        return await client.send_notification(
            NotificationRequest(device_token=token, message={"aps": {"alert": "Hello"}}))
    return asyncio.run(send())


def test_aioapns_is_seen(pushrouter, pushes):
    assert send_to_apns("ab" * 32).status == "200"
    assert [push["platform"] for push in pushes("device:" + "ab" * 32)] == ["ios"]


def test_aioapns_is_refused(pushrouter):
    answer = send_to_apns("err-BadDeviceToken")
    assert (answer.status, answer.description) == ("400", "BadDeviceToken")
