import TestSupport
import Testing

@testable import PushModel

/// Code, logs and answers that people paste, explained by the real program.
@Suite("pushctl, what people paste", .timeLimit(.minutes(30)))
struct PushctlPasteTests {
    private func explain(_ text: String, _ more: String...) -> Program.Result {
        pushctl.run(["explain", "--config", shippedConfiguration] + more + ["-"], input: Array(text.utf8))
    }

    @Test(
        "names a variable whose value a key needs, and leaves the key out",
        arguments: [
            ("fcm.send({ to: t, priority: p, notification: { title: 'A' } });\n", "priority is a variable, p: "),
            (
                "fcm.send({ to: t, content_available: silent, notification: { title: 'A' } });\n",
                "content_available is a variable, silent: its value is not known, and it is left out"
            ),
            (
                "const message = { token: t, notification: { title: 'A' }, android: { priority: a ? 'high' : 'normal' } };\n",
                "priority is a variable, a ? 'high' : 'normal': "
            ),
            (
                "const message = { token: t, apns: { headers: { 'apns-priority': p }, payload: { aps: { alert: 'A' } } } };\n",
                "apns-priority is a variable, p: "
            ),
            ("{\"aps\":{\"alert\":\"A\",\"badge\":$badge}}\n", "badge is a variable, $badge: "),
            (
                "curl -d '{\"aps\":{\"alert\":\"A\"}}' -H \"apns-push-type: $TYPE\" -H 'apns-topic: a' --http2 https://api.push.apple.com/3/device/00\n",
                "apns-push-type is a variable, $TYPE: "
            ),
            (
                "fcm.send({ registration_ids: tokens, notification: notification });\n",
                "notification is a variable, notification: its members are not known"
            ),
            ("{\"to\":\"t\",\"notification\":$note}\n", "notification is a variable, $note: its members are not known"),
        ])
    func variables(_ text: String, _ words: String) {
        let result = explain(text)
        #expect(result.end == .exited(0) && result.errors.has(words), "\(result.errors)")
        #expect(result.output.has("the system shows it: \""), "\(result.output)")
        #expect(!result.output.has("Warnings") && !result.errors.has("refuses"), "\(result.output)\(result.errors)")
    }

    @Test(
        "keeps a word that the key takes, and a number in which somebody marked something",
        arguments: [
            ("{\"to\":\"t\",\"priority\":high,\"data\":{\"a\":\"b\"}}\n", "priority high"),
            ("{\n\"aps\": {\n\"alert\": \"A\",\n**\"content-available\": 1**\n}\n}\n", "didReceiveRemoteNotification"),
            (
                "m := &messaging.Message{Token: t, Data: map[string]string{\"a\": \"b\"}, Android: &messaging.AndroidConfig{Priority: \"high\", Notification: &messaging.AndroidNotification{Title: \"A\", Visibility: messaging.VisibilityPublic, Priority: messaging.PriorityHigh}}}\n",
                "the system shows it: \"A\""
            ),
        ])
    func wordsOfCode(_ text: String, _ words: String) {
        let result = explain(text)
        #expect(result.output.has(words) && !result.errors.has("is a variable"), "\(result.output)\(result.errors)")
    }

    @Test(
        "finds the value of a variable above, whatever brackets and lines it has",
        arguments: [
            "$msg = array('title' => 'Here', 'body' => 'B');\n$f = array('to' => $t, 'notification' => $msg);\n",
            "$msg = array\n(\n  'title' => 'Here',\n  'body' => 'B'\n);\n$f = array\n(\n  'to' => $t,\n  'notification' => $msg\n);\n",
            "$n = Notification::create('Here', 'B');\n$m = CloudMessage::withTarget('token', $t)->withNotification($n);\n",
            "var a = { title: 'Here' };\nfcm.send({ to: t, notification: { title: a.title, body: 'B' } });\n",
        ])
    func valuesAbove(_ text: String) {
        let result = explain(text)
        #expect(result.output.has("the system shows it: \"Here\", \"B\""), "\(result.output)\(result.errors)")
    }

    @Test("knows the names that firebase-admin has for keys of the API, in each language")
    func firebaseAdmin() {
        let alerts = [
            "{ titleLocKey: 'T', locKey: 'L', launchImage: 'i' }", "{ 'title_loc_key': 'T', 'loc_key': 'L' }",
            "{ titleLocalizationKey: 'T', localizationKey: 'L' }",
        ]
        for alert in alerts {
            let code = "const message = { token: t, apns: { payload: { aps: { alert: \(alert) } } } };\n"
            let result = explain(code)
            #expect(result.output.has("with the text that the app has for T and L"), "\(result.output)")
            #expect(result.errors.has("using ios, for apns is its only part"), "\(result.errors)")
            #expect(!result.output.has("no key of Apple's"), "\(result.output)")
        }
        let block = """
            titleLocKey: 'T', priority: 'high', visibility: 'private', eventTimestamp: now, vibrateTimingsMillis: [1], \
            lightSettings: { color: '#aabbcc' }
            """
        let android = explain("const message = { token: t, android: { notification: { \(block) } } };\n")
        #expect(android.end == .exited(0), "\(android.errors)")
        #expect(android.output.has("with the text that the app has for T"), "\(android.output)")
        // The API itself has no such names.
        let plain = "{\"message\":{\"token\":\"t\",\"android\":{\"notification\":{\"priority\":\"high\"}}}}\n"
        #expect(explain(plain).errors.has("Unknown name"), "\(explain(plain).errors)")
        let only = explain("{\"message\":{\"token\":\"t\",\"webpush\":{\"notification\":{\"title\":\"A\"}}}}\n")
        #expect(only.errors.has("using web, for webpush is its only part"), "\(only.errors)")
    }

    @Test(
        "says what a text without a push is",
        arguments: [
            ("#0 index.php(24): send() #1 {main} thrown\n", "1 line of text without a push"),
            ("The payload {title} is sent to {user}\n", "1 line of text without a push"),
            ("[HTTP/1.1 200 OK\nServer: x\n", "2 lines of text without a push"),
            ("[Braze] push received\n", "1 line of text without a push"),
            (
                "[FirebaseMessagingError: x] {\n  errorInfo: { code: 'messaging/mismatched-credential' }\n}\n",
                "another Firebase project"
            ),
            ("{\"level\":\"error\",\"time\":\"2017/05/18 09:06:43\",\"message\":\"x\"}\n", "the record of a log"),
            ("{\"@timestamp\":\"x\",\"message\":\"y\"}\n", "the record of a log"),
            ("{\"error\":\"mismatched sender id\",\"status\":\"FAIL\"}\n", "the answer of a server"),
            ("{\"reason\":\"AccessTokenExpired\"}\n", "the answer of Amazon Device Messaging"),
            ("{\"notifications\":[{\"token\":[\"t\"],\"platform\":2,\"message\":\"x\"}]}\n", "a send body for gaurun"),
            ("{\"method\":\"POST\",\"url\":\"https://x\",\"headers\":{\"a\":\"b\"}}\n", "a request without its body"),
            ("{\"reason\":\"x\",\"notification\":{\"_deviceToken\":\"a\",\"_options\":{}}}\n", "no push that is known"),
            ("I/A: Intent { act=android.intent.action.VIEW (has extras) }\n", "1 line of a log without a push"),
            ("I/A: Intent { act=com.google.android.c2dm.intent.RECEIVE (has extras) }\n", "without its content"),
            ("\"ExponentPushToken[x]\" is not a registered push notification recipient\n", "Expo delivered nothing"),
            ("http.client.BadStatusLine: Unexpected HTTP/1.x request: POST /3/device/0\n", "the client speaks HTTP/1"),
            ("{\"command\":8,\"status\":7,\"identifier\":0}\n", "an error of APNs' binary protocol"),
            (
                "{:body=>\"{\\\"success\\\":0,\\\"failure\\\":1,\\\"results\\\":[{\\\"error\\\":\\\"InvalidRegistration\\\"}],\\\"multicast_id\\\":1}\", :status_code=>200}\n",
                "the answer of FCM"
            ),
            ("{\"now\":{\"rejectionReason\":\"DeviceTokenNotForTopic\"},\"success\":true}\n", "DeviceTokenNotForTopic"),
            ("Operation is not implemented, or supported, or enabled.\n", "sendEachForMulticast"),
            ("void push(String a) { }\n", "source code"),
            ("curl https://api-push.vivo.com.cn/message/send -d '{\"title\":\"A\"}'\n", "the push service of vivo"),
        ])
    func withoutPush(_ text: String, _ words: String) {
        let result = explain(text)
        #expect(result.end == .exited(65) && result.errors.has(words), "\(result.errors)\(result.output)")
    }

    @Test(
        "reads what code, logs and plugins print",
        arguments: [
            // Doubled quotation marks.
            (#"var s = @"{""to"":""t"",""notification"":{""title"":""A""}}";"#, "android", "shown_by_system"),
            (#""{""aps"":{""alert"":""A"",""badge"":1}}""#, "ios", "shown_by_system"),
            // Code that sends web pushes and requests.
            ("webpush.sendNotification(s, JSON.stringify({ title: 'A' }), { TTL: 60 });", "web", nil),
            ("const p = JSON.stringify({ title: 'A' });\nwebpush.sendNotification(s, p);", "web", nil),
            (
                "fetch(u, {method:'POST', body: JSON.stringify({message:{token:'t',notification:{title:'A'}}})})",
                "android", "shown_by_system"
            ),
            ("body: JSON.stringify({to:'ExponentPushToken[x]',title:'A'})", "android", nil),
            // Members and extras without the brackets around them.
            ("\"data\": {\"_ab\":\"true\"}", "android", nil), ("Key: _ab Value: true\nKey: t Value: A", "android", nil),
            ("key = _ab, value = true\nkey = t, value = A", "android", nil),
            // An intent's action, and the extras of a tap.
            (
                "Intent { act=com.google.android.c2dm.intent.REGISTRATION (has extras) } Bundle[{registration_id=x}]",
                "android", "swallowed"
            ),
            (
                "Bundle[{from=1, google.message_id=0:1, gcm.n.analytics_data=Bundle[{google.c.a.e=1}], k=v}]",
                "android",
                "shown_by_system"
            ),
            // Java's map with others in it.
            ("{aps={alert=A, badge=1}}", "ios", "shown_by_system"),
            // The headers of a request before its body.
            ("POST /3/device/0 HTTP/2\napns-push-type: location\n\n{\"aps\":{}}", "ios", "swallowed"),
            // Huawei's data is a text.
            ("{\"remoteMessage\":{\"data\":\"{\\\"_ab\\\":\\\"true\\\"}\",\"messageId\":\"m\"}}", "android", nil),
        ])
    func printed(_ text: String, _ platform: String, _ outcome: String?) throws {
        let result = explain(text + "\n", "--json")
        let line = try #require(result.lines.first, "\(result.errors)")
        #expect(result.lines.count == 1 && result.end == .exited(0), "\(result.errors)")
        #expect(try json(line)["platform"]?.string == platform, "\(line)")
        #expect(try outcome == nil || json(line)["outcome"]?.string == outcome, "\(line)")
        if text.has("_ab") { #expect(try json(line)["provider"]?.string == "braze", "\(line)") }
        if text.has("remoteMessage") { #expect(try json(line)["transport"]?.string == "hms") }
    }

    @Test(
        "takes no word, number or name for what it only resembles",
        arguments: [
            // The action of an intent that FCM's service never gets, and of a tap with an action of the app's own.
            (
                "Intent { act=com.braze.push.intent.NOTIFICATION_OPENED (has extras) } Bundle[{cid=c, _ab=true, t=Hi, a=x}]",
                "a Braze push, visible"
            ),
            (
                "Intent { act=OPEN_ORDER (has extras) } Bundle[{from=1, google.message_id=0:1, gcm.n.analytics_data=Bundle[{}]}]",
                "the system shows it"
            ),
            // A variable whose name is a part of other words.
            ("const n = { token: t, notification: { title: 'Hi' } };\nwebpush.sendNotification(s, o);", "android, app"),
            ("data = json.dumps({\"title\": \"Hi\"})\nwebpush(s, data=data, vapid_claims={\"sub\": \"m\"})", "\"Hi\""),
            // A sentence that begins with the name of a header.
            ("apns-push-type is missing in my request\n{\"aps\":{\"alert\":\"Hi\"}}", "the system shows it: \"Hi\""),
            ("apns-priority: $PRIO\n{\"aps\":{\"alert\":\"Hi\"}}", "the system shows it: \"Hi\""),
            // A text beside its key, and the key of another platform.
            (
                "{\"message\":{\"token\":\"t\",\"notification\":{\"body\":\"Hi\"},\"android\":{\"notification\":{\"body_loc_key\":\"K\"}},\"apns\":{\"payload\":{\"aps\":{\"alert\":{\"loc-key\":\"L\"}}}}}}",
                "the system shows it: \"Hi\"\n"
            ),
            // Members with a colon, whose texts have escapes.
            ("_ab: \"true\"\nt: \"He said \\\"Hi\\\"\"\na: \"x\"", "He said \"Hi\""),
            // Numbers in calls and calculations.
            ("const p = {\n  aps: { 'content-available': int(1) }\n};", "didReceiveRemoteNotification"),
            (
                "const p = {\n  aps: { alert: 'Hi', sound: { name: 'a', volume: 80/100 } }\n};",
                "the system shows it: \"Hi\""
            ),
            (
                "fcm.send({ to: t, time_to_live: 86_400 * 2, notification: { title: 'Hi' } });",
                "the system shows it: \"Hi\""
            ),
            ("const p = {\n  aps: { alert: 'Hi', badge: counts.max }\n};", "the system shows it: \"Hi\""),
            // Data of the app's own.
            ("Received push: {\"order\":{\"id\":\"1\"},\"kind\":\"x\"}", "FCM calls onMessageReceived"),
            ("{message={text=Hi}, id=5}", "FCM calls onMessageReceived"),
            ("{\"to\":\"t\",\"data\":{\"data\":$data,\"title\":\"Hi\"}}", "if your code shows it: \"Hi\""),
            (
                "{\"title\":\"Hi\",\"body\":\"{\\\"notification\\\":{\\\"title\\\":\\\"x\\\"}}\"}",
                "if your code shows it: \"Hi\""
            ),
            (
                "message = Message.builder().setToken(t).setApnsConfig(ApnsConfig.builder().setAps(Aps.builder().setAlert(\"Hi\").setBadge(count).build()).build()).build();",
                "the system shows it: \"Hi\""
            ),
        ])
    func lookalikes(_ text: String, _ words: String) {
        let result = explain(text + "\n")
        #expect(result.end == .exited(0) && result.output.has(words), "\(result.output)\(result.errors)")
        #expect(!result.output.has("refuses it") && !result.output.has("aps.badge is null"), "\(result.output)")
        #expect(!result.output.has("864002"), "a calculation is no number")
    }

    @Test("says that a command speaks HTTP/1 to APNs")
    func http1() {
        for option in ["--http1.1", "-0"] {
            let command =
                "curl \(option) -H 'apns-topic: a' -d '{\"aps\":{\"alert\":\"A\"}}' https://api.push.apple.com/3/device/0\n"
            #expect(explain(command).errors.has("APNs HTTP/2 alone: use --http2"), "\(explain(command).errors)")
        }
    }

    @Test("reads the priorities of React Native Firebase, which are numbers")
    func priorities() {
        let message =
            "{\"data\":{\"a\":\"b\"},\"originalPriority\":1,\"priority\":2,\"messageId\":\"m\",\"from\":\"1\"}\n"
        #expect(explain(message).output.has("priority high, delivered as normal"), "\(explain(message).output)")
    }

    @Test(
        "puts parts together that code gives the members of one object",
        arguments: [
            "p['notification'] = {'title':'Hi','body':'B'}\n",
            "m = {\"data\": {\"a\": \"b\"}, \"token\": t}\nm[\"notification\"] = {\"title\": \"Hi\", \"body\": \"B\"}\nsend(m)\n",
            "message = { data: { a: 'b' }, token: t };\nmessage.notification = { title: 'Hi', body: 'B' };\n",
            "#<FCM:0x1>\noptions = { notification: { title: \"Hi\", body: \"B\" } }\n",
            "send(Message(notification=Notification(title='Hi', body='B')))\n",
            "{\"google.message_id\":\"0:1\",\"notification\":\"Bundle[{body=B, title=Hi}]\"}\n",
        ])
    func parts(_ text: String) {
        let result = explain(text)
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.output.has("the system shows it: \"Hi\", \"B\""), "\(result.output)")
        #expect(!result.output.has("onMessageReceived, whatever"), "one push, and no data message")
    }

    @Test(
        "takes no object of other code, of a log or of another service for a push",
        arguments: [
            ("void push({String a}) { }\n", "source code"), ("void sendPush({a}) { }\n", "source code"),
            ("const push = ({ title, body }) => {\n  log(title);\n};\n", "source code"),
            ("var o = new Options()\n{\n  A = \"b\",\n  C = \"d\"\n};\n", "source code"),
            ("payload = {}\n", "no payload in it"), ("p['notification'] = {}\n", "no payload in it"),
            ("[message_id: nil]\n", "nothing but null"),
            ("error status: 404; reason: x; response: y\n", "no payload in it"),
            (
                "{\"event\":\"start\",\"activity_id\":\"x\",\"event_updates\":{\"data\":{}},\"contents\":{\"en\":\"M\"}}\n",
                "OneSignal for a Live Activity"
            ),
            ("exemple: {\n\"app_id\": \"5\",\n\"contents\": {\"en\": \"M\"}\n}\n", "a send body for OneSignal"),
            (
                "{\"app_id\":\"5\",\"notifications\":[{\"include_player_ids\":\"6\",\"contents\":{\"en\":\"M\"}}]}\n",
                "takes one notification, and no list"
            ),
            ("{\"request\":{\"application\":\"B6E59\",\"hwid\":\"x\"}}\n", "Pushwoosh's SDK"),
            (
                "Pushwoosh: | Response: {\"status_code\":200,\"status_message\":\"OK\",\"response\":null}\n",
                "an answer of Pushwoosh"
            ),
            (
                "Sending push action intent: Intent { act=com.braze.push.intent.NOTIFICATION_OPENED pkg=com.x }\n",
                "the user tapped a push of Braze's"
            ),
            ("service: notify.notify\ndata:\n  message: M\n  data:\n    ttl: 0\n", "Home Assistant"),
            (
                "config.Url = \"https://fcm.googleapis.com/fcm/send\";\nsend(\"x\");\n",
                "FCM's API before v1, which Google has been switching off"
            ),
            ("\"a\":false\n", "none of its keys is a push service's"),
        ])
    func noPush(_ text: String, _ words: String) {
        let result = explain(text)
        #expect(result.end == .exited(65) && result.output.isEmpty, "\(result.output)")
        #expect(result.errors.has(words), "\(result.errors)")
    }

    @Test(
        "names a key that a service does not know by the one that it resembles",
        arguments: [
            (
                "{\"message\":{\"android\":{\"urgence\":\"HIGH\",\"notification\":{\"important\":\"HIGH\",\"title\":\"T\",\"body\":\"B\",\"click_action\":{\"type\":3}}},\"token\":[\"t\"]}}\n",
                [
                    "android.urgence is no key of Huawei's (urgency is)",
                    "notification.important is no key of Huawei's (importance is)",
                ]
            ),
            (
                "{\"to\":\"ExponentPushToken[x]\",\"title\":\"T\",\"content-available\":1}\n",
                ["content-available is no key of Expo's (_contentAvailable is)"]
            ),
        ])
    func keysOfServices(_ text: String, _ words: [String]) {
        let errors = explain(text).errors
        for word in words { #expect(errors.has(word), "\(errors)") }
    }

    @Test("reads what people write beside JSON: notes behind values, arrows, values of constants")
    func notes() {
        let noted = explain(
            "{\n  \"to\": \"t\",\n  \"ttl\": 5 (int),\n  \"data\": {\"a\": \"b\"},   <-- the id\n  \"notification\": {\"title\": \"Hi (x)\"}\n}\n"
        )
        #expect(noted.output.has("the system shows it: \"Hi (x)\""), "\(noted.output)\(noted.errors)")
        #expect(noted.errors.has(":3: (int) behind a value is no JSON: left out"), "\(noted.errors)")
        let constant = explain(
            "const ttl = 3600;\nconst message = {\n token: t, notification: { title: 'A' }, android: { ttl: ttl }\n};\n"
        )
        #expect(constant.output.has("ttl 3 s") && !constant.errors.has("is a variable"), "\(constant.errors)")
    }

    @Test("tells that a log has one message twice, and what a token of Expo with a title alone shows")
    func oncePrinted() {
        let log =
            "A: Bundle[{pw_msg=1, title=T, google.message_id=0:17%a}]\nB: Bundle[{pw_msg=1, title=T, google.message_id=0:17%a}]\n"
        #expect(explain(log).errors.has(":2: the message of standard input:1 again"), "\(explain(log).errors)")
        let expo = explain("{\"to\":\"ExponentPushToken[x]\",\"title\":\"T\"}\n", "--platform", "android")
        #expect(expo.output.has("the SDK shows it: \"T\""), "\(expo.output)")
        let ios = explain("{\"notification\":{\"title\":\"T\"}}\n", "--platform", "ios")
        #expect(ios.output.has("the system shows it: \"T\""), "\(ios.output)")
        let web = explain(
            "WebPushError: x { statusCode: 410, body: '{\"reason\":\"Unregistered\",\"timestamp\":17}' }\n")
        #expect(web.errors.has("no such subscription any more") && !web.errors.has("an app that was removed"))
    }

    @Test(
        "joins no parts of different messages, and takes no member of another object for a part",
        arguments: [
            ("config.data = {\"to\":\"t\",\"notification\":{\"title\":\"Hi\"}}\n", ["the system shows it: \"Hi\""], []),
            ("e.data = {\"type\":\"PUSH\",\"payload\":{\"aps\":{\"alert\":\"Hi\"}}}\n", ["ios, app", "\"Hi\""], []),
            ("p.aps = { alert = \"Hi\"; badge = 1; }\n", ["ios, app", "\"Hi\""], ["no key of Apple's"]),
            ("remoteMessage.data = {title=Hi, body=B}\n", ["\"Hi\", \"B\""], ["data.data"]),
            (
                "p['notification'] = {'title': 'One'}\nsend(p)\np['notification'] = {'title': 'Two'}\n",
                ["the system shows it: \"One\"", "the system shows it: \"Two\""], []
            ),
            (
                "def ios():\n    p['aps'] = {'alert': 'One'}\ndef android():\n    p['notification'] = {'title': 'Two'}\n",
                ["ios, app", "\"One\"", "\"Two\""], []
            ),
            ("p['notification'] = {'title': 'Hi'}\np['data'] = {**extra}\n", ["the system shows it: \"Hi\""], []),
            (
                "p['notification'] = {'title': 'Hi'}\np['data'] = {k: v for k, v in d.items()}\n",
                ["the system shows it: \"Hi\""], ["data.data", "does not get the data"]
            ),
            (
                "{\"google.message_id\":\"0:1\",\"notification\":\"{\\\"title\\\":\\\"A\\\",\\\"body\\\":\\\"B\\\"}\"}\n",
                ["FCM calls onMessageReceived"], ["the system shows"]
            ),
            ("{\n  notification = { title = \"Hi\" },\n  data = { k = \"v\" },\n}\n", ["android, app", "\"Hi\""], []),
            ("Received push data = {}\n", ["FCM calls onMessageReceived"], []),
            ("handle(context, {\"_ab\":\"true\",\"t\":\"Hi\",\"a\":\"B\"}) { }\n", ["a Braze push"], []),
            (
                "{\"to\":\"t\",\"notification\":{\"title\":\"Hi\",\"click_action\":\"\"}}\n",
                ["the system shows it"], ["intent filter"]
            ),
        ])
    func otherObjects(_ text: String, _ words: [String], _ others: [String]) {
        let result = explain(text)
        for word in words { #expect(result.output.has(word), "\(result.output)\(result.errors)") }
        for word in others { #expect(!result.output.has(word), "\(result.output)\(result.errors)") }
    }

    @Test(
        "keeps the answer for what looks like another service's, a constant or an old address",
        arguments: [
            (
                "{\"request\":{\"application\":\"X-1\",\"auth\":\"a\",\"notifications\":[{\"content\":\"A\"}]}}\n",
                "a send body for Pushwoosh"
            ),
            ("kafka.send(Message(topic=\"orders\", value=\"x\"))\n", "source code"),
            ("#<FCM:0x1>, response: {:body=>\"x\", :status_code=>404}\n", "an object that Ruby inspected"),
            (
                "let silent = 0;\nsilent += 1;\nconst p = {aps: {alert: 'A', 'content-available': silent}};\n",
                "its value is not known"
            ),
            ("\"properties\": {\n \"aps-environment\": \"production\"\n}\n", "not JSON"),
        ])
    func oldAnswers(_ text: String, _ words: String) {
        let result = explain(text)
        #expect(result.errors.has(words), "\(result.output)\(result.errors)")
    }

    @Test(
        "knows an argument by its name, a body in any line of a log, and the texts of Pinpoint",
        arguments: [
            ("notification={'title': 'Hi'}\n", "the system shows it: \"Hi\""),
            ("push(notification: {title: \"Hi\"})\n", "the system shows it: \"Hi\""),
            ("notification: %{title: \"Hi\"}\n", "the system shows it: \"Hi\""),
            ("%{notification: %{title: \"Hi\"}}\n", "the system shows it: \"Hi\""),
            ("x {\"message\":{\"token\":\"a\",\"data\":{\"title\":\"Hi\"}}}\n", "if your code shows it: \"Hi\""),
            (
                "{\"level\":\"debug\",\"msg\":\"x {\\\"message\\\":{\\\"token\\\":\\\"a\\\",\\\"data\\\":{\\\"title\\\":\\\"Hi\\\"}}}\",\"time\":\"2024-04-26T10:58:22Z\"}\n",
                "if your code shows it: \"Hi\""
            ),
            ("Bundle[{pinpoint.notification.title=Hi}]\n", "the SDK shows it: \"Hi\""),
            ("Bundle[{pinpoint.notification.title=Hi, pinpoint.notification.silentPush=1}]\n", "nothing is shown"),
        ])
    func names(_ text: String, _ words: String) {
        let result = explain(text)
        #expect(result.end == .exited(0) && result.output.has(words), "\(result.output)\(result.errors)")
    }

    @Test(
        "names records of logs, events of JPush, terms of Erlang, and members that somebody left out",
        arguments: [
            ("{\"level\":\"debug\",\"msg\":\"hi\",\"time\":\"t\"}\n", "the record of a log"),
            ("{ extras: '{\"a\":\"b\"}', alertContent: 'T', id: 1 }\n", "an event of JPush's plugin"),
            ("Sending message: [{<<\"data\">>,[{<<\"message\">>,<<\"test\">>}]}]\n", "a term that Erlang printed"),
            ("PushMetaInfo(id:1, title:T, description:D, passThrough:0, extra:{a=1})\n", "Xiaomi's MiPush"),
            ("{\"reason\":\"BadJwtToken\"}\n", "sub has to be mailto:"),
            (
                "{\"notification\":{\"title\":\"T\"},\"data\":{...}}\n",
                "stands for members that are left out"
            ),
        ])
    func others(_ text: String, _ words: String) {
        #expect(explain(text).errors.has(words), "\(explain(text).errors)")
    }
}
