import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("An object in the notation of a language")
struct LiteralFormTests {
    private static let alert = #"{"aps":{"alert":{"body":"There","title":"Hi"},"content-available":1},"k":"v w"}"#

    @Test(
        "is read as the same object in JSON",
        arguments: [
            // The description of an NSDictionary.
            (
                """
                {
                    aps =     {
                        alert =         {
                            body = There;
                            title = Hi;
                        };
                        "content-available" = 1;
                    };
                    k = "v w";
                }
                """, alert
            ),
            // A Swift dictionary, with and without type erasure.
            (
                #"[AnyHashable("aps"): ["alert": ["body": "There", "title": "Hi"], "content-available": 1], AnyHashable("k"): v w]"#,
                alert
            ),
            (#"["aps": ["alert": ["body": "There", "title": "Hi"], "content-available": 1], "k": "v w"]"#, alert),
            (
                "[AnyHashable(\"aps\"): {\n    alert =     {\n        body = There;\n        title = Hi;\n    };\n"
                    + "    \"content-available\" = 1;\n}, AnyHashable(\"k\"): v w]", alert
            ),
            // Python, JavaScript, Ruby and PHP.
            (#"{'aps': {'alert': {'body': 'There', 'title': "Hi"}, 'content-available': 1}, 'k': 'v w'}"#, alert),
            ("{ aps: { alert: { body: 'There', title: 'Hi' }, 'content-available': 1 }, k: 'v w' }", alert),
            (#"{:aps=>{"alert"=>{"body"=>"There", "title"=>"Hi"}, "content-available"=>1}, "k"=>"v w"}"#, alert),
            (
                #"['aps' => ['alert' => ['body' => 'There', 'title' => 'Hi'], 'content-available' => 1], 'k' => 'v w']"#,
                alert
            ),
            (#"{'a': None, 'b': True, 'c': [1, 2.5], 'd': b'x'}"#, #"{"a":null,"b":true,"c":[1,2.5],"d":"x"}"#),
            // Halves of a surrogate pair, as an NSDictionary escapes them.
            (#"{ a = "\Ud83d\Ude00 \"x\""; }"#, "{\"a\":\"\u{1F600} \\\"x\\\"\"}"),
            (#"[:]"#, "{}"),
            // Clojure, and marks of Apple's documents for members that are left out.
            (#"{:aps {:alert {:title "Hi"}, :badge 1}}"#, #"{"aps":{"alert":{"title":"Hi"},"badge":1}}"#),
            ("{\n --\n \"aps\": {\"alert\": \"Hi\"}\n}", #"{"aps":{"alert":"Hi"}}"#),
            // An NSDictionary of what aps has.
            (
                "{\n    alert =     {\n        body = There;\n    };\n    badge = 2;\n}",
                #"{"aps":{"alert":{"body":"There"},"badge":2}}"#
            ),
            (#"{:alert {:title "Hi"}}"#, #"{"aps":{"alert":{"title":"Hi"}}}"#),
            ("{\n    alert = Hi;\n    k = v;\n}", #"{"alert":"Hi","k":"v"}"#),
            // Elixir's lists in braces.
            (#"{body: "x", headers: [{"a", "b"}]}"#, #"{"body":"x","headers":[["a","b"]]}"#),
            (
                #"["aps": ["alert": "Hi"], "empty": [:], "list": ["a", "b"]]"#,
                #"{"aps":{"alert":"Hi"},"empty":{},"list":["a","b"]}"#
            ),
            // Marks of members that people leave out, placeholders and functions.
            (
                "{\n aps: {\n alert: 'Hi', /* x */\n ... // the rest\n },\n ...\n}", #"{"aps":{"alert":"Hi"}}"#
            ),
            (#"{"aps": {"alert": "Hi"}, "icm_cid": THE_ICM_ID}"#, #"{"aps":{"alert":"Hi"},"icm_cid":"THE_ICM_ID"}"#),
            (
                "{ aps: { alert: 'Hi' }, topic: BUNDLE_IDENTIFIER }",
                #"{"aps":{"alert":"Hi"},"topic":"BUNDLE_IDENTIFIER"}"#
            ),
            (
                "{\n \"badge\": undefined,\n \"finish\": [\n Functionfinish\n ],\n \"m\": [Function: x]\n}",
                #"{"badge":null,"finish":"function","m":"function"}"#
            ),
            // A part of a Swift dictionary, and the tree of a browser's console.
            ("AnyHashable(\"itbl\"): {\n    isGhostPush = 0;\n}]", #"{"itbl":{"isGhostPush":"0"}}"#),
            (#"AnyHashable("k"): v w"#, #"{"k":"v w"}"#),
            (
                "aps: {alert: {title: \"Hi\"}}\nfoo: \"bar\"\ngcm.n.e: \"1\"",
                #"{"aps":{"alert":{"title":"Hi"}},"foo":"bar","gcm.n.e":"1"}"#
            ),
        ])
    func isRead(_ text: String, _ json: String) throws {
        let lines = text.split(separator: "\n").map { Array($0.utf8) }
        if PayloadStart(in: lines[0])?.form == .json || text == "[:]" {
            // A bracket alone may begin JSON, so the reader looks at the whole text.
            let object = try #require(PayloadForm.object(in: Array(text.utf8)))
            #expect(String(decoding: object.payload.json, as: UTF8.self) == json)
        } else {
            #expect(try written(text) == json)
        }
    }

    @Test(
        "of Dart is read as strings, and nested maps as objects",
        arguments: [
            ("{_ab: true, t: Hi, you, a: x: y}", #"{"data":{"_ab":"true","t":"Hi, you","a":"x: y"}}"#),
            (
                "{senderId: null, data: {_ab: true, n: 5}, notification: {title: Hi, body: null}}",
                #"{"senderId":null,"data":{"_ab":"true","n":"5"},"notification":{"title":"Hi","body":null}}"#
            ),
            ("{aps: {content-available: 1, alert: Hi}}", #"{"aps":{"content-available":1,"alert":"Hi"}}"#),
            ("{google.message_id: 0:1, t: Hi}", #"{"extras":{"google.message_id":"0:1","t":"Hi"}}"#),
        ])
    func dart(_ text: String, _ json: String) throws { #expect(try written(text) == json) }

    @Test(
        "is found behind the text of a log that is about a push",
        arguments: [
            ("D/MyFirebaseMsgService: Message data payload: {_ab=true, t=Hi}", #"{"data":{"_ab":"true","t":"Hi"}}"#),
            ("I/flutter ( 4321): Handling a background message: {data: {_ab: true}}", #"{"data":{"_ab":"true"}}"#),
            ("2026-08-05 08:27:45.585 App[12:34] userInfo: {\n    aps =     {\n    };\n}", #"{"aps":{}}"#),
            ("[Push] got {\n[Push]     aps =     {\n[Push]     };\n[Push] }", #"{"aps":{}}"#),
            (#"Optional([AnyHashable("aps"): {"#, nil),
            (#" LOG  Message {"data": {"_ab": "true"}}"#, #"{"data":{"_ab":"true"}}"#),
            (
                #" LOG  {"notification":{"title":"Hi"},"data":{"k":"v"}}"#,
                #"{"notification":{"title":"Hi"},"data":{"k":"v"}}"#
            ),
            (#"I Log: {"event":"x","payload":{"data":{"k":"v"}}}"#, #"{"data":{"k":"v"}}"#),
            (
                "[+7871 ms] I/flutter (1): onMessage: {status: 2, id: 1}",
                #"{"data":{"status":"2","id":"1"}}"#
            ),
            ("userInfo: [\n    \"aps\": [\n  \"alert\": nil ]\n]", #"{"aps":{"alert":null}}"#),
            (
                "$payload = [\n 'message' => [ // 🔥\n 'data' => ['title' => $title] // all\n ]\n];",
                #"{"message":{"data":{"title":"$title"}}}"#
            ),
            // Source code: variables, calls and texts in parts.
            (
                "data = {\n \"to\": args.token, # x\n \"delay\": False,\n \"data\": {\"a\": \"x \" + name, 'b': f(1, 2)}\n}",
                #"{"to":"args.token","delay":false,"data":{"a":"x <name>","b":"f(1, 2)"}}"#
            ),
            (
                "let p: [String: Any] = [\"to\": token,\n \"data\": [\"user\": id]\n]",
                #"{"to":"token","data":{"user":"id"}}"#
            ),
            (
                "$data = array(\n \"notification\" => array(\"title\" => $title, \"sound\" => true),\n \"to\" => $tok\n);",
                #"{"notification":{"title":"$title","sound":true},"to":"$tok"}"#
            ),
            (
                "14:00 DEBUG [app.notifications:46] - aps:  {:alert {:title \"Hi\"}}",
                #"{"aps":{"alert":{"title":"Hi"}}}"#
            ),
            (
                "m = new gcm.Message({\n priority: 'high',\n data: {\n n: 1,\n ...\n }\n});",
                #"{"priority":"high","data":{"n":1}}"#
            ),
            (
                "const p = JSON.stringify({\n \"aps\": { \"timestamp\": Math.floor(Date.now() / 1000), // now\n \"event\": `up`, \"content-state\": state }\n});",
                #"{"aps":{"timestamp":1,"event":"up","content-state":{}}}"#
            ),
        ])
    func inText(_ text: String, _ json: String?) throws {
        guard let json else {
            return #expect(PayloadStart(in: Array(text.utf8))?.form == .literal)
        }
        #expect(try written(text) == json)
    }

    @Test(
        "is not found in a log line about something else",
        arguments: [
            "08-05 08:27:45.585 1 1 I Net: {a=1}", "[        ] Synced 1.1MB.", "let numbers = [",
            #"I/Http: {"user":"x"}"#, "Intent { act=x (has extras) }", "a, b, c",
            // A tag, a user of Android, and words that stand in an object about something else.
            "D Sdk: [PushType:FCM] Found Valid Notification Message",
            "I Provider: [:Push:6Z8] got a message", "UserHandle{0} posted a notification",
            #"body: {"device":{"remote_push":true,"push_options":{"alert":"x"}},"d"#, "() => {",
            // An argument beside a push, a type that is named after one, and the body of a function.
            #"payload = Payload(alert="x", custom={"type": "a"})"#, "const data: DataMessagePayload = {",
            "admin.messaging().send(payload).then((response) => {",
            #"payload = Payload(alert="x", data={"type": "a"})"#, #"payload = Payload(alert="x", a_Z={"type": "a"})"#,
            #"payload = Payload(alert="x", A9={"type": "a"})"#, #"payload = Payload(alert="x", buzz={"type": "a"})"#,
        ])
    func notInText(_ line: String) {
        // An object in source code is left out once its keys are read.
        #expect(PayloadStart(in: Array(line.utf8))?.isTentative != false)
    }

    @Test(
        "may be bytes in hexadecimal or base64, or a text with escapes",
        arguments: [
            "Data: <7b226170 73223a7b 7d7d>", "{length = 9, bytes = 0x7b22617073223a7b7d7d}", "eyJhcHMiOnt9fQ==",
            #"{\"aps\":{}}"#, #""{\"aps\":{}}""#, #"Payload = JObject.Parse("{\"aps\":{}}")"#,
        ])
    func encoded(_ text: String) throws { #expect(try written(text) == #"{"aps":{}}"#) }

    @Test(
        "is read in a time that grows with its length, whatever is in it",
        arguments: [
            "[", "{'a':", #"AnyHashable("a"): Optional(1),"#, #"AnyHashable("a"): x,"#, "a = 1; ", "a: x, ", "{a=",
            "<7b",
        ])
    func hostile(_ part: String) throws {
        for open in ["{", "[", #"[AnyHashable("z"): "#] {
            let line = Array((open + String(repeating: part, count: (1 << 19) / part.utf8.count)).utf8)
            let time = ContinuousClock().measure {
                _ = try? PayloadEnvelope.read(line, for: nil, limits: JSONLimits())
            }
            #expect(time < .seconds(20))
        }
    }

    @Test(
        "without a push has a name",
        arguments: [
            ("from flask import Flask", "source code"), ("const m = require('x');", "source code"),
            ("token,os,sent", "a table (CSV)"), ("<toast><x/></toast>", "a notification of Windows"),
            ("<?xml version=\"1.0\"?>", "a property list"), ("import Foundation", "source code"),
            ("#<Rpush::Notification x={}>", "an object that Ruby inspected"),
            ("RemoteMessage@1f2e", "the message is printed without its content"),
            ("I GCM: result=CANCELLED forIntent { act=com.google.android.c2dm.intent.RECEIVE }", "a line of the log"),
            ("eyJhbGciOi.eyJpc3Mi.c2ln", "a token (JWT)"), (#""message": {"#, "a part of an object"),
            ("\u{25BF} 3 elements", "an object that Xcode's debugger"),
            ("HTTP/2 400", "the answer of a server"), ("a;b;c", "a table (CSV)"),
            ("dasd[60]: com.example.app:pushLaunch decided", "a line of the log in which iOS decides"),
            ("[object Object]", "the message is printed without its content"),
            (#"b'\r\n--batch_1\r\nHTTP/1.1 400 Bad Request'"#, "the answer of a server"),
            (
                "NotificationRecord(0x07: pkg=a user=UserHandle{0} tag=FCM-Notification:1",
                "the record of a notification"
            ),
            ("const data = {", "source code"), ("-----BEGIN PRIVATE KEY-----", "a key or a certificate"),
        ])
    func named(_ line: String, _ name: String) throws {
        let found = try #require(PayloadForm.nameOfOther(Array(line.utf8)))
        #expect(found.hasPrefix(name), "\(found)")
    }

    @Test("that PushKit had is a VoIP push")
    func pushKit() throws {
        let log = "[Voip] dictionaryPayload = {\n    aps =     {\n    };\n}, type = PKPushTypeVoIP"
        let (_, facts, _) = try PayloadEnvelope.read(Array(log.utf8), for: nil, limits: JSONLimits())
        #expect(facts.headers.map { String(decoding: $0, as: UTF8.self) } == #"{"apns-push-type":"voip"}"#)
        let delegate = "[objC] didReceiveIncomingPushWithPayload: {\n    alert = Test;\n}"
        let found = try PayloadEnvelope.read(Array(delegate.utf8), for: nil, limits: JSONLimits())
        #expect(found.facts.headers == PayloadEnvelope.voip && found.object.isApplePayload)
        let words = "userInfo: {\n    aps =     {\n        alert = \"PushKit, PKPushType\";\n    };\n}"
        #expect(try PayloadEnvelope.read(Array(words.utf8), for: nil, limits: JSONLimits()).facts.headers == nil)
        let member = "userInfo: {\n    aps =     {\n    }; kind = PushKit;\n}"
        #expect(try PayloadEnvelope.read(Array(member.utf8), for: nil, limits: JSONLimits()).facts.headers == nil)
    }

    @Test(
        "may be behind the tag of a log: a word, or brackets around nothing before another word",
        arguments: [
            ("[a] x", 3), ("[Z] x", 3), ("[Push 1] {", 8), ("[   ] Synced", 5), ("[   ] {", nil), ("[] x", nil),
            ("[12] x", nil), ("[true] x", nil), ("[a|b] x", nil), ("[a", nil), ("a] x", nil),
        ] as [(String, Int?)])
    func tag(_ line: String, _ end: Int?) { #expect(PayloadStart.tagEnd(in: Array(line.utf8)[...]) == end) }

    @Test(
        "is found in a quotation, in marks of Markdown and behind what a log says of other objects",
        arguments: [
            ("> text\n> {\n>  \"aps\": {}\n> }", nil as String?),
            ("> {aps={}, _ab=true}", #"{"data":{"aps":"{}","_ab":"true"}}"#),
            ("`{\"aps\": {}}`", nil), ("Object {\n  \"aps\": Object {},\n}", nil), (#"b'{"aps":{}}'"#, nil),
            ("**{\"aps\": {}}**", nil), ("<String, dynamic>{\n  'aps': <String, dynamic>{},\n}", nil),
            ("payload = %{\n  \"aps\" => %{}\n}", nil),
            ("$ read payload <<-EOF\n> {\n>  \"aps\": {}\n> }\n> EOF", nil),
            ("const state = {\n  a: 'b'\n};\nconst payload = {\n  aps: {}\n};", nil),
            ("I App: call({a\nx\nD Push: message {\"aps\":{}}", nil),
            ("VERBOSE: notification sent: {\n    success = 1;\n}\nuserInfo: {\n    aps =     {\n    };\n}", nil),
            // Words of a person or a log, keys of Python 2, fences without a line of their own, print_r of PHP.
            ("sending {\n  \"aps\": {}\n}", nil), ("```json {\"aps\": {}} ```", nil), ("```{\"aps\": {}}```", nil),
            ("NSDictionary *p = @{ @\"aps\": @{} };", nil),
            ("push.subscribe('a', cb, { background: true, title: 'T' })\n{\"aps\": {}}", nil), ("{u'aps': {}}", nil),
            ("```{\n\"aps\": {}\n}```", nil),
            ("one: {\n a: 1\n}\ntwo: {\n  \"aps\": {}\n}", nil),
            ("x Object (\n [\"title\":\"a\":private]=>\n)\n{\"aps\": {}}", nil),
            // Objects that code gives to calls that send no push, or beside other arguments.
            ("Push.localNotification({\n title: 'T',\n data: {a: 'b'}\n});\nconst payload = {\n aps: {}\n};", nil),
            ("let n = new Notification(token, 'T', {\n data: {a: 'b'}\n});\nlet payload = {\n aps: {}\n};", nil),
            ("client.sendNotification({\n en: 'T',\n});\nlet payload = {\n aps: {}\n};", nil),
        ])
    func around(_ text: String, _ json: String?) throws {
        let read = try PayloadEnvelope.read(Array(text.utf8), for: nil, limits: JSONLimits())
        #expect(String(decoding: read.object.compactBytes, as: UTF8.self) == json ?? #"{"aps":{}}"#)
    }

    @Test("behind a line that says VoIP is a VoIP push")
    func voip() throws {
        let text = "VOIP push payload sent is as below\n{\"aps\" : {\n}}"
        let read = try PayloadEnvelope.read(Array(text.utf8), for: .ios, limits: JSONLimits())
        #expect(read.facts.headers == PayloadEnvelope.voip)
    }

    @Test("whose text has quotation marks without escapes gets a hint")
    func hint() throws {
        for text in [#"{"data": "{"title" : 1}"}"#, #"{"GCM": "{ "data": {} }"}"#, "{\"a\": \"{\n \"b\": 1}\"}"] {
            let error = try #require(throws: JSONError.self) { try JSONDocument(scanning: Array(text.utf8)) }
            #expect(PayloadForm.hint(at: error.offset, in: Array(text.utf8)) != nil)
        }
        #expect(PayloadForm.hint(at: 9, in: Array(#"{"data": x}"#.utf8)) == nil)
    }

    @Test(
        "with a quotation mark too few names it",
        arguments: [
            ("{\"a\": \"b,\n \"c\": 1}", "the quotation mark that ends the text is missing in this line"),
            (#"{"a": 1, b": 2}"#, "the quotation mark before b is missing"),
            (#"{"title: "Hello"}"#, "the quotation mark behind title is missing"),
            ("{\n \"a\": \"b\n", "the text is cut off here"), ("{\n{\"a\": 1}", "one of the two brackets is too many"),
            ("{\"a\": {{b}}}", "mark a place of a template"),
            (#"{ to: 1, data: "{"a": 1}"}"#, "an object in a text needs an escape"),
            ("{\"a\": 1\n\"b\": \"c\n}", "the quotation mark before this text is not closed: \"c"),
        ])
    func quotationMark(_ text: String, _ hint: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONDocument(scanning: Array(text.utf8)) }
        #expect(PayloadForm.hint(at: error.offset, in: Array(text.utf8))?.contains(hint) == true)
        let inner = Array(#"{"a": "Breaking: "War" ends"}"#.utf8)
        let other = try #require(throws: JSONError.self) { try JSONDocument(scanning: inner) }
        #expect(PayloadForm.hint(at: other.offset, in: inner)?.contains("is missing") != true)
    }

    @Test(
        "of source code with an open quotation mark shows it",
        arguments: [
            ("{a: 'it is,\nb: 'c'}", "'it is,"), ("{a: \"it's\", // don't\nb: `c\nd`}", nil),
            (#"{a: "b\"", c: 'd"'}"#, nil), ("{a: 'b", nil), ("{ /* don't */\na: 1}", nil),
        ] as [(String, String?)])
    func openText(_ text: String, _ open: String?) {
        #expect(PayloadForm.openText(in: Array(text.utf8)) == open)
    }

    @Test("has a key with no letter before its quotation mark but those of Python")
    func prefixOfKey() {
        #expect(PrintedLiteral(Array("{u'aps': {}, b\"x\": 1}".utf8)[...]) != nil)
        #expect(PrintedLiteral(Array("{abc'aps': 'x'}".utf8)[...]) == nil)
    }

    @Test("in Go begins no object where its type stands, unless that is a message")
    func go() {
        let types = ["Data: map[string]string{\"a\": \"b\"}", "send([]string{\"a\"})"]
        for text in types + ["Notification: &messaging.Notification{Title: \"T\"}"] {
            #expect(PayloadStart(in: Array(text.utf8)) == nil, "\(text)")
        }
        #expect(PayloadStart(in: Array("&messaging.Message{".utf8))?.isStruct == true)
    }

    @Test(
        "of Go or C# has the keys of firebase-admin for Node",
        arguments: [
            ("{Title: \"a\", ImageURL: \"b\", ChannelID: \"c\"}", #"{"title":"a","imageUrl":"b","channelId":"c"}"#),
            ("{APNS: &messaging.APNSConfig{Payload: x}}", #"{"apns":{"payload":{}}}"#),
            ("{Tokens: []string{\"a\", \"b\"},}", #"{"tokens":["a","b"]}"#),
            ("{Data: map[string]interface{}{\"K\": \"v\"}}", #"{"data":{"K":"v"}}"#),
            (
                "{ Apns = new ApnsConfig { Aps = new Aps() { Badge = 4, Sound = \"s\" } } }",
                #"{"apns":{"payload":{"aps":{"badge":4,"sound":"s"}}}}"#
            ),
            (
                "{ Data = new Dictionary<string, string> { {\"k\", \"v\"}, [\"l\"] = \"w\" } }",
                #"{"data":{"k":"v","l":"w"}}"#
            ),
        ])
    func structures(_ text: String, _ json: String) throws {
        let literal = try #require(PrintedLiteral(Array(text.utf8)[...], isCode: true, isStruct: true))
        #expect(String(decoding: literal.json, as: UTF8.self) == json)
        #expect(!literal.isApples)
    }

    @Test(
        "of a chain of calls has the members that the calls set",
        arguments: [
            (
                "Message.builder()\n .putData(\"a\", \"b\").putData(\"c\", id)\n .setToken(token)\n .build()",
                #"{"data":{"a":"b","c":"id"},"token":"token"}"#
            ),
            (
                "Message.builder().setNotification(Notification.builder().setTitle(\"T\").setBody(\"B\").build()).build();",
                #"{"notification":{"title":"T","body":"B"}}"#
            ),
            (
                "Message.builder().setNotification(new Notification(\"T\", \"B\")).setTopic(\"news\").build();",
                #"{"notification":{"title":"T","body":"B"},"topic":"news"}"#
            ),
            (
                "Message.builder().setAndroidConfig(AndroidConfig.builder().setTtl(3600 * 1000).setPriority(AndroidConfig.Priority.HIGH).build()).build()",
                #"{"android":{"ttl":3600000,"priority":"high"}}"#
            ),
            (
                "Message.builder().setApnsConfig(ApnsConfig.builder().putHeader(\"apns-priority\", \"5\").setAps(Aps.builder().setContentAvailable(true).build()).putCustomData(\"k\", \"v\").build()).build()",
                #"{"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"contentAvailable":true},"k":"v"}}}"#
            ),
            (
                "CloudMessage::withTarget('token', $t)\n  ->withNotification(Notification::create('T', 'B'))\n  ->withData(['k' => 'v']);",
                #"{"token":"$t","notification":{"title":"T","body":"B"},"data":{"k":"v"}}"#
            ),
            (
                "Message.builder().putAllData(Map.of(\"a\", \"b\", \"c\", \"d\")).setTopic(\"t\").build())",
                #"{"data":{"a":"b","c":"d"},"topic":"t"}"#
            ),
            (
                "Message.builder().putAllData(mapOf(\"a\" to \"b\")).addThing(\"x\").build()", #"{"data":{"a":"b"}}"#
            ),
            (
                "CloudMessage::new()->withNotification(Notification::create(title: 'T', body: 'B'));",
                #"{"notification":{"title":"T","body":"B"}}"#
            ),
            (
                "CloudMessage::new()->withNotification(Notification::create('T', null, 'http://x'));",
                #"{"notification":{"title":"T","imageUrl":"http://x"}}"#
            ),
            ("CloudMessage::fromArray(['topic' => 't', 'data' => ['k' => 'v']]);", #"{"topic":"t","data":{"k":"v"}}"#),
        ])
    func builders(_ text: String, _ json: String) throws {
        let literal = try #require(PrintedLiteral(Array(text.utf8)[...], isCode: true, isStruct: true))
        #expect(String(decoding: literal.json, as: UTF8.self) == json)
        #expect(PrintedLiteral(Array(text.utf8)[...], isCode: true) == nil, "only where a line begins one")
        #expect(PayloadStart(in: Array("return \(text)".utf8))?.isStruct == true)
        #expect(PayloadStart(in: Array("My\(text)".utf8))?.isStruct != true)
    }

    @Test(
        "in source code has products of numbers, and the JSON that a function makes as a text",
        arguments: [
            ("{ttl: 60 * 60 * 24}", #"{"ttl":86400}"#), ("{a: 2 * 3, b: [4*5]}", #"{"a":6,"b":[20]}"#),
            ("{n: 9223372036854775807 * 2, }", #"{"n":"9223372036854775807 * 2"}"#),
            (
                "{a: 3600 + 60, b: 10 - x, c: 1.5*60, d: 7 // *\n}",
                #"{"a":"3600 + 60","b":"10 - x","c":"1.5*60","d":7}"#
            ),
            ("{a: 'Al' + 'pha', b: \"Hi \" + name + \", you\" + 'r'}", #"{"a":"Alpha","b":"Hi <name>, your"}"#),
            ("['a' => 'Al' . 'pha' . $x->y . '!', 'b' => 'c'.d(1)]", #"{"a":"Alpha<$x->y>!","b":"c.d(1)"}"#),
            ("{a: 'Al' +\n 'pha', b: \"x\".format(1)}", #"{"a":"Alpha","b":"x.format(1)"}"#),
            ("array(array(array(array(array(array(1))))))", nil),
            ("{m: JSON.stringify({a: {b: 1}}), c: 2}", #"{"m":"{\"a\":{\"b\":1}}","c":2}"#),
            ("['m' => json_encode(array('a' => 1), JSON_PRETTY_PRINT)]", #"{"m":"{\"a\":1}"}"#),
            ("{\"m\": json.dumps({\"a\": 1}, indent=2)}", #"{"m":"{\"a\":1}"}"#),
            ("{m: JSON.stringify(known)}", #"{"m":"{\"k\":1}"}"#),
            ("{m: JSON.stringify(other)}", #"{"m":"JSON.stringify(other)"}"#),
        ])
    func expressions(_ text: String, _ json: String?) {
        let constants = ["known": Array(#"{"k":1}"#.utf8)]
        let literal = PrintedLiteral(Array(text.utf8)[...], isCode: true, constants: constants)
        #expect(literal.map { String(decoding: $0.json, as: UTF8.self) } == json)
    }

    @Test(
        "that has no push and the shape of statements is source code",
        arguments: [
            ("$p = Payload::create()\n  ->setEvent('update');", 0), ("# c\nr = push.notify(message=m)", 1),
            ("note.badge = 1\nnote.alert = t", 0), ("Rpush::Apns::Notification.create app_id: 1", 0),
            ("- (void)application:(UIApplication *)a {", 0), ("C.Current.OnAction += (s, p) => {", 0),
            ("if (options[KEY]) {", 0), ("NotificationDetails(android: details())", 0),
            ("[[FIRMessaging messaging] subscribe];", 0),
            ("Hello (see below),\nI get no push;", nil), ("I/App: send(message);", nil), ("code=200 (OK)", nil),
            ("a\nb\nc\nd(e)", nil), ("", nil),
        ] as [(String, Int?)])
    func code(_ text: String, _ line: Int?) {
        #expect(PayloadForm.firstOfCode(in: text.split(separator: "\n").map { Array($0.utf8) }) == line)
    }

    @Test("in the line of an error is the answer of a service")
    func answer() throws {
        let line = #"StatusCodeError: 400 - "{\n  \"error\": {\n \"code\": 400,\n \"message\": \"x\"\n  }\n}\n""#
        let error = try #require(throws: PayloadFormError.self) {
            try PayloadEnvelope.read(Array(line.utf8), for: nil, limits: JSONLimits())
        }
        #expect(error.message.hasPrefix("this is the answer of FCM"), "\(error.message)")
    }

    @Test("is no table because a sentence has commas")
    func sentence() {
        let line = "I am not able to work with it, and (others are fine, however) it is not rendered, so."
        #expect(PayloadForm.nameOfOther(Array(line.utf8)) == nil)
    }

    @Test("is no table because a line of its log has commas")
    func logIsNoTable() {
        let line = "W/FirebaseMessaging(1): Missing metadata. Manifest configuration, or default, value will be used."
        #expect(PayloadForm.nameOfOther(Array(line.utf8)) == nil)
    }

    @Test(
        "does not end at a sentence, or at a line of a log, before a payload",
        arguments: [
            "let me know what happens with this:", "from logcat:", "Array of pushes:", "Use this", "I, too, get",
            "    Intent { act=x (has extras) }",
            "I GCM: result=CANCELLED forIntent { act=com.google.android.c2dm.intent.RECEIVE }",
        ])
    func before(_ line: String) throws {
        let text = Array("\(line)\n      extras: Bundle[{_ab=true, t=Hi}]\n".utf8)
        let read = try PayloadEnvelope.read(text, for: .android, limits: JSONLimits())
        #expect(read.object["extras"]?["_ab"]?.string == "true")
    }
}
