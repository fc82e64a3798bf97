"""What examples.py runs with pytest, beside the files of packaging/examples/tests."""
import asyncio
import os

import firebase_admin
import pytest
from aioapns import APNs, NotificationRequest
from firebase_admin import credentials, messaging

import aioapns_through_proxy  # noqa: F401

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


def test_firebase_admin_is_refused(firebase):
    with pytest.raises(messaging.UnregisteredError):
        messaging.send(messaging.Message(token="err-UNREGISTERED", data={"order_id": "1"}))


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
