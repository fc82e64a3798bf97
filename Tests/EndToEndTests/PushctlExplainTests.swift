import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("pushctl explain", .timeLimit(.minutes(30)))
struct PushctlExplainTests {
    private static let routes = """
        [Match]
        Platform=android
        Data=campaign summer-*

        [Route]
        Handler=crm
        Deadline=4s

        """
    private static let handler = "[Handler]\nType=exec\nExec=/bin/true\n"

    /// Explains a text from standard input.
    private func explain(_ text: String, _ arguments: String...) -> Program.Result {
        pushctl.run(["explain", "-", "--config", shippedConfiguration] + arguments, input: Array(text.utf8))
    }

    @Test("prints the documented object for a Braze payload, byte for byte")
    func contract() {
        let payload = #"{"_ab":"true","t":"Title","a":"Text","cid":"64b0"}"#
        let reasons = [
            #"data._ab is exactly \"true\": the payload is Braze's"#,
            "data has both t and a, title and body: Braze's SDK shows a notification",
            "the message has no notification block: FCM calls onMessageReceived, whatever the app is doing",
        ]
        let expected =
            #"{"platform":"android","transport":"fcm","state":"background","mode":"device","provider":"braze","#
            + #""matches":["braze"],"#
            + #""ambiguous":false,"braze":{"kind":"visible","campaign_id":"64b0","features":[],"#
            + #""counts_for_influenced_open":true,"actions":[],"deep_link":null,"key_values":{}},"message":null,"#
            + #""invocations":[{"callback":"onMessageReceived","owner":"tracker","#
            + #""route":null,"handler":null,"deadline_ms":9000}],"outcome":null,"#
            + "\"reasons\":[\(reasons.map { "\"\($0)\"" }.joined(separator: ","))],"
            + #""reason_codes":["owner","braze_title_and_content","data_message"],"#
            + #""warnings":[],"confidence":"high","#
            + #""rules":[{"provider":"braze","origin":"sdk","source":"braze-android-sdk 43.0.0, "#
            + #"BrazeFirebaseMessagingService.isBrazePushNotification","confidence":"high"}],"remarks":[],"tracks":[],"#
            + #""shown":{"by":"sdk","reason":"Braze's SDK shows it","title":"Title","body":"Text","image":null,"#
            + #""buttons":[]},"tap":{"possible":true,"verdict":"opened","campaign_id":"64b0"}}"# + "\n"
        let result = explain(payload, "--platform", "android", "--json")
        #expect(result.end == .exited(0))
        #expect(result.errors.isEmpty)
        #expect(result.output == expected)
    }

    @Test("names the source of each rule, with its remarks")
    func origins() {
        let text = explain(#"{"aps":{"alert":"x"},"itbl":{},"_sid":"SFMC"}"#, "--platform", "ios").output
        #expect(
            text.contains(
                "Rules\n  iterable: the SDK's own test; source: iterable-swift-sdk, NotificationHelper.inspect, "
                    + "Constants.swift:372 (read 2026-11-30)\n"
                    + "  salesforce: a copy, not the SDK's own code; source: public copies of apps (read 2026-11-30)\n"
                    + "  Iterable: itbl is enough for apps; the SDK's own inspector wants a boolean isGhostPush in it\n"
            ))
        let accengage = explain(#"{"a4sid":"1"}"#, "--platform", "android").output
        #expect(accengage.contains("Remarks\n  Airship: the SDK's own receiver takes Accengage's key a4sid too"))
    }

    @Test("continues after a faulty payload in a file, and ends with 65")
    func goesOn() {
        let text = #"{"a":"b"}\#n{"message":{"token":"t","data":{"a":1}}}\#n{"c":\#n{"d":"e"}\#n"#
        let result = explain(text, "--platform", "android", "--json")
        #expect(result.end == .exited(65))
        #expect(result.output.split(separator: "\n").count == 2)
        #expect(result.errors.contains("standard input:2: payload.message.data.a: FCM v1 data values are strings"))
        #expect(result.errors.contains("standard input:3:"))
    }

    @Test("refuses a payload longer than the daemon's limit")
    func tooLong() {
        let payload = #"{"a":"\#(String(repeating: "x", count: 400_000))"}"#
        let result = explain(payload, "--platform", "android")
        #expect(result.end == .exited(65))
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("the request is longer than 262144 bytes (RequestLengthMax=)"))
    }

    @Test("names the entries that tracks make of a push")
    func tracks() throws {
        let directory = TemporaryDirectory()
        mkdir("\(directory.path)/tracks.d", 0o755)
        writeFile(
            "[Track]\nOn=received\n[Identifier]\nKeyValue=braze_id\n[Event]\nName=push_received\n"
                + "Property=campaign string campaign_id\n",
            to: directory.path + "/tracks.d/50-received.track")
        func explain(_ extra: String, _ arguments: String...) -> String {
            pushctl.run(
                ["explain", "-", "--config", directory.path, "--platform", "android"] + arguments,
                input: Array(#"{"_ab":"true","t":"Title","a":"Text","cid":"64b0","extra":"\#(extra)"}"#.utf8)
            ).output
        }
        let event = #""name":"push_received","properties":{"campaign":"64b0"}"#
        #expect(
            explain(#"{\"braze_id\":\"b1\"}"#).contains(
                "\nSent to /users/track\n  custom_event {\(event)} for braze_id b1, by track 50-received\n"))
        #expect(
            explain(#"{\"Braze_id\":\"b1\"}"#).contains(
                "by track 50-received: rejected: braze_id: the payload has no key-value braze_id; "
                    + "it has Braze_id: names are case-sensitive\n"))
        #expect(
            explain(#"{\"braze_id\":\"b1\"}"#, "--json").contains(
                #","tracks":[{"track":"50-received","on":"received","kind":"custom_event","braze_id":"b1",\#(event),"rejected":null}],"#
            ))
    }

    @Test("wraps text for people between words at the terminal's width, and never wraps JSON")
    func width() {
        func explain(_ arguments: String...) -> Program.Result {
            pushctl.run(
                ["explain", "-", "--config", shippedConfiguration, "--platform", "android"] + arguments,
                input: Array(#"{"k":"v"}"#.utf8), environment: ["COLUMNS": "60"])
        }
        let lines = explain().lines
        #expect(lines.allSatisfy { $0.count <= 60 })
        #expect(lines.contains("  2. the message has no notification block: FCM calls"))
        #expect(lines.contains("      onMessageReceived, whatever the app is doing"))
        #expect(explain("--json").lines.count == 1)
    }

    @Test("names the route, its handler and its deadline for payloads that are not Braze's")
    func route() throws {
        let directory = TemporaryDirectory()
        for folder in ["routes.d", "handlers.d"] { mkdir("\(directory.path)/\(folder)", 0o755) }
        writeFile(Self.routes, to: directory.path + "/routes.d/20-crm.route")
        writeFile(Self.handler, to: directory.path + "/handlers.d/crm.handler")
        func first(_ payload: String, _ platform: String) throws -> JSONNode {
            let arguments = ["explain", "-", "--platform", platform, "--json", "--config", directory.path]
            return try json(pushctl.run(arguments, input: Array(payload.utf8)).output)
        }
        let matched = try first(#"{"campaign":"summer-1"}"#, "android")
        #expect(matched["provider"]?.kind == .null)
        #expect(matched["matches"]?.strings == [])
        #expect(matched["braze"]?.kind == .null)
        #expect(
            matched["invocations"]?.text
                == #"[{"callback":"onMessageReceived","owner":"route","route":"20-crm","handler":"crm","deadline_ms":4000}]"#
        )
        let unmatched = try first(#"{"campaign":"winter-1"}"#, "android")
        #expect(
            unmatched["invocations"]?.text
                == #"[{"callback":"onMessageReceived","owner":"route","route":null,"handler":null,"deadline_ms":9000}]"#
        )
        #expect(unmatched["reasons"]?.strings.last == "onMessageReceived: no route matches, so it ends as unrouted")
        #expect(try first("{}", "web")["invocations"]?.elements.first?["callback"]?.string == "push")
    }

    @Test("names the provider, the confidence, and other matching providers")
    func providers() throws {
        let payload = #"{"push_from":"moengage","itbl":"x"}"#
        let explanation = try json(explain(payload, "--platform", "android", "--json").output)
        #expect(explanation["provider"]?.string == "iterable")
        #expect(explanation["matches"]?.strings == ["iterable", "moengage"])
        #expect(explanation["ambiguous"]?.bool == true)
        #expect(explanation["confidence"]?.string == "high")
        #expect(
            explain(payload, "--platform", "android").output.contains(
                "a push of iterable; ambiguous, moengage would match too\n"))
        #expect(
            explain(#"{"push_from":"moengage"}"#, "--platform", "android").output.contains(
                "a push of moengage, by a rule of low confidence\n"))
        #expect(try json(explain("{}", "--json").output)["confidence"]?.kind == .null)
    }

    @Test("says that a provider's own receiver takes a message, and which route waits in vain")
    func ownReceiver() throws {
        let directory = TemporaryDirectory()
        for folder in ["routes.d", "handlers.d"] { mkdir("\(directory.path)/\(folder)", 0o755) }
        writeFile(
            "[Match]\nProvider=onesignal\n[Route]\nHandler=log\n", to: directory.path + "/routes.d/20-os.route")
        writeFile("[Handler]\nType=journal\n", to: directory.path + "/handlers.d/log.handler")
        let payload = Array(#"{"custom":"{\"i\":\"x\"}"}"#.utf8)
        let arguments = ["explain", "-", "--json", "--platform", "android", "--config", directory.path]
        let explanation = try json(pushctl.run(arguments, input: payload).output)
        #expect(explanation["outcome"]?.string == "own_receiver")
        #expect(explanation["invocations"]?.count == 0)
        #expect(
            explanation["warnings"]?.strings == [
                "the route 20-os names onesignal, whose own receiver takes the message: the route never runs, "
                    + "and a handler that showed the message would show it twice"
            ])
    }

    @Test("names the outcome if no code of the app runs")
    func outcome() throws {
        let payload = #"{"message":{"token":"x","notification":{"title":"Hello"}}}"#
        let explanation = try json(explain(payload, "--platform", "android", "--json").output)
        #expect(explanation["outcome"]?.string == "shown_by_system")
        #expect(explanation["invocations"]?.count == 0)
        let foreground = explain(payload, "--platform", "android", "--json", "--app-state", "foreground")
        #expect(try json(foreground.output)["outcome"]?.kind == .null)
        let locked = explain(payload, "--platform", "android", "--json", "--app-state", "foreground", "--locked")
        #expect(try json(locked.output)["outcome"]?.string == "shown_by_system")
        #expect(explain(payload, "--platform", "android").output.contains("outcome is shown_by_system"))
    }

    @Test("compares every state of the app on every platform, as text, JSON and a page")
    func matrix() throws {
        let payload =
            #"{"message":{"token":"t","notification":{"title":"T"},"data":{"_ab":"true","cid":"c1","t":"T","a":"A"},"#
            + #""apns":{"payload":{"aps":{"alert":"x"},"ab":{"c":"i1"}}}}}"#
        let text = explain(payload, "--platform", "all", "--app-state", "all")
        #expect(text.end == .exited(0))
        #expect(text.errors.isEmpty)
        #expect(text.output.contains("          background     braze         none *"))
        #expect(text.output.contains("* differs from the state above it\n"))
        #expect(text.output.contains("lost: Braze never saw it !"))
        #expect(text.output.contains("! is a loss: nobody gets the push, or counts the open\n"))
        let rows = try json(explain(payload, "--platform", "all", "--app-state", "all", "--json").output)["matrix"]
        #expect(rows?.elements.count == 11)
        #expect(rows?.elements[1]["tap"]?["verdict"]?.string == "unmatched")
        let page = explain(payload, "--format", "html")
        #expect(page.output.hasPrefix("<!DOCTYPE html>"))
        #expect(page.output.contains("<mark>shown_by_system</mark>"))
        #expect(page.output.contains("<span class=\"bad\">lost: Braze never saw it</span>"))
        // Each platform that the message may be for, as in the text.
        for place in ["Android, background", "iOS, background", "Web, background"] {
            #expect(page.output.contains(place) && page.errors.isEmpty)
        }
        let apple = explain(#"{"aps":{"alert":"x"}}"#, "--format", "html").output
        #expect(apple.contains("Android is left out: it has an object aps") && !apple.contains("Android, background"))
        #expect(!explain(payload, "--format", "html", "--platform", "ios").output.contains("Web, "))
        let one = explain(payload, "--platform", "ios", "--app-state", "all", "--json")
        #expect(try json(one.output)["matrix"]?.elements.count == 4)
        let guessed = explain(payload)
        #expect(guessed.errors.contains("it has apns, too: --platform all explains them\n"))
    }

    @Test("explains the text of a web push where one says that it is one, and says how to")
    func webPush() throws {
        let text = "Your order is ready\n"
        let unsaid = explain(text)
        #expect(unsaid.end == .exited(65) && unsaid.errors.contains("--platform web explains it"))
        let said = explain(text, "--platform", "web")
        #expect(said.end == .exited(0) && said.errors.contains("read as the text of a web push"))
        #expect(said.output.contains("if your code shows it: \"Your order is ready\""))
        let empty = explain("", "--platform", "web", "--json")
        #expect(empty.end == .exited(0) && empty.errors.contains("a web push without a body"))
        #expect(try json(empty.output)["shown"]?["by"]?.string == "nobody")
        // The worker gets broken JSON, too.
        #expect(explain("{\"a\":", "--platform", "web").end == .exited(65))
        let broken = explain("{\"a\":", "--transport", "web_push", "--json")
        #expect(try json(broken.output)["shown"]?["title"]?.string == "{\"a\":")
        let states = explain(text, "--platform", "web", "--app-state", "all", "--json")
        #expect(try json(states.output)["matrix"]?.elements.count == 3)
        let all = explain(#"{"aps":{"alert":"x"}}"#, "--platform", "all", "--app-state", "all")
        #expect(all.output.contains("  - Android is left out: it has an object aps"))
        #expect(!all.output.contains("android   "))
    }

    @Test("refuses a platform given twice, and one in the place of a file, with what was meant")
    func misplaced() {
        let twice = explain("{}", "--platform", "android", "--platform", "ios")
        #expect(twice.end == .exited(2) && twice.errors.contains("--platform is given twice: android and ios"))
        let same = explain("{}", "--platform", "android", "--platform", "android")
        #expect(same.end == .exited(0), "\(same.errors)")
        for (word, option) in [("android", "platform"), ("foreground", "app-state")] {
            let result = pushctl.run(["explain", "--config", shippedConfiguration, word, "push.json"])
            #expect(result.end == .exited(2))
            #expect(
                result.errors.contains("there is no file \(word); did you mean --\(option) \(word)?"),
                "\(result.errors)")
        }
    }

    @Test("shows people the owner, the reasons and the invocations")
    func text() {
        let result = explain(#"{"_ab":"true","cid":"64b0"}"#, "--platform", "android")
        #expect(
            result.output == """
                standard input:1: a Braze push, silent, campaign 64b0; does not count for influenced opens: it is not displayed
                  android, app in state background, device mode
                  nothing is shown: it is silent, without a text to show
                Why
                  1. data._ab is exactly "true": the payload is Braze's
                  2. the title (t) or the body (a) is missing in data: silent, Braze's SDK shows nothing and informs the app
                  3. the message has no notification block: FCM calls onMessageReceived, whatever the app is doing
                Rules
                  braze: the SDK's own test; source: braze-android-sdk 43.0.0, BrazeFirebaseMessagingService.isBrazePushNotification
                Callbacks
                  onMessageReceived -> tracker of opens
                Warnings
                  - silent, with a campaign: the user sees nothing to tap, but a tap that is reported counts as a direct open

                """)
        let other = explain(#"{"x":1}"#, "--platform", "android").output
        #expect(other.contains("a push of no known provider\n"))
        #expect(other.contains("onMessageReceived -> handler journal, by route 99-default, within 9000 ms\n"))
        #expect(other.contains("Warnings\n  - data.x is a number"))
    }

    @Test("shows FCM's facts about the message, and Braze's buttons, link and key-values")
    func details() throws {
        let payload =
            #"{"extras":{"_ab":"true","t":"T","a":"A","uri":"shop://x","extra":"{\"k\":\"v\"}","ab_a0_a":"ab_none","#
            + #""ab_a0_t":"Close","ab_a0_id":"no","google.message_id":"0:1","from":"123","google.ttl":60,"#
            + #""google.sent_time":"0","google.original_priority":"high","google.delivered_priority":"normal","#
            + #""collapse_key":"c","gcm.n.e":"1","gcm.n.title":"Hello"}}"#
        let text = explain(payload, "--platform", "android").output
        #expect(
            text.contains(
                """
                  message 0:1, from 123, priority high, delivered as normal, ttl 60 s, collapse key c, notification "Hello"
                  a tap opens the app, and not Braze's link shop://x
                  key-value k = v
                Why

                """))
        let open = explain(payload, "--platform", "android", "--app-state", "foreground").output
        #expect(open.contains("\n  a tap opens shop://x\n  button \"Close\", id no: close\n"))
        let explanation = try json(explain(payload, "--platform", "android", "--json").output)
        #expect(
            explanation["braze"]?["actions"]?.text == #"[{"id":"no","kind":"close","title":"Close","uri":null}]"#)
        #expect(explanation["braze"]?["deep_link"]?.string == "shop://x")
        #expect(explanation["braze"]?["key_values"]?.text == #"{"k":"v"}"#)
        #expect(
            explanation["message"]?.text
                == #"{"message_id":"0:1","message_type":null,"from":"123","to":null,"sender_id":null,"collapse_key":"c","#
                + #""sent_time":0,"ttl":60,"original_priority":"high","priority":"normal","#
                + #""notification":{"title":"Hello"}}"#)
        let dated = explain(#"{"extras":{"google.sent_time":1763694480000}}"#, "--platform", "android").output
        #expect(dated.contains("  a message without an id, sent at 2025-11-21T03:08:00Z\n"))
        let odd = explain(#"{"extras":{"google.sent_time":-9223372036854775808}}"#, "--platform", "android").output
        #expect(odd.contains("sent at -9223372036854775808 ms\n"))
    }

    @Test("shows the result without a Braze instance")
    func missingInstance() {
        let payload = #"{"ab":{"c":"x"},"aps":{"alert":"Hello"}}"#
        let result = explain(payload, "--platform", "ios", "--app-state", "foreground", "--sdk", "nil")
        #expect(
            result.output.contains(
                "willPresent: the app has no Braze instance, so it ends as sdk_not_ready: "
                    + "Braze does not see this call\n"))
    }

    @Test("says that the tracker makes no campaign events for an app whose own SDK logs opens")
    func campaignEventsOff() throws {
        let directory = TemporaryDirectory()
        writeFile("[Tracker]\nCampaignEventsOff=shop*\n", to: directory.path + "/pushrouterd.conf")
        func remark(_ payload: String, app: String) throws -> String? {
            let arguments = ["explain", "-", "--platform", "android", "--app", app, "--json"]
            let result = pushctl.run(arguments + ["--config", directory.path], input: Array(payload.utf8))
            return try json(result.output)["reasons"]?.strings.first { $0.contains("CampaignEventsOff") }
        }
        let braze = #"{"_ab":"true","t":"Title","a":"Text","cid":"64b0"}"#
        #expect(
            try remark(braze, app: "shop.de")
                == "[Tracker] CampaignEventsOff= matches the app shop.de: its own SDK logs opens, so the tracker gives no "
                + "event for an open, an influenced open or a push in the foreground: each would count twice")
        #expect(try remark(braze, app: "news") == nil)
        #expect(try remark(#"{"order":"1"}"#, app: "shop.de") == nil)
    }

    @Test("shows control characters of a payload as escapes, so that they do not reach the terminal")
    func controlCharacters() {
        let result = explain(#"{"_ab":"true","cid":"\u001b[2J"}"#, "--platform", "android")
        #expect(result.output.contains(#"campaign \x1b[2J;"#))
        #expect(!result.outputBytes.contains(0x1B))
    }

    @Test("prints one object per line for several files and for lines of payloads, in order")
    func several() throws {
        let lines = explain("{\"a\":\"1\"}\n\n{\"_ab\":\"true\"}\r\n{\"b\":\"2\"}", "--platform", "android", "--json")
            .lines
        #expect(try lines.map { try json($0)["provider"]?.text } == ["null", "\"braze\"", "null"])
        let folder = packageRoot + "/Tests/Fixtures/payloads/"
        let files = [folder + "braze-android/near-no-ab.json", folder + "braze-android/droidboy-basic.json"]
        let result = pushctl.run(["explain", "--platform", "android", "--json"] + files)
        #expect(try result.lines.map { try json($0)["provider"]?.text } == ["null", "\"braze\""])
    }

    @Test("takes the platform from a request, then from the file's name, then android, and says so")
    func platform() throws {
        let request = explain(
            #"{"op":"deliver","platform":"web","state":"foreground","payload":{"cid":"x","t":"T"}}"#, "--json")
        #expect(try json(request.output)["platform"]?.string == "web")
        #expect(try json(request.output)["state"]?.string == "foreground")
        #expect(request.errors.isEmpty)
        let directory = TemporaryDirectory()
        let file = directory.path + "/push.apns"
        writeFile(#"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"x"}}"#, to: file)
        #expect(try json(pushctl.run(["explain", "--json", file]).output)["platform"]?.string == "ios")
        #expect(try json(explain(#"{"aps":{"alert":"x"}}"#, "--json").output)["platform"]?.string == "ios")
        let neither = explain(#"{"x":"y"}"#, "--json")
        #expect(try json(neither.output)["platform"]?.string == "android")
        #expect(
            neither.errors
                == """
                pushctl: standard input:1: no --platform given: using android
                pushctl: standard input:1: the object is taken for the data of FCM's message: it has no key of a send body, and no aps

                """)
        #expect(neither.end == .exited(0))
    }

    @Test(
        "refuses with 65 a payload that the daemon would refuse, and names the field",
        arguments: [
            (#"{"message":{"token":"x","data":{"badge":1}}}"#, "payload.message.data.badge: "),
            (#"{"data":"x","notification":{}}"#, "payload.data: this has to be an object; it is a string"),
            (#"{"op":"deliver","payload":{},"colour":"red"}"#, "colour: this op has no such key"),
            (#"{"op":"deliver","payload":[]}"#, "payload: payload is an object"),
            (
                #"{"op":"interact","kind":"opened","message":1}"#,
                "op: only payloads and deliver requests can be explained"
            ),
            (#"{"a":\#(String(repeating: "[", count: 32))\#(String(repeating: "]", count: 32))}"#, "32 deep"),
        ])
    func refused(_ payload: String, _ message: String) {
        let result = explain(payload, "--platform", "android", "--json")
        #expect(result.end == .exited(65))
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("pushctl: standard input:1: "))
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test("refuses an .apns file that the simulator refuses")
    func simulatorFile() {
        let directory = TemporaryDirectory()
        let file = directory.path + "/push.apns"
        writeFile(#"{"alert":"x"}"#, to: file)
        let result = pushctl.run(["explain", file])
        #expect(result.end == .exited(65))
        let message = "payload.aps: an .apns file needs aps; the simulator refuses one without it"
        #expect(result.errors == "pushctl: \(file): \(message)\n")
    }

    @Test("continues with the next file after a faulty one")
    func nextFile() {
        let good = packageRoot + "/Tests/Fixtures/payloads/braze-android/droidboy-basic.json"
        let result = pushctl.run(["explain", "--platform", "android", "--json", "/nowhere.json", good])
        #expect(result.end == .exited(66))
        #expect(result.lines.count == 1)
        #expect(result.errors == "pushctl: /nowhere.json: No such file or directory\n")
    }

    @Test("uses a valid configuration, or ends with 78 and names the fault")
    func configuration() {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/routes.d", 0o755)
        writeFile("[Route]\nHandlr=x\n", to: directory.path + "/routes.d/10-x.route")
        let result = pushctl.run(["explain", "-", "--config", directory.path], input: Array("{}".utf8))
        #expect(result.end == .exited(78))
        #expect(result.errors.contains("routes.d/10-x.route: error: Handler= is missing"))
        let missing = pushctl.run(["explain", "-", "--config", directory.path + "/none"], input: Array("{}".utf8))
        #expect(missing.end == .exited(78))
        #expect(missing.errors.contains("/none: No such file or directory"))
    }

    @Test("names the provider of every payload in the corpus, and kind and campaign of Braze's")
    func corpus() throws {
        let expected = try #require(try? JSONDocument(scanning: Fixture.bytes("payloads/expected.json"))).root.members
        #expect(expected.count > 100)
        for platform in Platform.allCases {
            let entries = expected.filter { $0.value["platform"]?.string == platform.rawValue }
            let files = entries.map { "\(packageRoot)/Tests/Fixtures/payloads/\($0.key)" }
            let result = pushctl.run(["explain", "--json", "--platform", platform.rawValue] + files)
            #expect(result.end == .exited(0))
            try #require(result.lines.count == entries.count)
            for (line, (path, value)) in zip(result.lines, entries) {
                let explanation = try json(line)
                let matches = try #require(value["matches"]?.strings, "\(path)")
                #expect(explanation["provider"]?.text == value["provider"]?.text, "\(path)")
                #expect(explanation["matches"]?.strings == matches, "\(path)")
                #expect(explanation["ambiguous"]?.bool == (matches.count > 1), "\(path)")
                let isBraze = value["provider"]?.string == "braze"
                #expect((explanation["braze"]?.kind == .object) == isBraze, "\(path)")
                for (key, fact) in value["braze"]?.members ?? [] where isBraze {
                    #expect(explanation["braze"]?[key]?.text == fact.text, "\(path)")
                }
            }
        }
    }
}
