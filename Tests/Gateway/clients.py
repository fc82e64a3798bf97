"""Unmodified clients of FCM and APNs, each a list of steps as they were recorded (Tests/Fixtures/recordings).

clients.py CLIENT KEYS [--slow]: prints a JSON object for each step: its name, and what was returned or raised. KEYS has
account.json, AuthKey.p8 and client.pem. --slow: also the steps in which the client waits and sends again.
"""
import asyncio
import json
import os
import sys
import urllib.request

client, keys = sys.argv[1], sys.argv[2]
slow = "--slow" in sys.argv
# The status of the gateway, for the number of requests; on the clients' port, without TLS and proxy.
STATUS = os.environ["GATEWAY_STATUS"]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def requests_so_far():
    with opener.open(STATUS, timeout=10) as answer:
        return json.load(answer)["requests"]


def step(name, action):
    before = requests_so_far()
    told = {"step": name}
    try:
        told["returned"] = action()
    except Exception as error:
        told["raised"] = f"{type(error).__module__}.{type(error).__name__}"
        told["message"] = str(error)[:300]
    told["requests"] = requests_so_far() - before
    print(json.dumps(told), flush=True)


def batch(response):
    return {"success_count": response.success_count, "failure_count": response.failure_count}


def topics(response):
    return batch(response) | {"errors": [[error.index, error.reason] for error in response.errors]}


WAITING = ["INTERNAL", "UNAVAILABLE", "UNAVAILABLE+ra", "QUOTA_EXCEEDED+ra"]
QUICK = ["UNREGISTERED", "INVALID_ARGUMENT", "BADREQUEST", "APNS", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED",
         "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR", "UNSPECIFIED_ERROR", "UNREGISTERED_FID", "401", "403API",
         "NODETAIL404", "HTML502"]


def firebase(is_old=False):
    import datetime

    import firebase_admin
    from firebase_admin import credentials, messaging

    firebase_admin.initialize_app(credentials.Certificate(f"{keys}/account.json"))
    if not is_old:
        step("send, every field", lambda: messaging.send(messaging.Message(
            token="tok1", data={"order_id": "1017"}, notification=messaging.Notification("Title", "Body", "https://x.example/i.png"),
            android=messaging.AndroidConfig(
                collapse_key="c", priority="high", ttl=datetime.timedelta(seconds=3600.5), restricted_package_name="com.example.shop",
                data={"a": "b"}, notification=messaging.AndroidNotification(
                    title="t", body="b", icon="i", color="#ff8800", sound="s", tag="g", channel_id="ch", priority="high",
                    vibrate_timings_millis=[100, 200], light_settings=messaging.LightSettings("#aabbccdd", 100, 200))),
            apns=messaging.APNSConfig(headers={"apns-priority": "10"}, payload=messaging.APNSPayload(messaging.Aps(
                alert=messaging.ApsAlert(title="t", body="b"), badge=1, sound=messaging.CriticalSound("s", True, 0.5),
                content_available=True, category="c", thread_id="th"), custom=1)),
            webpush=messaging.WebpushConfig(headers={"TTL": "60"}, data={"w": "1"}))))
        step("send, data only", lambda: messaging.send(messaging.Message(token="tok1", data={"a": "b"})))
        step("send, dry_run", lambda: messaging.send(messaging.Message(token="tok1", data={"a": "b"}), dry_run=True))
        step("send to topic", lambda: messaging.send(messaging.Message(topic="/topics/news", data={"a": "b"})))
        step("send to condition", lambda: messaging.send(messaging.Message(
            condition="'a' in topics && ('b' in topics || !('c' in topics))", data={"a": "b"})))
        step("send to fid", lambda: messaging.send(messaging.Message(fid="fid1", data={"a": "b"})))
        step("send_each of 100", lambda: batch(messaging.send_each(
            [messaging.Message(token=f"tok{n}", data={"n": str(n)}) for n in range(100)])))
        step("send_each, 3 good 2 bad", lambda: batch(messaging.send_each(
            [messaging.Message(token=token, data={"a": "b"})
             for token in ["tok1", "err-UNREGISTERED", "tok2", "err-INVALID_ARGUMENT", "tok3"]])))
        step("send_each_for_multicast of 500", lambda: batch(messaging.send_each_for_multicast(
            messaging.MulticastMessage([f"tok{n}" for n in range(500)], data={"a": "b"}))))
        step("subscribe_to_topic 3 tokens", lambda: topics(messaging.subscribe_to_topic(["a:b/c", "tok2", "tok3"], "news")))
        step("unsubscribe_from_topic", lambda: topics(messaging.unsubscribe_from_topic(["a:b/c", "tok2"], "news")))
        if slow:
            step("subscribe errors", lambda: topics(messaging.subscribe_to_topic(
                ["err-UNREGISTERED", "err-INVALID_ARGUMENT", "err-409", "err-QUOTA_EXCEEDED", "err-INTERNAL", "tok"], "news")))
        for name in QUICK + (WAITING if slow else []):
            step(f"error {name}", lambda: messaging.send(messaging.Message(token=f"err-{name}", data={"a": "b"})))
        step("client-side: reserved key", lambda: messaging.send(messaging.Message(token="tok1", data={"from": "x"})))
        step("client-side: 5000 bytes", lambda: messaging.send(messaging.Message(token="tok1", data={"a": "x" * 5000})))
        step("client-side: no target", lambda: messaging.send(messaging.Message(data={"a": "b"})))
        step("client-side: non-string value", lambda: messaging.send(messaging.Message(token="t", data={"a": 1})))
    else:
        step("send", lambda: messaging.send(messaging.Message(token="tok1", data={"a": "b"})))
        step("send_each of 20", lambda: batch(messaging.send_each(
            [messaging.Message(token=f"tok{n}", data={"n": str(n)}) for n in range(20)])))
        three = [messaging.Message(token=f"tok{n}", data={"n": str(n)}) for n in range(3)]
        step("send_all of 3 (deprecated, multipart /batch)", lambda: batch(messaging.send_all(three)))
        step("send_multicast of 3 (deprecated, multipart /batch)", lambda: batch(messaging.send_multicast(
            messaging.MulticastMessage(["a", "b", "c"], data={"a": "b"}))))
        step("subscribe_to_topic (IID batchAdd)", lambda: topics(messaging.subscribe_to_topic(
            ["tok1", "err-NOT_FOUND", "tok2"], "news")))
        step("unsubscribe_from_topic (IID batchRemove)", lambda: topics(messaging.unsubscribe_from_topic(["tok1"], "news")))


def firebase_async():
    import firebase_admin
    from firebase_admin import credentials, messaging

    firebase_admin.initialize_app(credentials.Certificate(f"{keys}/account.json"))
    step("send", lambda: messaging.send(messaging.Message(token="tok1", data={"a": "b"})))
    step("send_each_async of 100", lambda: batch(asyncio.run(messaging.send_each_async(
        [messaging.Message(token=f"tok{n}", data={"n": str(n)}) for n in range(100)]))))


def pyfcm():
    from pyfcm import FCMNotification

    push = FCMNotification(service_account_file=f"{keys}/account.json", project_id="demo")
    step("notify", lambda: push.notify(fcm_token="tok1", notification_title="t", notification_body="b"))
    step("notify, dry_run", lambda: push.notify(fcm_token="tok1", notification_title="t", dry_run=True))
    step("notify, topic", lambda: push.notify(topic_name="news", notification_title="t"))
    step("notify, condition", lambda: push.notify(topic_condition="'a' in topics", notification_title="t"))
    for name in ["UNREGISTERED", "BADREQUEST", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED", "THIRD_PARTY_AUTH_ERROR",
                 "INTERNAL", "401"]:
        step(f"error {name}", lambda: push.notify(fcm_token=f"err-{name}", notification_title="t"))


def google_api():
    import google.oauth2.service_account
    import googleapiclient.discovery

    credentials = google.oauth2.service_account.Credentials.from_service_account_file(
        f"{keys}/account.json", scopes=["https://www.googleapis.com/auth/firebase.messaging"])
    service = googleapiclient.discovery.build("fcm", "v1", credentials=credentials, static_discovery=True)
    messages = service.projects().messages()

    def send(token, **more):
        return messages.send(parent="projects/demo", body={"message": {"token": token, "data": {"a": "b"}}} | more)

    step("send", lambda: send("tok1").execute())
    step("send, validate_only, camelCase", lambda: send("tok1", validateOnly=True).execute())
    step("send, topic", lambda: messages.send(
        parent="projects/demo", body={"message": {"topic": "news", "data": {"a": "b"}}}).execute())
    for name in ["UNREGISTERED", "BADREQUEST", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED", "THIRD_PARTY_AUTH_ERROR",
                 "UNAVAILABLE", "INTERNAL", "401"]:
        step(f"error {name}", lambda: send(f"err-{name}").execute())
    if slow:
        step("error UNAVAILABLE, num_retries=2", lambda: send("err-UNAVAILABLE").execute(num_retries=2))


def aioapns():
    import aioapns as apns

    async def run():
        def key(**more):
            return apns.APNs(key=open(f"{keys}/AuthKey.p8").read(), key_id="KEYID12345", team_id="TEAMID1234",
                             topic="com.example.shop", **more)

        client = key(use_sandbox=False)

        async def send(name, token="a" * 64, message=None, **more):
            before = requests_so_far()
            told = {"step": name}
            request = apns.NotificationRequest(
                device_token=token, message=message or {"aps": {"alert": "hi", "badge": 1}}, **more)
            answer = await asyncio.wait_for(client.send_notification(request), 20)
            told["returned"] = {"status": answer.status, "description": answer.description}
            told["echoed"] = answer.notification_id == request.notification_id
            told["requests"] = requests_so_far() - before
            print(json.dumps(told), flush=True)

        await send("alert")
        await send("all headers", time_to_live=60, priority=10, collapse_key="c")
        await send("background", message={"aps": {"content-available": 1}}, priority=5, push_type=apns.PushType.BACKGROUND)
        await send("voip", message={"call": 1}, push_type=apns.PushType.VOIP)
        await send("live activity", message={"aps": {"event": "update", "timestamp": 1, "content-state": {}}},
                   push_type=apns.PushType.LIVEACTIVITY)
        before = requests_so_far()
        answers = await asyncio.wait_for(asyncio.gather(*[
            client.send_notification(apns.NotificationRequest(
                device_token=f"{n:064x}", message={"aps": {"alert": str(n)}})) for n in range(100)]), 60)
        print(json.dumps({"step": "100 at once", "returned": sum(answer.is_successful for answer in answers),
                          "requests": requests_so_far() - before}), flush=True)
        for name in ["BadDeviceToken", "DeviceTokenNotForTopic", "TopicDisallowed", "ExpiredProviderToken",
                     "InvalidProviderToken", "Unregistered", "ExpiredToken", "PayloadTooLarge", "TooManyRequests",
                     "InternalServerError", "ServiceUnavailable"]:
            await send(f"error {name}", token=f"err-{name}")
        client = apns.APNs(client_cert=f"{keys}/client.pem", topic="com.example.shop", use_sandbox=False)
        await send("client certificate")

    asyncio.run(run())


{"firebase-admin": firebase, "firebase-admin-old": lambda: firebase(True), "firebase-admin-async": firebase_async,
 "pyfcm": pyfcm, "google-api": google_api, "aioapns": aioapns}[client]()
