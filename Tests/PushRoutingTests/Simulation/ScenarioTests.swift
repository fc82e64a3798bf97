import Glibc
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Scenarios")
struct ScenarioTests {
    /// A handler that is too slow, one that fails, and a Braze push that is opened.
    private static let story = [
        #"{"op":"deliver","id":"slow","at":0,"device":"d","payload":{"k":"1"},"script":{"takes_ms":9500}}"#,
        #"{"op":"deliver","id":"wrong","at":0,"payload":{"k":"2"},"script":{"takes_ms":10,"exit":3}}"#,
        #"{"op":"deliver","id":"sale","at":20,"external_id":"u","payload":{"_ab":"true","cid":"c","t":"T","a":"A"}}"#,
        #"{"op":"interact","kind":"opened","at":2500,"message":3}"#,
    ]

    @Test(
        "each kind of expectation in a scenario holds when it is true",
        arguments: [
            #"{"id":"slow","outcome":"timed_out","n":0,"seq":1,"provider":null,"queue_ms":0,"exec_ms":9000}"#,
            #"{"at":9000,"total_ms":9000}"#, #"{"at":"1970-01-01T00:00:09Z"}"#,
            #"{"completion":{"by":"default","times":1,"result":"noData","options":[]}}"#,
            #"{"seq":4,"completion":null,"callback":"none","outcome":"handed_to_tracker"}"#,
            #"{"outcome":"failed","reason":"status 3","route":"all","handler":"crm"}"#,
            #"{"seq":1,"observer":false,"waited_for":null}"#, #"{"none":{"observer":true}}"#,
            #"{"invocations":[{"id":"slow"},{"id":"wrong"},{"id":"sale"},{"seq":4}]}"#,
            #"{"invocations":[{"outcome":"failed"}],"of":"wrong"}"#, #"{"invocations":[{}],"of":4}"#,
            #"{"none":{"outcome":"unrouted"}}"#, #"{"none":{"event":{"event_type":"Open","time":3}}}"#,
            #"{"count":{},"is":4}"#, #"{"count":{"callback":"onMessageReceived"},"is":3}"#,
            #"{"count":{"event":{}},"is":2}"#, #"{"count":{"outcome":"duplicate"},"is":0}"#,
            #"{"event":{"event_type":"Open","time":2,"campaign_id":"c","button_string":null}}"#,
            #"{"event":{"event_type":"users.messages.pushnotification.Open","time":"1970-01-01T00:00:02Z"}}"#,
            #"{"event":{"event_type":"Open","at":2500}}"#, #"{"pending":0}"#,
        ])
    func holds(expect: String) throws { #expect(try failure(expect) == nil) }

    @Test(
        "a false expectation fails, with the actual values",
        arguments: [
            (
                #"{"id":"slow","outcome":"handled","exec_ms":9500}"#, "no invocation matches (4 checked). Closest:",
                #"seq 1, n 0, onMessageReceived timed_out: outcome is "timed_out", not "handled"; exec_ms is 9000, not 9500"#
            ),
            (
                #"{"id":"slow","completion":{"by":"handler"}}"#, "no invocation matches (4 checked). Closest:",
                #"seq 1, n 0, onMessageReceived timed_out: completion.by is "default", not "handler""#
            ),
            (
                #"{"seq":4,"completion":{"by":"handler"}}"#, "no invocation matches (4 checked). Closest:",
                #"seq 4, n 0, none handed_to_tracker: completion is null, not {"by":"handler"}"#
            ),
            (
                #"{"none":{"outcome":"failed"}}"#, "1 invocation matches, not 0:",
                "seq 2, n 0, onMessageReceived failed"
            ),
            (
                #"{"none":{"event":{"event_type":"Open"}}}"#, "1 event matches, not 0:",
                "users.messages.pushnotification.Open, at 2500"
            ),
            (#"{"count":{"outcome":"duplicate"},"is":1}"#, "0 invocations match, not 1", nil),
            (
                #"{"count":{"outcome":"failed"},"is":2}"#, "1 invocation matches, not 2:",
                "seq 2, n 0, onMessageReceived failed"
            ),
            (
                #"{"event":{"event_type":"Received","campaign_id":"d"}}"#, "no event matches (2 checked). Closest:",
                #"local.pushnotification.Received, at 20: campaign_id is "c", not "d""#
            ),
            (
                #"{"invocations":[],"of":"slow"}"#, "1 invocation decided, 0 expected:",
                "not expected: seq 1, n 0, onMessageReceived timed_out"
            ),
            (
                #"{"invocations":[{},{"n":1}],"of":1}"#, "1 invocation decided, 2 expected:",
                #"missing: invocation {"n":1}"#
            ),
            (
                #"{"invocations":[{"outcome":"handled"}],"of":1}"#, "1 invocation decided, as many as expected, but:",
                #"seq 1, n 0, onMessageReceived timed_out: outcome is "timed_out", not "handled""#
            ),
            (#"{"invocations":[],"of":"other"}"#, "this request was not accepted so far", nil),
            (#"{"pending":1}"#, "0 requests wait for an outcome, not 1", nil),
            (#"{"error":{"code":"too_long"}}"#, "the request of line 4 was accepted", nil),
        ] as [(String, String, String?)])
    func fails(expect: String, message: String, line: String?) throws {
        let failure = try #require(try failure(expect))
        #expect(failure.message == message)
        #expect(failure.lines.first == line)
    }

    // MARK: Interactions

    private static let braze =
        #"{"op":"deliver","id":"b","at":0,"app":"a","device":"d","payload":{"_ab":"true","cid":"c","t":"T","a":"A"}}"#
    private static let open = #"{"expect":{"event":{"event_type":"Open","campaign_id":"c"}}}"#

    private static func tap(_ names: String, id: String = "tap") -> String {
        #"{"op":"interact","id":"\#(id)","at":5000,"kind":"opened","app":"a","device":"d",\#(names)}"#
    }

    @Test("an interaction names its push by the id of the delivery's line; a message id of that name takes precedence")
    func named() throws {
        #expect(try check([Self.braze, Self.tap(#""message":"b""#), Self.open]).map(\.failure) == [nil])
        // Both are named b: one by its message id, the other by the id of its line.
        let other =
            #"{"op":"deliver","at":1,"app":"a","device":"d","payload":{"messageId":"b","data":{"_ab":"true","cid":"m","t":"T","a":"A"}}}"#
        let expected = Self.open.replacing(#""campaign_id":"c""#, with: #""campaign_id":"m""#)
        #expect(try check([Self.braze, other, Self.tap(#""message":"b""#), expected]).map(\.failure) == [nil])
    }

    @Test(
        "an interaction without a push fails the scenario with the reason, though it starts a session",
        arguments: [
            (
                #""message":"x""#,
                "unmatched, no push has the message id x, and no delivery before this line has the id x"
            ),
            (
                #""payload":{"_ab":"true","t":"T","a":"A","cid":"d"}"#,
                "unmatched, no Braze push with this payload came on the device d"
            ),
        ])
    func unmatched(names: String, reason: String) throws {
        let influenced = #"{"expect":{"event":{"event_type":"InfluencedOpen"}}}"#
        let checks = try check([Self.braze, Self.tap(names), influenced])
        #expect(checks.map(\.line) == [2, 3])
        #expect(checks.first?.expected == "the interaction finds its push")
        #expect(
            checks.first?.failure?.message.hasPrefix(reason + "; where that is meant, expect ") == true, "\(checks)")
        #expect(checks.last?.failure == nil)
        let meant = #"{"expect":{"interaction":{"id":"tap","verdict":"unmatched"}}}"#
        #expect(try check([Self.braze, Self.tap(names), influenced, meant]).map(\.failure) == [nil, nil])
        let other = #"{"expect":{"none":{"interaction":{"verdict":"elsewhere"}}}}"#
        #expect(try check([Self.braze, Self.tap(names), influenced, other]).map(\.line) == [2, 3, 4])
    }

    @Test("an interaction with a push that Android showed itself opens nothing, nor does one for another device")
    func neverSeen() throws {
        let shown = Self.braze.replacing(
            #""payload":{"#, with: #""payload":{"notification":{"title":"T"},"data":{"#
        ).replacing("}}", with: "}}}")
        let lost = try check([shown, Self.tap(#""message":"b""#), #"{"expect":{"none":{"event":{}}}}"#])
        #expect(
            lost.first?.failure?.message.hasPrefix("unmatched, the tracker has no push 1: shown_by_system, ") == true,
            "\(lost)")
        let elsewhere = Self.tap(#""message":"b""#).replacing(#""device":"d""#, with: #""device":"e""#)
        let checks = try check([Self.braze, elsewhere, #"{"expect":{"pending":0}}"#])
        #expect(
            checks.first?.failure?.message.hasPrefix(
                "elsewhere, push 1 went to another device or app than the interaction names")
                == true, "\(checks)")
    }

    @Test("an interaction still held at the last line finds no push; one whose push comes in time does")
    func waits() throws {
        let early = Self.tap(#""message":"m""#)
        #expect(
            try check([early, #"{"at":5001,"expect":{"none":{"event":{"event_type":"Open"}}}}"#]).map(\.line) == [1, 2])
        let push =
            #"{"op":"deliver","at":6000,"app":"a","device":"d","payload":{"messageId":"m","data":{"_ab":"true","cid":"c","t":"T","a":"A"}}}"#
        let found = #"{"expect":{"interaction":{"verdict":"opened","delivery":2}}}"#
        #expect(try check([early, push, Self.open, found]).map(\.failure) == [nil, nil])
    }

    @Test("a missing open is reported with the reasons of the interactions beside the closest match")
    func whyNoOpen() throws {
        let twice = [Self.braze, Self.tap("\"message\":1"), Self.tap("\"message\":1", id: "again")]
        let checks = try check(twice + [#"{"expect":{"event":{"event_type":"Open","campaign_id":"x"}}}"#])
        #expect(
            checks.last?.failure?.lines.suffix(2) == [
                "interaction of line 2 (seq 2, id tap): handed_to_tracker, direct open of delivery 1",
                "interaction of line 3 (seq 3, id again): handed_to_tracker, not counted: delivery 1 was already opened",
            ], "\(checks)")
        let counted = try check(twice + [#"{"expect":{"count":{"event":{"event_type":"Open"}},"is":2}}"#])
        #expect(counted.last?.failure?.lines.last?.hasPrefix("interaction of line 3 (seq 3, id again): ") == true)
        let none = try check(twice + [#"{"expect":{"none":{"event":{"event_type":"Open"}}}}"#])
        #expect(none.last?.failure?.lines.last?.hasPrefix("interaction of line 3 (seq 3, id again): ") == true)
        let session = #"{"expect":{"event":{"event_type":"SessionEnd"}}}"#
        #expect(try check(twice + [session]).last?.failure?.lines.contains { $0.hasPrefix("interaction") } == false)
    }

    @Test("an interaction with a push that was not displayed is an open, and a warning with its line")
    func notDisplayed() throws {
        let silent = Self.braze.replacing(#","a":"A""#, with: "")
        let scenario = try Scenario([silent, Self.tap(#""message":"b""#), Self.open].map { Array($0.utf8) })
        let result = scenario.run(table: Self.table, tracker: Self.tracker)
        #expect(result.checks.map(\.failure) == [nil])
        #expect(result.warnings.map(\.line) == [2])
        #expect(result.warnings.first?.message.hasSuffix("which was never displayed") == true)
    }

    // MARK: The time of the checks

    @Test("a payload that only iOS has, and that is read as Android's, is a warning with its line")
    func misread() throws {
        func warnings(_ lines: String...) throws -> [ScenarioResult.Warning] {
            let lines = lines + [#"{"expect":{"pending":0}}"#]
            let scenario = try Scenario(lines.map { Array($0.utf8) }, limits: JSONLimits())
            return scenario.run(table: .testing(), tracker: Tracker(stateID: UUID128(high: 0, low: 0))).warnings
        }
        let aps = #""payload":{"aps":{"alert":"x"}}}"#
        let guessed = try warnings(#"{"op":"deliver","at":0,"device":"d",\#(aps)"#)
        #expect(guessed.map(\.line) == [1])
        #expect(guessed.first?.message.contains(#"add "platform":"ios""#) == true)
        #expect(try warnings(#"{"op":"deliver","at":0,"platform":"ios",\#(aps)"#).isEmpty)
        #expect(
            try warnings(
                #"{"op":"session","kind":"start","at":0,"device":"d","platform":"ios"}"#,
                #"{"op":"deliver","at":1,"device":"d",\#(aps)"#
            ).isEmpty)
    }

    @Test("an expectation is checked once everything before the next line with a time is decided")
    func time() throws {
        let checks = try check([
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":100}}"#,
            #"{"expect":{"pending":1}}"#,
            #"{"at":99,"expect":{"pending":1}}"#,
            #"{"at":100,"expect":{"pending":0}}"#,
            #"{"op":"deliver","at":100,"payload":{},"script":{"takes_ms":100}}"#,
            #"{"expect":{"pending":1}}"#,
            #"{"op":"deliver","at":200,"payload":{}}"#,
            #"{"expect":{"count":{"outcome":"handled"},"is":3}}"#,
        ])
        #expect(checks.map(\.line) == [2, 3, 4, 6, 8])
        #expect(checks.allSatisfy { $0.failure == nil })
    }

    @Test("a last expectation is checked once nothing is pending")
    func end() throws {
        let checks = try check([
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":9500}}"#,
            #"{"expect":{"outcome":"timed_out"}}"#,
        ])
        #expect(checks.map(\.failure) == [nil])
    }

    @Test("thousands of expectations in a row take linear time")
    func many() throws {
        let expectations = [String](repeating: #"{"expect":{"pending":0}}"#, count: 10_000)
        let begin = processorTime()
        let checks = try check([#"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":5}}"#] + expectations)
        // About half a second; half a minute if each searched all later lines.
        #expect(processorTime() - begin < .seconds(10))
        #expect(checks.count == 10_000)
        #expect(checks.allSatisfy { $0.failure == nil })
    }

    /// The CPU time of this thread, which does not depend on the machine's load.
    private func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("a failure without a match mentions a pending request")
    func pending() throws {
        let checks = try check([
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":100}}"#,
            #"{"at":50,"expect":{"outcome":"handled"}}"#,
        ])
        #expect(checks.first?.failure?.message == "no invocation so far; 1 request still pending")
    }

    @Test("an expected refusal holds; an unexpected one fails")
    func refusals() throws {
        let checks = try check([
            #"{"op":"deliver","at":0}"#,
            #"{"name":"it says which","expect":{"error":{"code":"missing_key","field":"payload","message":"missing"}}}"#,
            #"{"op":"deliver","at":0,"payload":{"message":{"token":"t","data":{"n":1}}}}"#,
            #"{"expect":{"none":{}}}"#,
            "{",
            #"{"expect":{"error":{"code":"invalid_utf8"}}}"#,
        ])
        #expect(checks.map(\.line) == [2, 3, 4, 6])
        #expect(checks.map { $0.failure == nil } == [true, false, true, false])
        #expect(checks.first?.name == "it says which")
        #expect(checks[1].expected == "the request is accepted")
        #expect(checks[1].failure?.message.hasPrefix("refused: payload.message.data.n: ") == true)
        #expect(checks[3].failure?.lines == [#"code is "invalid_json", not "invalid_utf8""#])
    }

    @Test("the first line has the title, and the mode", arguments: [DispatchMode.device, .relay])
    func head(mode: DispatchMode) throws {
        let lines = [
            #"{"scenario":"a title","mode":"\#(mode.rawValue)"}"#, "",
            #"{"op":"deliver","at":0,"payload":{},"script":{"exit":75}}"#,
            #"{"expect":{"outcome":"failed"}}"#,
        ]
        let scenario = try Scenario(lines.map { Array($0.utf8) })
        #expect(scenario.title == "a title")
        #expect(scenario.mode == mode)
        #expect(scenario.run(table: Self.table, tracker: Self.tracker).checks.map(\.line) == [4])
        #expect(try check(lines).allSatisfy { $0.failure == nil })
    }

    @Test(
        "a malformed expectation makes the scenario unreadable",
        arguments: [
            (
                #"{"expect":{"outcom":"handled"}}"#,
                "expect.outcom: the invocation has no such member; it has ahead, at, "
            ),
            (#"{"expect":{"outcome":"handeld"}}"#, "expect.outcome: outcome is one of handed_to_tracker, handled, "),
            (#"{"expect":{"seq":"1"}}"#, #"expect.seq: seq is a whole number, or null for none; this is "1""#),
            (#"{"expect":{"handler":7}}"#, "expect.handler: handler is a string, or null for none; this is 7"),
            (#"{"expect":{"at":"noon"}}"#, "expect.at: at is a time"),
            (#"{"expect":{"completion":{"by":"me"}}}"#, "expect.completion.by: by is one of handler, tracker, default"),
            (
                #"{"expect":{"completion":{"options":"banner"}}}"#,
                "expect.completion.options: options is a list of strings"
            ),
            (#"{"expect":{"completion":{"options":[1]}}}"#, "expect.completion.options: options is a list of strings"),
            (#"{"expect":{"attempts":{}}}"#, "expect.attempts: attempts is a list of objects"),
            (#"{"expect":{"attempts":"x"}}"#, "expect.attempts: attempts is a list of objects"),
            (#"{"expect":{"attempts":[{},1]}}"#, "expect.attempts: attempts is a list of objects"),
            (#"{"expect":{"event":{"event_type":"pen"}}}"#, "expect.event.event_type: event_type is one of "),
            (#"{"expect":{"event":{"outcome":"handled"}}}"#, "expect.event.outcome: the event has no such member"),
            (
                #"{"expect":{"none":{"outcome":"handled"},"is":1}}"#,
                "expect.is: cannot stand beside none"
            ),
            (#"{"expect":{"none":{"event":{},"seq":1}}}"#, "expect.none: event stands alone"),
            (#"{"expect":{"none":7}}"#, "expect.none: must be an object with the expected members of the invocation"),
            (#"{"expect":{"count":{}}}"#, "expect.is: must be the expected number, a whole number"),
            (#"{"expect":{"count":{},"is":-1}}"#, "expect.is: must be the expected number, a whole number"),
            (
                #"{"expect":{"invocations":{}}}"#,
                "expect.invocations: must be a list with an object for each invocation"
            ),
            (#"{"expect":{"invocations":[{"n":"x"}]}}"#, "expect.invocations[0].n: n is a whole number"),
            (#"{"expect":{"invocations":[],"of":true}}"#, "expect.of: must be the id (a string) or the seq (a number)"),
            (#"{"expect":{"error":{"line":1}}}"#, "expect.error.line: the error has no such member"),
            (#"{"expect":{"pending":"none"}}"#, "expect.pending: must be the expected number"),
            (#"{"expect":{}}"#, "expect: must be an object, such as {\"outcome\":\"handled\"}"),
            (#"{"expect":7}"#, "expect: must be an object, such as {\"outcome\":\"handled\"}"),
            (#"{"expect":{"n":0},"op":"deliver"}"#, "op: beside expect a line may have only at and name"),
            (#"{"expect":{"n":0},"name":7}"#, "name: must be a string that says what the expectation shows"),
            (#"{"expect":{"n":0},"at":"noon"}"#, "at: must be RFC 3339 or Unix milliseconds"),
            (
                #"{"expect":{"n":0},"at":1}"#,
                "at: this is earlier than the time of a line before; put the lines in order"
            ),
            (#"{"scenario":"late"}"#, "scenario: only the first line may have it"),
        ])
    func unreadable(line: String, message: String) {
        do {
            _ = try Scenario([#"{"op":"deliver","at":5,"payload":{}}"#, line].map { Array($0.utf8) })
            Issue.record("it was read")
        } catch {
            #expect(error.line == 2)
            #expect(error.message.hasPrefix(message), "\(error.message)")
        }
    }

    @Test(
        "a malformed first line is an error",
        arguments: [
            (#"{"scenario":7}"#, "scenario: must be a string that says what the scenario shows"),
            (#"{"scenario":"x","mode":"fast"}"#, "mode: must be device or relay"),
            (#"{"scenario":"x","at":0}"#, "at: the first line has only scenario and mode"),
        ])
    func wrongHead(line: String, message: String) {
        #expect(throws: ScenarioError(line: 1, message: message)) { try Scenario([Array(line.utf8)]) }
    }

    @Test("a scenario without an expectation is no test")
    func nothing() {
        do {
            _ = try Scenario([Array(#"{"op":"deliver","at":5,"payload":{}}"#.utf8)])
            Issue.record("it was read")
        } catch {
            #expect(error.line == nil)
            #expect(error.message.hasPrefix("the scenario expects nothing"))
        }
    }

    @Test("every member that a simulation prints can be expected")
    func vocabulary() throws {
        var table = Self.table
        table.routes.append(Route(name: "watch", match: RouteMatch(), handler: "crm", observes: true))
        var simulator = Simulator(table: table, tracker: Self.tracker)
        let behindSlow = #"{"op":"deliver","at":3000,"device":"d","payload":{}}"#
        var output = (Self.story + [behindSlow]).enumerated()
            .flatMap { simulator.take(Array($1.utf8), number: $0 + 1) }
        output += simulator.finish() + simulator.take(Array(#"{"op":"deliver","at":1}"#.utf8), number: 6)
        let printed = output.reduce(into: Set<String>()) { printed, line in
            printed.formUnion((try? JSONDocument(scanning: line).root.members.map(\.key)) ?? [])
        }
        #expect(printed.isSuperset(of: ["observer", "waited_for"]))
        var checked: Set<String> = []
        for line in output {
            let root = try JSONDocument(scanning: line).root
            let type = try #require(root["type"]?.string)
            checked.insert(type)
            switch type {
            case "invocation": expectKnown(root, Pattern.Subject.invocation.fields)
            case "analytics": expectKnown(root, Pattern.Subject.event.fields)
            default: break
            }
        }
        #expect(checked == ["invocation", "analytics", "error"])
    }

    private func expectKnown(_ line: JSONNode, _ fields: [String: PatternField]) {
        for (key, value) in line.members where key != "type" {
            guard let field = fields[key] else {
                Issue.record("\(key) is printed, and PatternFields.swift does not have it")
                continue
            }
            #expect(field.complaint(about: value) == nil)
            if case .object(let inner) = field { expectKnown(value, inner) }
        }
    }

    /// The failure of one expectation at the end of the story.
    private func failure(_ expect: String) throws -> Check.Failure? {
        let checks = try check(Self.story + [#"{"expect":\#(expect)}"#])
        #expect(checks.map(\.line) == [5])
        #expect(checks.first?.expected == expect)
        return checks.first?.failure
    }

    private func check(_ lines: [String]) throws -> [Check] {
        try Scenario(lines.map { Array($0.utf8) }).run(table: Self.table, tracker: Self.tracker).checks
    }

    private static let table = RoutingTable(
        routes: [Route(name: "all", match: RouteMatch(), handler: "crm")],
        handlers: ["crm": Handler(name: "crm", kind: .journal)])
    private static let tracker = Tracker(stateID: UUID128(high: 0, low: 0))
}
