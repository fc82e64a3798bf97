import TestSupport
import Testing

@testable import PushModel

/// The messages that all commands have about payload files, tested with `explain`.
@Suite("pushctl, its input files", .timeLimit(.minutes(30)))
struct PushctlInputTests {
    private func explain(_ operand: String, input: String = "") -> Program.Result {
        let arguments = ["explain", "--json", "--platform", "android", "--config", shippedConfiguration, operand]
        return pushctl.run(arguments, input: Array(input.utf8))
    }

    @Test(
        "names line and column of a JSON error, counting characters",
        arguments: [
            ("{\"a\":1,}", "1:8: not JSON: "),
            ("{\n  \"a\": 1\n  \"b\": 2\n}\n", "3:3: not JSON: "),
            ("{\n  \"a\": \"\u{E9}\u{1F600}\" 1\n}\n", "2:13: not JSON: "),
            ("{\"a\":1}\n{\"b\":}\n", "2:6: not JSON: "),
            ("\n\n{\n\"a\":nul}", "4:5: not JSON: "),
            ("{\"a\":1", "1:7: not JSON: "),
            ("{\n\"a\":1\n", "3:1: not JSON: "),
            ("{\u{201C}a\u{201D}:1}", "1:2: not JSON: "),
            ("{\"a\":1,\"a\":2}", "1:8: not JSON: "),
            ("{\"a\":1} {\"b\":1}", "1:9: not JSON: "),
            ("[", "1:2: not JSON: "),
            ("{}\n7\n", "2:1: not an object: "),
            ("", " there is no payload in it"),
            ("\n \t\r\n", " there is no payload in it"),
        ])
    func malformed(_ text: String, _ place: String) {
        let directory = TemporaryDirectory()
        let path = directory.path + "/push.json"
        writeFile(text, to: path)
        let result = explain(path)
        #expect(result.end == .exited(65))
        #expect(result.errors.hasPrefix("pushctl: \(path):\(place)"), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "it is said once: \(result.errors)")
        #expect(explain("-", input: text).errors.hasPrefix("pushctl: standard input:\(place)"))
    }

    @Test("says why a file cannot be read")
    func unreadable() {
        #expect(explain("/nowhere/x.json").errors == "pushctl: /nowhere/x.json: No such file or directory\n")
        #expect(explain("/nowhere/x.json").end == .exited(66))
        let directory = pushctl.run(["inject", "/etc"])
        #expect(directory.errors.hasPrefix("pushctl: /etc: Is a directory\n"))
        #expect(directory.end == .exited(66))
    }

    @Test("takes an object on many lines, with or without a line feed at the end, and with carriage returns")
    func manyLines() throws {
        for text in ["{\n  \"_ab\": \"true\"\n}", "{\r\n  \"_ab\": \"true\"\r\n}\r\n", "\n{ \"_ab\" :\n\"true\" }\n\n"]
        {
            #expect(try json(explain("-", input: text).output)["provider"]?.string == "braze")
        }
    }

    @Test("takes each element of an array, names its place, and continues after one that is not an object")
    func array() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/push.json"
        writeFile("\u{FEFF}[\n{\"_ab\":\"true\"},\n7,\n{\"a\":\n\"b\"}]\n", to: path)
        let result = explain(path)
        #expect(result.end == .exited(65))
        #expect(try result.lines.map { try json($0)["provider"]?.string } == ["braze", nil])
        #expect(
            result.errors == "pushctl: \(path): read as an array of payloads\n"
                + "pushctl: \(path)[1]: not an object: a payload is a JSON object\n")
        let text = pushctl.run(["explain", "--config", shippedConfiguration, "--platform", "android", path])
        #expect(text.output.hasPrefix("\(path)[0]: a Braze push"))
        let many = explain("-", input: "{}\n[{},{}]\n[]\n{}")
        #expect(many.lines.count == 4)
        #expect(many.errors.hasSuffix("pushctl: standard input:3: an array without a payload\n"))
    }

    @Test("takes the Bundles in a log, and counts the other lines")
    func log() throws {
        let header = "11-25 12:00:00.123  1234  1234 I Braze v30.0.0 .Push: "
        let input =
            "--------- beginning of main\n\(header)hello\n\(header)extras Bundle[{_ab=true, cid=abc, t=T, a=20 % off}]\n"
            + "\(header)bye\n\(header)Bundle[{a=b\n{\"_ab\":\"true\"}\n"
        let result = explain("-", input: input)
        #expect(try result.lines.map { try json($0)["provider"]?.string } == ["braze", "braze"])
        #expect(try json(result.lines[0])["braze"]?["campaign_id"]?.string == "abc")
        #expect(
            result.errors.split(separator: "\n").map { $0.prefix(70) } == [
                "pushctl: standard input: read as the extras of a Bundle, as Android pr",
                "pushctl: standard input:5: the Bundle has no end }]: logcat cuts a lin",
                "pushctl: standard input: 3 lines without a payload left out",
            ])
        let dump = "  * Broadcast #0:\n    Intent { act=x (has extras) }\n      extras: Bundle[{_ab=true, t=T}]\n"
        let pasted = explain("-", input: "```\n\(dump)```\n")
        #expect(try pasted.lines.map { try json($0)["provider"]?.string } == ["braze"])
        let none = explain("-", input: "\(header)hello\n")
        #expect(
            none.errors
                == "pushctl: standard input: there is no payload in it: 1 line of a log without a push\n")
    }

    @Test("repairs what people paste, and says what it assumed; a check of templates does not")
    func repaired() throws {
        let text = "{\n  \"notification\": {\"title\": \"T\"}\n  \"to\": xxxx,\n  \"data\": {\"k\": \"v\"\n"
        let result = explain("-", input: text)
        #expect(result.end == .exited(0))
        #expect(try json(result.lines[0])["outcome"]?.string == "shown_by_system")
        #expect(result.errors.has("standard input:2: the comma at the end of this line is missing"))
        #expect(result.errors.has("standard input:3: xxxx is no value of JSON: read as a text"))
        #expect(result.errors.has("2 closing brackets are missing at the end"))
        let arguments = [
            "explain", "--config", shippedConfiguration, "--platform", "android", "--expect", "outcome=shown_by_system",
            "-",
        ]
        #expect(pushctl.run(arguments, input: Array(text.utf8)).end == .exited(65))
        let bare = explain("-", input: #"{"message":{"data":{"k":"v"}}}"#)
        #expect(bare.end == .exited(0) && bare.errors.has("a message of FCM v1 without its target"))
    }

    @Test("reads the part of an object, the members of one a line, and a call of Python")
    func parts() throws {
        let answer = explain(
            "-", input: "\"data\": {\n\"status\": \"error\",\n\"details\": {\"error\": \"DeviceNotRegistered\"}\n}\n")
        #expect(answer.end == .exited(65) && answer.errors.has("stop sending to it"))
        let members = explain("-", input: "from: \"1\"\ngoogle.message_id: \"0:1\"\n_ab: \"true\"\n")
        #expect(try json(members.lines[0])["provider"]?.string == "braze")
        let call =
            "message = messaging.Message(\n  android=messaging.AndroidConfig(channel_id=\"c\"),\n  topic=\"t\")\n"
        let python = explain("-", input: call)
        #expect(python.errors.has("message.android.notification.channel_id"))
        for part in [
            "\"notification\": {\n\"title\": \"T\"\n},\n", "'notification' => [\n  'title' => $this->t['a'],\n],\n",
            "const m = {\n  notification: { title, body },\n  data,\n};\n",
            "const o = {\n method: 'POST',\n body: JSON.stringify({\n  to, notification: { title: 'T' }\n })\n};\n",
            "m = messaging.Message(\n  notification=messaging.Notification(title='T'),\n  data=data, topic='t')\n",
        ] {
            let found = explain("-", input: part)
            #expect(found.end == .exited(0), "\(found.errors)")
            #expect(try json(found.lines[0])["outcome"]?.string == "shown_by_system")
            #expect(found.errors.has("data is a variable") == part.has("data"))
        }
    }

    @Test("reads a part of a message in source code, and goes on behind code to a text with escapes")
    func code() throws {
        let part =
            "apns: {\n  headers: { 'apns-priority': '5' },\n  // It's so\n\n  payload: { aps: { alert: { title: t.title } } },\n},\n"
        let found = explain("-", input: part)
        #expect(found.end == .exited(0) && found.errors.has("a part of a message in source code"))
        let code =
            "queue.Add(new ApnsNotification\n{\n  Tag = \"a\",\n  Payload = Parse(\"{\\\"aps\\\":{\\\"badge\\\":1}}\")\n});\n"
        let payload = explain("-", input: code)
        #expect(payload.end == .exited(0), "\(payload.errors)")
        #expect(payload.lines.count == 1 && payload.errors.has("read as JSON in a text with escapes"))
        let none = explain("-", input: "queue.Add(new Notification\n{\n  Tag = a.b(c),\n});\n")
        #expect(none.end == .exited(65) && none.errors.has("no payload in it"))
        let named = explain(
            "-", input: "var m = new Message()\n{\n  Token = token,\n  Priority = Priority.High,\n};\n")
        #expect(named.end == .exited(65) && named.errors.has("standard input:1: source code, not a push"))
    }

    @Test("says what a sentence of a log means, and finds a payload in source code")
    func sentences() throws {
        let sentence = explain("-", input: "x\n.Service: Remote message did not originate from Braze. Not consuming\n")
        #expect(sentence.end == .exited(65) && sentence.errors.has("standard input:2: Braze's service got a push"))
        let code =
            "<?php\n$message = '{ \"to\": \"t\",\n \"notification\": {\"title\": \"T\"}\n \"priority\": \"high\"\n}';\nsend($message);\n"
        let found = explain("-", input: code)
        #expect(try json(found.lines[0])["outcome"]?.string == "shown_by_system")
        let none = explain("-", input: "<?php\necho 1;\n")
        #expect(none.errors.has("source code, not a push"))
        let builder = explain("-", input: "$p = Payload::create()\n  ->setEvent('update')\n  ->setScore(7);\n")
        #expect(builder.errors.has("standard input:1: source code, not a push"))
        let log = explain(
            "-",
            input:
                "I/f ( 1): {\nI/f ( 1):  \"data\": {},\nI/f ( 1):  \"notification\": {\"title\": \"T\"}\nI/f ( 1): }\nx\n"
        )
        #expect(try json(log.lines[0])["outcome"]?.string == "shown_by_system", "\(log.errors)")
        let several = explain("-", input: "{\"notification\": {\"title\": \"T\"}}\nand\nlog: {\n\"aps\": {}\n}\n")
        #expect(
            several.lines.count == 2 && several.errors.has("1 line without a payload left out"), "\(several.errors)")
        let damaged = explain("-", input: "{\"data\":{}}\nbroken {\"data\":\n{\"data\":{}}\n")
        #expect(damaged.end == .exited(65) && damaged.errors.has("standard input:2:1: not JSON"), "\(damaged.errors)")
        let yaml = explain("-", input: "aps:\n  alert: Hi\n")
        #expect(yaml.end == .exited(65) && yaml.errors.has("YAML"))
        let argument = explain("-", input: "client.sendNotification(\n  {\n    en: 'T',\n  },\n);\n")
        #expect(argument.end == .exited(65) && argument.errors.has("standard input:1: source code, not a push"))
        let call = explain("-", input: "client.send(\n  {\n    data: { a: 'b' },\n  },\n);\n")
        #expect(call.end == .exited(0) && call.lines.count == 1, "\(call.errors)")
        let refused = explain("-", input: "const m = {\n  token: t,\n  topic: 'x',\n  data: { a: 'b' }\n}\n")
        #expect(refused.errors.has("it has token and topic"))
    }

    /// Texts of the kinds that public reports have; the platform and the outcome of an explanation, neither for a
    /// refusal; words of the notes or the error.
    private static let pastes: [(text: String, platform: String?, outcome: String?, words: String)] = [
        // Parts of source code.
        (
            "var n = new apn.Notification();\nn.payload = {\"a\": \"b\"};\nsend(n, device);\n", nil, nil,
            ":1: source code"
        ),
        ("send(id=i, message_title=\"T\", data_message={\"a\": \"b\"})\n", nil, nil, ":1: source code"),
        ("$n = new Notification(\n  'T',\n  'B',\n  ['a' => 1]\n);\n", nil, nil, ":1: source code"),
        (
            "const notification = {title: 'T', body: 'B'};\nconst data = {a: '1'};\nconst m = {notification, data, token};\n",
            "android", "shown_by_system", ""
        ),
        (
            "const apns: Config = {payload: {aps: {alert: 'x'}}}\nconst m: M = {\n  topic: 't',\n  data: {a: 'b'},\n  apns: apns,\n}\n",
            "android", nil, "--platform all explains them"
        ),
        ("web: {\n  notification: {\n    title: 'T'\n  }\n},\n", "web", nil, "a push in web"),
        (
            "ctx := context.Background()\nm := &messaging.Message{\n\tNotification: &messaging.Notification{\n\t\tTitle: \"T\",\n\t},\n\tData: map[string]string{\n\t\t\"a\": \"b\",\n\t},\n\tTopic: \"t\",\n}\n",
            "android", "shown_by_system", ""
        ),
        (
            "var m = new Message()\n{\n    Data = new Dictionary<string, string>()\n    {\n        { \"a\", \"1\" },\n        [\"b\"] = \"2\",\n    },\n    Token = t,\n};\n",
            "android", nil, ""
        ),
        // Errors and records of a log.
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 5, in push\n    t = payload.get(\"n\", {})\nTypeError: x\n",
            nil, nil, ":1: an error of a program with its calls"
        ),
        ("E/A: java.lang.X\n\tat a.B.c(B.java:12)\n", nil, nil, ":2: an error of a program with its calls"),
        ("SDK\t(a: b) HTTP 400 while tracking\n", nil, nil, "1 line of text without a push"),
        (
            "{\"level\":30,\"time\":1712345678901,\"msg\":\"push sent\"}\n", nil, nil,
            "the record of a log, without a push"
        ),
        (
            "{\"level\":50,\"time\":1712345678901,\"msg\":\"x\",\"err\":{\"message\":\"Requested entity was not found.\"}}\n",
            nil, nil, "delete the token"
        ),
        (
            "{\"log\":\"payload={\\\"notification\\\":{\\\"title\\\":\\\"T\\\"},\\\"to\\\":\\\"x\\\"}\\n\",\"stream\":\"stdout\",\"time\":\"2024\"}\n",
            "android", "shown_by_system", "the record of a log with a push in log"
        ),
        // Answers, and objects of no service.
        (
            "sent: 0\n[ { device: 'a',\n    status: '400',\n    response: { reason: 'BadDeviceToken' } } ]\n", nil, nil,
            "the answer of APNs (BadDeviceToken), as node-apn gives it"
        ),
        (
            "{\"errno\": 106, \"code\": 410, \"message\": \"No such\", \"error\": \"\"}", nil, nil,
            "Mozilla's push service"
        ),
        (
            "push-worker error: connect { errno: -111, code: 'ECONNREFUSED', syscall: 'connect' }\n", nil, nil,
            "(ECONNREFUSED)"
        ),
        ("{\"count\": 3, \"rows\": {\"a\": 1}}", nil, nil, "no push that is known"),
        (
            "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"x\"}}", nil, nil,
            "a send body for JPush"
        ),
        // Pushes that look like one of these, and are none.
        ("{\"wzrk_pn\":\"true\",\"nt\":\"T\",\"wzrk_bc\":1}", "android", nil, ""),
        ("Message data payload: {\"type\":\"chat\",\"chatId\":17}\n", "android", nil, ""),
        ("const notification = {title: 'T', body: 'B'};\nsend(s, JSON.stringify(notification));\n", "android", nil, ""),
        ("notification = {_ab=true, t=T}\n", "android", nil, ""),
        ("{\"level\":\"warning\",\"timestamp\":1712345678901,\"message\":\"Leak\"}", "android", nil, ""),
        (
            "{\"level\":\"info\",\"timestamp\":\"2024-05-01T10:00:00Z\",\"message\":\"x\",\"payload\":{\"aps\":{\"alert\":\"x\"}}}",
            "ios", "shown_by_system", "a push in payload"
        ),
        (
            "const data = {type: 'chat'};\ndata.id = '17';\nconst m = {data, topic: 'x'};\n", "android", nil,
            "data is a variable"
        ),
        ("push received: {}\n", "android", nil, ""), ("Received new Message {type=chat, id=17}\n", "android", nil, ""),
        ("remoteMessage.data = { type: 'chat' }\n", "android", nil, ""),
        ("D/FCM ( 1234): received from=123, data={\"type\":\"chat\"}\n", "android", nil, ""),
        ("google.maps.key=abc\nserver.port=8080\n", nil, nil, "2 lines of text without a push"),
        ("{type=chat, json={\"a\":\"b{\"}}\n", "android", nil, ""),
        // Variables and texts of code, and code that receives.
        (
            "const m = {\n  token: t,\n  notification: content,\n  data: extra,\n};\n", "android", "shown_by_system",
            "data is a variable"
        ),
        ("$f = array(\n  'to' => $t,\n  'notification' => $n,\n  'data' => $d\n);\n", "android", "shown_by_system", ""),
        (
            "title = \"T\"\npayload_data = {\"a\": \"1\"}\nm = messaging.Message(\n  notification=messaging.Notification(title=title),\n  data=payload_data,\n  token=t,\n)\n",
            "android", "shown_by_system", ""
        ),
        (
            "var ms = ts.Select(t => new FirebaseAdmin.Messaging.Message\n{\n    Token = t,\n    Android = new AndroidConfig() { Priority = Priority.High },\n    Apns = new ApnsConfig { Aps = new Aps { ContentAvailable = true } },\n    Data = new Dictionary<string, string> { [\"a\"] = \"b\" },\n});\n",
            "android", nil, "a message of firebase-admin"
        ),
        (
            "class S : FirebaseMessagingService() {\n  override fun onMessageReceived(m: RemoteMessage) {\n    if (A.isPush(m)) {\n      A.process(m)\n    }\n  }\n}\n",
            nil, nil, ":1: source code"
        ),
        (
            "@implementation A\n- (void)f:(NSDictionary *)userInfo {\n  [[F messaging] appDidReceiveMessage:userInfo];\n}\n",
            nil, nil, ":1: source code"
        ),
        (
            "[Service(Exported = false)]\npublic class S : FirebaseMessagingService\n{\n  public override void F(RemoteMessage m)\n  {\n    f(m);\n  }\n}\n",
            nil, nil, "source code"
        ),
        (
            "try { await send(message) } catch (e) {\n  if (e.code === 'messaging/registration-token-not-registered') { remove(t) }\n}\n",
            nil, nil, "source code"
        ),
        ("service: notify.x\ndata:\n  message: >-\n    Someone:\n    {{ states('a') }}\n", nil, nil, "YAML"),
        (
            "{\"code\":404,\"message\":\"Requested entity was not found.\",\"status\":\"NOT_FOUND\"}", nil, nil,
            "the answer of FCM"
        ),
        (
            "    aps =     {\n        alert = Hello;\n    };\n    ab =     {\n        c = spring;\n    };\n    \"_ab\" = 1;\n",
            "ios", "shown_by_system", "members of an NSDictionary"
        ),
        ("aps = {\n};\n\"twi_to\" = \"client:A\";\n", "ios", "swallowed", "members of an NSDictionary"),
        ("{\"success\":1,\"failure\":2,\"failed_registration_ids\":[\"a\"]}", nil, nil, "the answer of FCM"),
        ("{\"accepted\":false,\"rejectionReason\":\"BadDeviceToken\"}", nil, nil, "as pushy gives it"),
        // Answers to several sends, lists, events, and messages of other services.
        (
            "{\"multicast_id\":7,\"success\":2,\"failure\":1,\"results\":[{\"message_id\":\"0:1\"},{\"error\":\"NotRegistered\"},{\"message_id\":\"0:2\"}]}",
            nil, nil, "2 accepted, 1 refused"
        ),
        ("{\"notifications\":[{\"id\":\"1\",\"title\":\"T\",\"data\":{}}]}", nil, nil, "shows already"),
        (
            "{\"actionId\":\"tap\",\"notification\":{\"id\":\"1\",\"title\":\"T\",\"data\":{\"a\":\"b\"}}}", "android",
            "shown_by_system", ""
        ),
        (
            "{\"title\":\"T\",\"message\":\"B\",\"additionalData\":{\"gcm.notification.tag\":\"x\",\"from\":\"1\",\"coldstart\":false,\"foreground\":true}}",
            "android", "shown_by_system", "phonegap-plugin-push"
        ),
        (
            "pubnub.publish({\n  channel: 'c',\n  message: {\n    pn_fcm: {\n      notification: { title: 'T' },\n    },\n  },\n});\n",
            "android", "shown_by_system", "over PubNub"
        ),
        (
            "{\"name\":\"m\",\"extras\":{\"push\":{\"notification\":{\"title\":\"T\"},\"apns\":{\"aps\":{\"badge\":3}}}}}",
            "android", "shown_by_system", "Ably"
        ),
        (
            "{\"id\":\"s\",\"time\":1643935928,\"event\":\"message\",\"topic\":\"t\",\"message\":\"B\"}", nil, nil,
            "ntfy"
        ),
        ("{\"id\":25,\"appid\":5,\"message\":\"B\",\"date\":\"2024\"}", nil, nil, "Gotify"),
        ("{\"type\":\"object\",\"properties\":{\"aps\":{\"type\":\"object\"}}}", nil, nil, "a description of data"),
        // Members one a line, a cut map, quotation marks, commands.
        ("{_ab=true\nt=T\na=20 % off\ncid=c\nfrom=1\n}\n", "android", nil, ""),
        (
            "D/M( 2101): Key: google.message_id Value: 0:1\nD/M( 2101): Key: _ab Value: true\nbye\n", "android",
            nil, "the extras of an intent, one a line"
        ),
        ("google.message_id = 0:1\n_ab = \"true\"\n", "android", nil, ""),
        ("onMessageReceived: {type=chat, custom={\"a\":{\"id\":\"17\"}}\n", nil, nil, "the map has no end }"),
        (
            "{\u{201C}aps\u{201D}: {\u{201C}alert\u{201D}: \u{201C}x\u{201D}}}\n", "ios", "shown_by_system",
            ":1: quotation marks are typographic"
        ),
        (
            "{ \u{2018}aps\u{2019}: {\n \u{2018}badge\u{2019}: 1\n} }\n", "ios", "shown_by_system",
            ":1: quotation marks are typographic"
        ),
        (
            "sent:\n  \"notification\": {\n \"title\": \u{201C}T\u{201D}\n },\n \"to\": \u{201C}t\u{201D}\n}\nplease help\n",
            "android", "shown_by_system", "read with the brackets around it; quotation marks are typographic"
        ),
        (
            "our payload\n\"notification\": {\n \"title\": \"T\"\n },\n \"to\": \"t\"\n}`\nplease help\n", "android",
            "shown_by_system", ":2: a part of an object: read with the brackets around it"
        ),
        (
            "my payload\n```\n# the rest is default\n\naps =  {\n  badge = 0;\n  \"content-available\" = 1;\n };\n```\n",
            "ios", nil, "members of an NSDictionary"
        ),
        ("it failed:\nname: 'x'\n\"content-type\": \"text/html\"\n", nil, nil, "without a push"),
        (
            "{\"message\":{\n\"data\":{\n\"a\":\"b\",\n\"notification\":{\"title\":\"T\"},\n\"token\":\"t\"\n}}",
            "android",
            "shown_by_system", ":3: the closing bracket of data is missing at the end of this line"
        ),
        (
            "{\"to\":\"t\",\n\"notification\":{\"title\":\"T\",},\n\"data\":{\"list\":[1,],}\n}", "android",
            "shown_by_system", ":2: the comma behind the last member is one too many"
        ),
        (
            "{\"to\":\"t\",\n\"notification\"{\"title\":\"T\"}}", "android", "shown_by_system",
            ":2: the colon behind notification is missing"
        ),
        (
            "x\n{\n\"to\":\"t\",\n**\"notification\":{\"title\":\"T\"},**\n\"data\":{\"a\":\"**\"}\n}", "android",
            "shown_by_system", ""
        ),
        // A text that code puts together.
        (
            "const payload = \"{\\\"to\\\":\\\"\" + token + \"\\\",\\\"notification\\\":{\\\"badge\\\":\" + n + \"}}\";\n",
            "android", "shown_by_system", "JSON in a text with escapes"
        ),
        (
            "$r = shell_exec('curl -d '\n . '\"{\\\"to\\\":\\\"' . $to . '\\\",'\n//  . '\\\"data\\\":{}}\"');\n . '\\\"notification\\\":{\\\"title\\\": \\\"T\\\"}}\"');\n",
            "android", "shown_by_system", "JSON in a text with escapes"
        ),
        // Answers and errors.
        (
            "WebPushError: Received unexpected response code\n at a (b.js:1:2) {\n statusCode: 410,\n headers: {\n 'content-type': 'text/html',\n date: 'x'\n },\n body: 'gone'\n}\n",
            nil, nil, "has no such subscription any more"
        ),
        ("{\"statusCode\":403,\"body\":\"x\",\"endpoint\":\"https://x\"}", nil, nil, "refused the VAPID token"),
        ("{\"code\":410,\"errno\":106,\"error\":\"Gone\"}", nil, nil, "has no such subscription any more"),
        (
            "{ 'content-type': 'text/html', date: 'x', server: 'GSE' }", nil, nil,
            "the headers of a request or an answer"
        ),
        (
            "{\"code\":108,\"error\":\"bad request\",\"requestId\":\"r\",\"status\":400}", nil, nil,
            "the answer of a server"
        ),
        (
            "{\"MsgID\":\"a\",\"DebugTrace\":\"b\",\"ErrCode\":500,\"ErrDesc\":\"\"}", nil, nil,
            "WNS (Windows, ErrCode 500)"
        ),
        ("{\"errors\":[\"All included players are not subscribed\"]}", nil, nil, "OneSignal sent nothing"),
        (
            "W/GCM-DMM: broadcast intent callback: result=CANCELLED forIntent { act=com.google.android.c2dm.intent.RECEIVE }\n<receiver android:name=\"a\">\n",
            nil, nil, "the app is force-stopped"
        ),
        (
            "m = messaging.Message(\n apns=messaging.APNSConfig(payload=messaging.APNSPayload(aps=messaging.Aps(alert='x', custom_data={\"event\": \"end\"}))),\n token='t')\n",
            "ios", "shown_by_system", "apns is its only part"
        ),
        ("{\"android\":{\"priority\":\"high\"}}", nil, nil, "these are options of a send over FCM"),
        ("{\"priority\":\"high\",\"timeToLive\":60}", nil, nil, "these are options of a send over FCM"),
        (
            "[2018-02-07 13:02:50] [app] sent\n[2018-02-07 13:02:51] Lost connection to gateway.push.apple.com:2195\n",
            nil, nil, ":2: Apple has switched this service off"
        ),
        (
            "my manifest\n<service android:name=\"a\">\n<action android:name=\"com.google.firebase.MESSAGING_EVENT\"/>\n</service>\n<action android:name=\"com.google.firebase.MESSAGING_EVENT\"/>\n",
            nil, nil, ":3: the manifest has two services for MESSAGING_EVENT"
        ),
        ("my plist\n<key>UIBackgroundModes</key>\n", nil, nil, ":2: a part of a property list"),
        (
            "\"exception\": \"code: 401, it failed\nwith 401 INVALID_KEY\"\n", nil, nil,
            "; line 2: FCM refuses sends over its API before v1"
        ),
        // Amazon SNS.
        (
            "sns.publish({ TargetArn: 'a', MessageStructure: 'json', Message: JSON.stringify({ default: 'x', GCM: JSON.stringify({ notification: { title: 'T', priority: 'high' } }) }) });\n",
            "android", "shown_by_system", "priority belongs beside notification"
        ),
        (
            "{\"TargetArn\":\"a\",\"MessageStructure\":\"{}\",\"Message\":\"hello\"}", "android", nil,
            "MessageStructure has to be the word json"
        ),
        ("{\"default\":\"x\",\"aps\":{\"alert\":\"hi\"}}", nil, nil, "SNS sends the text default, and no aps"),
        (
            "$c->publish(array(\n 'TargetArn' => $a,\n 'MessageStructure' => 'json',\n 'GCM' => json_encode(array('data' => array('k' => 'v')))\n));\n",
            "android", nil, "parameters of SNS's Publish without Message"
        ),
        // Extras that an app printed, with the keys that FCM adds.
        (
            "onResume: {notification: {}, data: {google.ttl: 9, google.sent_time: 1580139200194, from: 1, k: v}}\n",
            "android", nil, "after a tap the notification is used up"
        ),
        (
            "{\"identifier\":\"0\",\"payload\":{\"gcm.n.e\":\"1\",\"gcm.notification.title\":\"T\",\"google.sent_time\":5,\"google.ttl\":9}}",
            "android", "shown_by_system", "the extras of an intent in payload"
        ),
        // Commands.
        (
            "curl -X POST https://fcm.googleapis.com/v1/projects/p/messages:send \\\n -H 'a: b' -d @- <<'EOF'\n{\"message\":{\"token\":\"t\",\n \"notification\":{\"title\":\"T\"}}}\nEOF\necho done\n",
            "android", "shown_by_system", "the body of a curl command"
        ),
        (
            "curl --http2 -d '{\"aps\":{\"alert\":\"x\"}}' https://api.push.apple.com/3/device/a\n", "ios",
            "shown_by_system", "the request has no apns-push-type"
        ),
        (
            "$ curl https://fcm.googleapis.com/v1/projects/p/messages:send <<EOF\n> {\"message\":{\"token\":\"t\",\n> \"notification\":{\"title\":\"T\"}}}\n> EOF\n",
            "android", "shown_by_system", ""
        ),
        (
            "curl -d @- https://x.example \\\n -H 'a: b' <<EOF\n{\"to\":\"t\",\n\"notification\":{\"title\":\"T\"}\n\"data\":{}}\nEOF\n",
            "android", "shown_by_system", ":4: the comma at the end of this line is missing"
        ),
        ("curl -d @- https://x.example <<EOF\n{\"a\":\n{\"b\":nul}}\nEOF\n", nil, nil, ":3:6: not JSON"),
        ("{\"aps\":{\"alert\":\"x\"},\"default\":\"light\"}", "ios", "shown_by_system", ""),
        ("{\"Content-Type\":\"a\",\"Authorization\":\"x\",\"title\":\"T\"}", "android", nil, ""),
        ("We do not support iOS. On our Pixel:\n\n{\"to\":\"t\",\"data\":{}}\n", "android", nil, "before v1"),
        // The platform or the service that the text names.
        (
            "2017-09-07 13:32:21.951+1000 Acme[810:359970] onNotificationReceived: {\"a\":\"b\"}\n", "android", nil,
            "the text speaks of iOS"
        ),
        ("Using ADM, we send\n{\"data\":{\"k\":\"v\"}}\n", "android", nil, "--transport adm explains it"),
        ("On a Huawei P40:\n{\"data\":{\"k\":\"v\"}}\n", "android", nil, "--transport hms explains it"),
        // Braces that are no payload.
        ("push to https://dm3p.notify.windows.com/?token={myToken}\nx\n", nil, nil, "2 lines of text without a push"),
        (
            "SpringBoard push: Error Domain=X Code=4 UserInfo={NSDebugDescription=invalidated}\n", nil, nil,
            "without a push"
        ),
        ("[1] pry(main)> n = notification\n=> nil\n", nil, nil, "2 lines of text without a push"),
        ("void Start()\n{\n    A.Messaging.B += OnB;\n}\n", nil, nil, "source code, not a push"),
        ("- message: \"{{ message }}\"\n  push: {{ sound }}\n", nil, nil, "without a push"),
        ("\"properties\": {\n \"aps-environment\": \"development\"\n}\n", nil, nil, "not JSON"),
        // The platform of the prose.
        ("On iOS nothing comes:\n{\"to\":\"t\",\"data\":{}}\n", "android", nil, "the text speaks of iOS"),
        (
            "Chrome, firebase-messaging-sw.js:\n{\"to\":\"t\",\"data\":{}}\n", "android", nil,
            "the text speaks of the web"
        ),
        (
            "web-push send-notification --endpoint=https://example.com/x --payload='{\"title\":\"T\"}'\n", "web",
            nil,
            "a \"web-push send-notification\" command"
        ),
        (
            "java -jar web-push.jar send-notification \\\n  --payload=\"Hello, world\"\n", "web", nil,
            "text of a web push"
        ),
        ("web-push send-notification --endpoint=https://example.com/x\n", nil, nil, "--payload gives"),
    ]

    @Test("reads what people have, or says what it is", arguments: pastes)
    func pasted(_ text: String, _ platform: String?, _ outcome: String?, _ words: String) throws {
        let arguments = ["explain", "--config", shippedConfiguration, "--json", "-"]
        let result = pushctl.run(arguments, input: Array(text.utf8))
        #expect(words.isEmpty || result.errors.has(words), "\(result.errors)\(result.output)")
        #expect(result.lines.count == (platform == nil ? 0 : 1), "\(result.errors)\(result.output)")
        #expect(result.end == .exited(platform == nil ? 65 : 0))
        guard let line = result.lines.first else { return }
        #expect(try json(line)["platform"]?.string == platform)
        #expect(try json(line)["outcome"]?.string == outcome)
        if text.has("_ab") { #expect(try json(line)["provider"]?.string == "braze") }
    }

    @Test("puts the object that a variable of code has into the message, and says whose text is shown")
    func constants() throws {
        let code = "$data = ['k' => 'v'];\n$f = json_encode([\n'registration_ids' => $ids,\n\"data\" => $data,\n]);\n"
        let found = explain("-", input: code)
        #expect(found.lines.count == 1 && !found.errors.has("is a variable"), "\(found.errors)")
        for (payload, text) in [
            (#"{"aps":{"alert":{"loc-key":"HELLO"}}}"#, "with the text that the app has for HELLO"),
            (#"{"aps":{"badge":1}}"#, "the system shows it: the badge or the sound alone"),
            (#"{"to":"t","notification":{"body_loc_key":"BYE"}}"#, "the app has for BYE"),
        ] {
            let shown = pushctl.run(["explain", "--config", shippedConfiguration, "-"], input: Array(payload.utf8))
            #expect(shown.output.has(text), "\(shown.output)\(shown.errors)")
        }
    }

    @Test("takes commands of adb and curl with the app in them; an option overrides it")
    func commands() throws {
        let adb = """
            adb shell "am broadcast -a com.google.android.c2dm.intent.RECEIVE -n com.example/.Receiver \\
              --es _ab true --es a 'x y'"

            """
        let curl = """
            curl -H 'apns-topic: com.example' \\
              -d '{"aps":{"alert":"x"},"ab":{"c":"1"}}' \\
              https://api.push.apple.com/3/device/1

            """
        let arguments = ["explain", "--json", "--config", shippedConfiguration, "-"]
        let result = pushctl.run(arguments, input: Array((adb + curl).utf8))
        #expect(result.end == .exited(0))
        #expect(try result.lines.map { try json($0)["platform"]?.string } == ["android", "ios"])
        #expect(try result.lines.map { try json($0)["provider"]?.string } == ["braze", "braze"])
        #expect(
            result.errors == "pushctl: standard input: read as the extras of an \"am broadcast\" command "
                + "(also am start; with or without adb shell)\n"
                + "pushctl: standard input:3: the request has no apns-push-type, which Apple asks for: alert for what is shown, else background\n"
                + "pushctl: standard input: read as the body of a curl command to api.push.apple.com\n")
        let wrong = explain("-", input: "curl -d '{\"a\":}' https://x\n")
        #expect(wrong.end == .exited(65))
        #expect(wrong.errors.contains("pushctl: standard input:1: the body of a curl command: not JSON: "))
    }

    @Test("suggests a conversion for a text in UTF-16")
    func otherEncoding() {
        for mark: [UInt8] in [[0xFF, 0xFE], [0xFE, 0xFF]] {
            let result = pushctl.run(["explain", "-", "--config", shippedConfiguration], input: mark + [0x7B, 0])
            #expect(result.end == .exited(65))
            #expect(
                result.errors == "pushctl: standard input: text in UTF-16: make it UTF-8, as with "
                    + "iconv -f UTF-16 -t UTF-8 FILE\n")
        }
    }

    @Test("takes an object with the key op as a payload unless it is a request")
    func operationAsData() throws {
        let payload = try json(explain("-", input: #"{"op":"refresh","_ab":"true"}"#).output)
        #expect(payload["provider"]?.string == "braze")
        let misspelt = explain("-", input: #"{"op":"delivr","payload":{}}"#)
        #expect(misspelt.errors.contains("op: "))
        #expect(misspelt.end == .exited(65))
    }
}
