import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("One payload on every platform, in every state of the app")
struct ExplanationMatrixTests {
    private func matrix(
        _ payload: String, _ platforms: [Platform] = Platform.allCases, state: AppState? = nil,
        table: RoutingTable = .testing()
    ) throws -> ExplanationMatrix {
        let document = try JSONDocument(scanning: Array(payload.utf8))
        return ExplanationMatrix(
            DeliverRequest(payload: document.root), platforms: platforms, state: state, table: table)
    }

    /// The cells of each row, with its place.
    private func rows(_ matrix: ExplanationMatrix) -> [String] {
        matrix.table(name: "a.json", payload: []).rows.map { row in
            let cells = row.cells.map { $0.text + ($0.differs ? "*" : "") }
            return (["\(row.place.platform)", "\(row.place.state)"] + cells).joined(separator: " | ")
        }
    }

    @Test("a Braze payload beside a notification block loses its open unless the app is in the foreground")
    func lostOpen() throws {
        let payload =
            #"{"message":{"token":"t","notification":{"title":"a"},"data":{"_ab":"true","cid":"c1","t":"T","a":"A"}}}"#
        let matrix = try matrix(payload, [.android])
        #expect(
            rows(matrix) == [
                "android | foreground | braze | onMessageReceived -> tracker | handed_to_tracker | "
                    + "direct open of campaign c1 | influenced open",
                "android | background | braze | none* | shown_by_system* | "
                    + "lost: Braze never saw it* | -*",
                "android | terminated | braze | none | shown_by_system | lost: Braze never saw it | -",
                "android | forceStopped | braze | none | not_woken* | cannot be tapped* | -",
            ])
        #expect(matrix.table(name: "", payload: []).rows.map(\.isLost) == [false, true, true, false])
    }

    @Test("a message of FCM v1 with parts for Android, iOS and the web is explained for all three")
    func threePlatforms() throws {
        let payload = #"""
            {"message":{"token":"t","data":{"_ab":"true","cid":"a1","t":"T","a":"A"},"android":{"priority":"HIGH"},
            "apns":{"payload":{"aps":{"alert":{"title":"T","body":"B"}},"ab":{"c":"i1"}}},
            "webpush":{"data":{"cid":"w1","t":"T"}}}}
            """#
        let rows = try rows(matrix(payload, state: .background))
        #expect(
            rows == [
                "android | background | braze | onMessageReceived -> tracker | handed_to_tracker | "
                    + "direct open of campaign a1 | influenced open",
                "ios | background | braze | none | shown_by_system | direct open of campaign i1 | influenced open",
                "web | background | nobody known | push -> crm | handler crm | no open of Braze's | -",
            ])
    }

    @Test(
        "a platform that a payload cannot be for is left out, with the reason",
        arguments: [
            (#"{"aps":{"alert":"x"}}"#, [Platform.ios], "which only APNs carries"),
            (#"{"k":"v"}"#, [.android, .web], "iOS is left out: it has no object aps"),
            (#"{"_ab":"true"}"#, [.android], "Web is left out: it has _ab"),
            (#"{"extras":{"google.message_id":"m"}}"#, [.android], "Web is left out: it has extras"),
            (#"{"web_push":8030,"notification":{}}"#, [.web], "Android is left out: it has web_push"),
            (#"{"data":{},"fcmMessageId":"m"}"#, [.web], "Android is left out: it has fcmMessageId"),
            (#"{"message":{"token":"t","data":{"_ab":"true"}}}"#, [.android, .ios, .web], ""),
            // Nothing is left when its keys contradict each other.
            (#"{"_ab":"true","web_push":8030}"#, [.android, .ios, .web], ""),
        ])
    func leftOut(_ payload: String, _ platforms: [Platform], _ reason: String) throws {
        let deliver = DeliverRequest(payload: JSONDocument(test: payload).root)
        let all = PayloadPlatforms(deliver)
        #expect(all.possible == platforms && all.leftOut.count == Platform.allCases.count - platforms.count)
        let matrix = ExplanationMatrix(
            deliver, platforms: all.possible, leftOut: all.leftOut, state: nil, table: .testing())
        #expect(
            matrix.rows.count { $0.place.device == nil } == platforms.reduce(0) { $0 + $1.appStates.count })
        #expect(reason.isEmpty || matrix.warnings.contains { $0.text.contains(reason) && $0.places.isEmpty })
        let lines = matrix.table(name: "a.json", payload: []).lines(width: nil).map(\.text)
        #expect(reason.isEmpty || lines.contains { $0.hasPrefix("  - ") && $0.contains(reason) })
        let chosen = DeliverRequest(
            target: Target(platform: .ios), payload: JSONDocument(test: payload).root)
        #expect(
            PayloadPlatforms(chosen, isChosen: true).leftOut.map(\.text).first == "Android is left out: iOS was chosen")
    }

    @Test("a declarative web push runs no worker where the browser shows it")
    func declarative() throws {
        let block = #""notification":{"title":"x","navigate":"https://x"}"#
        let plain = try rows(matrix("{\"web_push\":8030,\(block)}", [.web], state: .background))
        #expect(plain.first?.contains("push -> crm (none where the browser shows it)") == true)
        let mutable = try rows(matrix("{\"web_push\":8030,\"mutable\":true,\(block)}", [.web], state: .background))
        #expect(mutable.first?.contains("push -> crm |") == true)
        let deliver = DeliverRequest(payload: JSONDocument(test: "{\"web_push\":8030,\(block)}").root)
        let lines = try Explanation(deliver, platform: .web, table: .testing()).lines().map(\.text)
        #expect(
            lines.contains(#"  a browser with declarative web push shows it, any other leaves it to the worker: "x""#))
        #expect(lines.contains { $0.contains("where the browser shows it (declarative web push), no worker runs") })
    }

    @Test("the text of a web push is shown by the worker, and a push without a body has nothing to show")
    func plainText() throws {
        func explained(_ text: String) throws -> Explanation {
            let payload = WebPushText(Array(text.utf8), limits: JSONLimits()).payload
            return try Explanation(DeliverRequest(payload: payload), platform: .web, table: .testing())
        }
        let text = try explained("Your order is ready")
        #expect(text.shown.by == .app && text.shown.content?.title == "Your order is ready")
        #expect(text.remarks.contains { $0.contains("event.data.text()") })
        let empty = try explained("")
        #expect(empty.shown.by == .nobody && empty.remarks.contains { $0.contains("event.data is null") })
    }

    @Test("every possible state of an app on the platform has a row, and no other state has one")
    func states() throws {
        let matrix = try matrix(#"{"k":"v"}"#)
        for platform in Platform.allCases {
            #expect(
                matrix.rows.map(\.place).filter { $0.platform == platform }.map(\.state) == platform.appStates)
        }
        #expect(!matrix.warnings.contains { $0.text.contains("is a state of") })
    }

    @Test("a device in Doze holds a message of normal priority, and one in low power may not wake an app")
    func deviceStates() throws {
        func late(_ payload: String, _ platform: Platform, state: AppState? = nil) throws -> [String] {
            try matrix(payload, [platform], state: state).rows.filter { $0.place.device != nil }
                .map { "\($0.place.stateName): \(ExplanationMatrix.Column.outcome.text(of: $0))" }
        }
        let message = #"{"message":{"token":"t","data":{"k":"v"}}}"#
        #expect(try late(message, .android) == ["background, in Doze: held until a maintenance window"])
        #expect(try late(message, .android, state: .background).isEmpty)
        let high = #"{"message":{"token":"t","data":{"k":"v"},"android":{"priority":"HIGH"}}}"#
        #expect(try late(high, .android).isEmpty && late(#"{"aps":{"alert":"x"}}"#, .ios).isEmpty)
        let silent = #"{"aps":{"content-available":1}}"#
        #expect(try late(silent, .ios) == ["background, low power: may wait or be dropped"])
        let both = #"{"aps":{"alert":"x","content-available":1}}"#
        #expect(try late(both, .ios) == ["background, low power: shown, may not wake the app"])
        let rows = try rows(matrix(silent, [.ios]))
        #expect(rows.count == Platform.ios.appStates.count + 1 && rows[2].contains("may wait or be dropped*"))
        let json = String(decoding: try matrix(silent, [.ios]).json, as: UTF8.self)
        #expect(json.contains(#""state":"background","device_state":"low_power""#))
    }

    @Test("a payload that one platform refuses is explained for the others")
    func refusal() throws {
        let rows = try rows(matrix(#"{"aps":"x","k":"v"}"#, state: .background))
        #expect(rows.count == 3)
        #expect(rows[0].hasPrefix("android | background | nobody known | onMessageReceived -> crm | handler crm"))
        #expect(rows[1].hasPrefix("ios | background | refused: "))
        #expect(rows[1].hasSuffix("| - | - | - | -"))
    }

    @Test("a push of another SDK goes to its route, and a tap on it is no open of Braze's")
    func routed() throws {
        let table = RoutingTable.testing(
            routes: [.all(to: "one")], handlers: [Handler(name: "one", kind: .journal)])
        #expect(
            try rows(matrix(#"{"k":"v"}"#, [.android], state: .background, table: table)) == [
                "android | background | nobody known | onMessageReceived -> one | handler one | no open of Braze's | -"
            ])
    }

    @Test("a warning is listed once, with its platforms and states")
    func warnings() throws {
        let payload =
            #"{"message":{"token":"t","notification":{"title":"a"},"data":{"_ab":"true","cid":"c1","t":"T","a":"A"}}}"#
        let warning = try #require(
            try matrix(payload, [.android]).warnings.first { $0.text.hasPrefix("a Braze payload beside") })
        #expect(warning.places.map(\.state) == Platform.android.appStates)
    }

    @Test("the JSON has each explanation, the differences, and the refusals")
    func json() throws {
        let matrix = try matrix(#"{"aps":"x","_ab":"true","cid":"c1","t":"T","a":"A"}"#)
        let root = try JSONDocument(scanning: matrix.json).root
        let rows = try #require(root["matrix"]?.elements)
        #expect(rows.count == 11)
        #expect(rows[0]["tap"]?["verdict"]?.string == "opened")
        #expect(rows[0]["tap"]?["campaign_id"]?.string == "c1")
        #expect(rows[3]["differs"]?.elements.map(\.string) == ["callbacks", "outcome", "tap", "influence"])
        #expect(rows[4]["error"]?["field"]?.string == "payload.aps")
        #expect(root["warnings"]?.elements.isEmpty == false)
    }

    @Test(
        "a session that the tracker credits is allowed by the decision and the completion rules",
        arguments: [
            (Platform.android, Payload.braze()), (.android, #"{"_ab":"true","a":"A","t":"T","cid":"c"}"#),
            (.android, #"{"_ab":"true","a":"A","t":"T"}"#), (.android, #"{"_ab":"true","cid":"c"}"#),
            (.android, #"{"_ab":"true","a":"A","t":"T","cid":"c","appboy_uninstall_tracking":"true"}"#),
            (.ios, #"{"aps":{"alert":"x"},"ab":{"c":"c"}}"#), (.ios, #"{"aps":{"alert":"x"},"ab":{}}"#),
            (.ios, #"{"aps":{"content-available":1},"ab":{"c":"c"}}"#),
            (.ios, #"{"aps":{"alert":"x","content-available":1},"ab":{"c":"c"}}"#),
            (.web, #"{"cid":"c","t":"T","ab_ids":{}}"#), (.web, #"{"t":"T","ab_ids":{}}"#), (.web, #"{"k":"v"}"#),
        ])
    func influence(_ platform: Platform, _ payload: String) throws {
        let table = RoutingTable.testing()
        let document = try JSONDocument(scanning: Array(payload.utf8))
        for state in AppState.allCases {
            for permission in NotificationPermission.allCases {
                let deliver = DeliverRequest(state: state, notifications: permission, payload: document.root)
                let decision = try decide(Delivery(deliver, platform: platform), settings: table.detection)
                let explanation = try Explanation(deliver, platform: platform, table: table)
                let isAllowed =
                    decision.braze?.countsForInfluencedOpen == true
                    && table.completion.displays(decision, on: nil)
                #expect(explanation.countsForInfluencedOpen == isAllowed, "\(state), \(permission)")
            }
        }
    }

    @Test("a tap on a push that the tracker ignores does not count, and Braze saw it")
    func internalPush() throws {
        let document = try JSONDocument(
            scanning: Array(#"{"aps":{"alert":"x"},"ab":{"c":null},"ab_push_fetch_test_triggers_key":"1"}"#.utf8))
        let explanation = try Explanation(DeliverRequest(payload: document.root), platform: .ios, table: .testing())
        #expect(explanation.tap.isPossible)
        #expect(explanation.tap.text == "not counted")
    }

    @Test("the data of a message of FCM v1 does not mark another platform's payload")
    func dataOfAll() throws {
        let payload =
            #"{"message":{"token":"t","data":{"_ab":"true"},"apns":{"payload":{"aps":{"alert":"x"},"ab":{"c":"i"}}}}}"#
        #expect(try !matrix(payload, [.ios]).warnings.contains { $0.text.hasPrefix("_ab belongs to") })
        #expect(
            try matrix(#"{"aps":{"alert":"x"},"_ab":"true"}"#, [.ios]).warnings.contains {
                $0.text.hasPrefix("_ab belongs to")
            })
    }

    @Test("without an instance of Braze the callback and a tap are lost, and the session counts")
    func withoutInstance() throws {
        let document = try JSONDocument(
            scanning: Array(#"{"aps":{"alert":"x","content-available":1},"ab":{"c":"c1"}}"#.utf8))
        let deliver = DeliverRequest(state: .foreground, sdk: .missing, payload: document.root)
        let explanation = try Explanation(deliver, platform: .ios, table: .testing())
        #expect(explanation.invocations.map(\.outcome).contains(.sdkNotReady))
        #expect(
            explanation.tap.text
                == "lost: the app has no Braze instance; its session counts as an influenced open")
        let background = DeliverRequest(sdk: .missing, payload: document.root)
        #expect(
            try Explanation(background, platform: .ios, table: .testing()).tap.text.hasPrefix("lost: the app has no"))
    }

    @Test("the app of an .apns file counts for a session, and what does not count has its reason")
    func influence() throws {
        func headline(_ payload: String) throws -> String {
            let document = try JSONDocument(scanning: Array(payload.utf8))
            let explanation = try Explanation(
                DeliverRequest(payload: document.root), platform: .ios, table: .testing())
            return explanation.lines().first?.text ?? ""
        }
        let file = #"{"Simulator Target Bundle":"com.x","aps":{"alert":"x"},"ab":{"c":"c1"}}"#
        #expect(try headline(file).hasSuffix("; counts for influenced opens"))
        #expect(
            try headline(#"{"aps":{"alert":"x"},"ab":{"c":null}}"#)
                .hasSuffix("; does not count for influenced opens: it names no campaign"))
    }

    @Test(
        "the outcome is the one that the router gives it",
        arguments: [
            (Platform.android, Payload.braze()), (.android, #"{"k":"v"}"#), (.android, Payload.deletedMessages),
            (.ios, Payload.brazeIOS()), (.ios, Payload.brazeIOS(contentAvailable: true)),
            (.ios, #"{"aps":{"content-available":1},"ab":{"c":"c"}}"#), (.ios, #"{"aps":{"alert":"x"},"k":"v"}"#),
            (.ios, #"{"aps":{"alert":"x","mutable-content":1},"ab":{"c":"c"}}"#),
            (.web, #"{"cid":"c","t":"T","ab_ids":{}}"#), (.web, #"{"k":"v"}"#),
        ])
    func outcomes(_ platform: Platform, _ payload: String) throws {
        let table = RoutingTable.testing(routes: [])
        let document = JSONDocument(test: payload)
        for state in platform.appStates {
            for sdk in SDKState.allCases {
                let deliver = DeliverRequest(state: state, sdk: sdk, payload: document.root)
                var bench = Bench(table)
                try bench.submit(.deliver(payload, to: "d", platform: platform, state: state, sdk: sdk))
                let ends = bench.ends.sorted { $0.key.n < $1.key.n }.map(\.value.result.outcome.rawValue)
                let explanation = try Explanation(deliver, platform: platform, table: table)
                #expect(explanation.outcomeWords == ends.uniqued, "\(state), \(sdk)")
            }
        }
    }

    @Test("a tap and a session are tried only for Braze's pushes")
    func rehearsal() throws {
        let table = RoutingTable.testing()
        for (payload, isTried) in [(Payload.braze(), true), (#"{"k":"v"}"#, false)] {
            let deliver = DeliverRequest(payload: JSONDocument(test: payload).root)
            let decision = try decide(Delivery(deliver, platform: .android), settings: table.detection)
            #expect((Rehearsal(deliver, decision, platform: .android, table: table) != nil) == isTried)
        }
    }

    @Test("the JSON of one payload in every state of the app, byte for byte")
    func bytes() throws {
        let matrix = try matrix(#"{"aps":"x","k":"v"}"#, [.android, .ios], state: .background)
        let explanation = try #require(try matrix.rows.first?.result.get())
        let object = String(decoding: explanation.json, as: UTF8.self)
        let refusal = try #require(matrix.rows.last.flatMap { $0.result.refusal })
        let warnings = matrix.warnings.map {
            #"{"message":"\#($0.text)","places":[{"platform":"android","state":"background"}]}"#
        }.joined(separator: ",")
        #expect(
            String(decoding: matrix.json, as: UTF8.self)
                == #"{"matrix":[{"platform":"android","state":"background","differs":[],"#
                + #""tap":{"possible":true,"verdict":null,"campaign_id":null},"explanation":\#(object),"error":null},"#
                + #"{"platform":"ios","state":"background","differs":[],"tap":null,"explanation":null,"#
                + #""error":{"field":"payload.aps","message":"\#(refusal.message)"}}],"warnings":[\#(warnings)]}"#)
    }
}

extension Result<Explanation, PayloadError> {
    /// The error of a failure.
    fileprivate var refusal: PayloadError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension [String] {
    /// The texts without repeats, in order.
    fileprivate var uniqued: [String] {
        reduce(into: []) { texts, text in if !texts.contains(text) { texts.append(text) } }
    }
}
