import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Mistakes in a scenario do not make it hold")
struct ScenarioMistakesTests {
    private static let table = RoutingTable(
        routes: [
            Route(name: "all", match: RouteMatch(), handler: "crm"),
            Route(name: "watch", match: RouteMatch(), handler: "audit", observes: true),
        ],
        handlers: ["crm": Handler(name: "crm", kind: .journal), "audit": Handler(name: "audit", kind: .journal)])
    private static let delivery =
        #"{"op":"deliver","id":"a","at":0,"payload":{},"#
        + #""script":{"takes_ms":9500,"handlers":{"audit":{"takes_ms":1}}}}"#

    private func scenario(_ lines: String...) throws -> Scenario { try Scenario(lines.map { Array($0.utf8) }) }

    private func failures(_ expect: String) throws -> [Check.Failure?] {
        try scenario(Self.delivery, #"{"expect":\#(expect)}"#)
            .run(table: Self.table, tracker: Tracker(stateID: UUID128(high: 0, low: 0))).checks.map(\.failure)
    }

    @Test("an expectation matches an observer's copy only if it asks for an observer")
    func observers() throws {
        let copy = try #require(try failures(#"{"id":"a","outcome":"handled"}"#).first ?? nil)
        #expect(copy.message == "no invocation matches (2 checked). Closest:")
        #expect(
            copy.lines.first == "seq 1, n 0, onMessageReceived timed_out: outcome is \"timed_out\", not \"handled\"")
        for expect in [
            #"{"id":"a","outcome":"handled","observer":true}"#, #"{"count":{},"is":1}"#,
            #"{"count":{"observer":true},"is":1}"#, #"{"invocations":[{"outcome":"timed_out"},{"observer":true}]}"#,
        ] {
            #expect(try failures(expect) == [nil], "\(expect)")
        }
        #expect(try failures(#"{"invocations":[{},{"outcome":"handled"}]}"#).first != .some(nil))
        #expect(
            try failures(#"{"none":{"outcome":"handled"}}"#).first != .some(nil), "a copy is one more that may not be")
    }

    @Test(
        "an act that no person can have done is a warning",
        arguments: [
            (#"{"aps":{"content-available":1}}"#, #""kind":"opened""#, "a was never displayed"),
            (#"{"aps":{"alert":"x"}}"#, #""kind":"action","action":"REPLY""#, "aps has no category"),
            (#"{"aps":{"alert":"x","category":"c"}}"#, #""kind":"action","action":"REPLY""#, nil),
            (#"{"aps":{"alert":"x"}}"#, #""kind":"opened""#, nil),
        ])
    func impossibleActs(_ payload: String, _ act: String, _ words: String?) throws {
        let target = #""platform":"ios","app":"shop","device":"d""#
        let result = try scenario(
            #"{"op":"deliver","id":"a","at":0,\#(target),"payload":\#(payload)}"#,
            #"{"op":"interact","at":1000,\#(target),"message":"a",\#(act)}"#,
            #"{"expect":{"none":{"outcome":"expired"}}}"#
        )
        .run(table: Self.table, tracker: Tracker(stateID: UUID128(high: 0, low: 0)))
        #expect(result.warnings.map(\.line) == (words == nil ? [] : [2]))
        if let words { #expect(result.warnings.first?.message.contains(words) == true, "\(result.warnings)") }
    }

    @Test(
        "an unknown name is an error of the scenario",
        arguments: [
            (#"{"none":{"handler":"ordres"}}"#, "there is no handler ordres; the handlers are audit, crm"),
            (#"{"waited_for":{"handler":"x"}}"#, "there is no handler x; the handlers are audit, crm"),
            (#"{"none":{"id":"typo-id"}}"#, "no request of the scenario has the id typo-id"),
            (#"{"count":{"route":"al"},"is":0}"#, "there is no route al; the routes are all, watch"),
            (#"{"none":{"provider":"braise"}}"#, "there is no provider braise; the providers are braze"),
            (#"{"invocations":[],"of":"b"}"#, "no request of the scenario has the id b"),
            (#"{"invocations":[],"of":2}"#, "there is no request 2: the scenario has 1"),
            (#"{"none":{"seq":9}}"#, "there is no request 9: the scenario has 1"),
        ])
    func names(expect: String, message: String) throws {
        let scenario = try scenario(Self.delivery, #"{"expect":\#(expect)}"#)
        #expect(throws: ScenarioError(line: 2, message: "expect: \(message)")) {
            try scenario.checkNames(against: Self.table)
        }
    }

    @Test(
        "an unknown campaign, suite or name of custom data is an error in an expectation that nothing comes",
        arguments: [
            (#"{"none":{"event":{"campaign_id":"sumer"}}}"#, "campaign sumer", "; did you mean summer?"),
            (#"{"count":{"event":{"campaign_id":"winter"}},"is":0}"#, "campaign winter", ""),
            (#"{"none":{"entry":{"suite":"standart"}}}"#, "suite standart", "; did you mean standard?"),
            (#"{"none":{"entry":{"name":"bougt"}}}"#, "entry bougt", "; did you mean bought?"),
        ])
    func absentTexts(expect: String, what: String, near: String) throws {
        let scenario = try scenario(Self.braze, Self.log, #"{"expect":\#(expect)}"#)
        let message =
            "expect: no request of the scenario and no track has the \(what), so the expectation can only hold\(near)"
        #expect(throws: ScenarioError(line: 3, message: message)) { try scenario.checkNames(against: Self.table) }
    }

    private static let braze = #"{"op":"deliver","at":0,"payload":{"_ab":"true","cid":"summer"}}"#
    private static let log = #"{"op":"log","at":0,"kind":"custom_event","name":"bought"}"#

    @Test(
        "a campaign, suite or name that may come is no error, nor is one that is expected to come",
        arguments: [
            #"{"none":{"event":{"campaign_id":"summer"}}}"#, #"{"none":{"entry":{"suite":"standard"}}}"#,
            #"{"none":{"entry":{"name":"bought"}}}"#, #"{"event":{"campaign_id":"sumer"}}"#,
        ])
    func possibleTexts(expect: String) throws {
        try scenario(Self.braze, Self.log, #"{"expect":\#(expect)}"#).checkNames(against: Self.table)
    }

    @Test(
        "known names, and null, are no errors", arguments: [#"{"handler":"crm","route":null,"id":"a","provider":null}"#]
    )
    func rightNames(expect: String) throws {
        try scenario(Self.delivery, #"{"expect":\#(expect)}"#).checkNames(against: Self.table)
    }

    @Test("a script for an unknown handler is refused")
    func scripts() throws {
        let line = #"{"op":"deliver","at":0,"payload":{},"script":{"handlers":{"nosuch":{"exit":1}}}}"#
        let checks = try scenario(line, #"{"expect":{"pending":0}}"#)
            .run(table: Self.table, tracker: Tracker(stateID: UUID128(high: 0, low: 0))).checks
        #expect(
            checks.first?.failure?.message
                == "refused: script.handlers.nosuch: there is no handler nosuch; the handlers are audit, crm (invalid_value)"
        )
    }

    @Test(
        "a line that is no JSON object gives an error with its number and the reason",
        arguments: [
            (#"{"expect":{"outcome":"handled"}"#, "at byte 31: a comma or '}' is expected; the text ends here"),
            (#"[{"expect":{}}]"#, "a request is one JSON object on one line; this is an array"),
            (
                "// a comment",
                "at byte 0: JSON has no comments; found '/'; \"name\" beside \"expect\" says what it shows"
            ),
            ("\u{0}\u{1}", "at byte 0: "),
        ])
    func brokenLines(line: String, message: String) {
        do {
            _ = try scenario(Self.delivery, line, #"{"expect":{"pending":0}}"#)
            Issue.record("it was read")
        } catch let error as ScenarioError {
            #expect(error.line == 2)
            #expect(error.message.hasPrefix(message), "\(error.message)")
        } catch {
            Issue.record("\(error)")
        }
    }
}
