import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

private let heading = ConformHeading(model: "pushctl 1", configuration: "0", providers: ["braze"])

/// A case of each kind that the rules tell apart.
private func judged(_ name: String) throws -> JudgedCase {
    let one = try #require(try builtInCases().first { $0.name == name })
    return try JudgedCase(try parsed(one.line(providers: ["braze"])))
}

private func result(_ text: String) throws -> ConformResult { try ConformResult(try parsed(Array(text.utf8))) }

@Suite("The judgement of a dispatcher")
struct ConformJudgementTests {
    @Test(
        "names the rule of each fault, and no other",
        arguments: [
            ("android/braze/visible", #""owners":["braze"],"returned":true,"elapsed_ms":3"#, []),
            ("android/braze/visible", #""owners":["braze"],"shown":["braze"]"#, []),
            ("android/braze/visible", #""owners":["braze","own"]"#, ["handled_twice"]),
            ("android/braze/visible", #""owners":["braze","braze"]"#, ["handled_twice"]),
            ("android/braze/visible", #""owners":["own"]"#, ["owner"]),
            ("android/braze/visible", #""owners":[]"#, ["not_handled"]),
            ("android/braze/visible", #""owners":["braze"],"shown":["own"]"#, ["shown_twice"]),
            ("android/braze/visible", #""owners":["braze"],"elapsed_ms":8999.9"#, []),
            ("android/braze/visible", #""owners":["braze"],"elapsed_ms":9000"#, ["over_policy"]),
            ("android/braze/visible", #""owners":["braze"],"elapsed_ms":20000"#, ["over_platform"]),
            ("android/braze/visible", #""owners":["braze"],"super_called":false"#, ["super_not_called"]),
            ("android/braze/visible", #""thrown":"NullPointerException""#, ["threw"]),
            ("android/braze/near-ab-uppercase", #""owners":["braze"],"returned":false"#, ["owner"]),
            ("android/own/data", #""owners":["own"],"returned":true"#, ["return_value"]),
            ("android/own/data-with-text", #""owners":["own"],"shown":["own"]"#, []),
            ("android/own/data-with-text", #""owners":["own"],"shown":["own","own"]"#, ["shown_twice"]),
            ("ios/own/silent", #""owners":["own"],"completions":[{"result":"noData","at_ms":1}]"#, []),
            ("ios/own/silent", #""owners":["own"]"#, ["completed_never"]),
            ("ios/own/silent", #""owners":["own"],"completions":[{},{}]"#, ["completed"]),
            ("ios/own/silent", #""owners":["own"],"completions":[{"result":"ok"}]"#, ["result_word"]),
            ("ios/own/silent", #""owners":["own"],"completions":[{"at_ms":9500}],"elapsed_ms":2"#, ["completed_late"]),
            ("ios/own/silent", #""owners":["own"],"completions":[{"at_ms":9500}],"elapsed_ms":9500"#, ["over_policy"]),
            ("ios/own/alert-and-waking", #""owners":["own"],"completions":[{}],"shown":["own"]"#, ["shown_twice"]),
            (
                "ios/own/alert/foreground/willPresent",
                #""owners":["own"],"completions":[{"result":"banner,list"}],"shown":["own"]"#, []
            ),
            (
                "ios/own/alert/foreground/willPresent", #""owners":["own"],"completions":[{"result":"banner,top"}]"#,
                ["result_word"]
            ),
            ("ios/braze/visible/didReceiveResponse/nil", #""owners":[],"completions":[{}]"#, []),
            ("ios/braze/visible/didReceiveResponse/nil", #""owners":["own"],"completions":[]"#, ["completed_never"]),
        ])
    func rules(name: String, members: String, rules: [String]) throws {
        let one = try judged(name)
        let result = try result(#"{"name":"\#(name)",\#(members)}"#)
        let judgement = ConformJudgement(heading, [one], [name: result], known: [])
        #expect(judgement.verdicts[0].faults.map(\.rule.rawValue) == rules)
        #expect(judgement.isAsExpected == (rules.isEmpty || rules == ["super_not_called"]))
    }

    @Test(
        "refuses a line with the member that is wrong",
        arguments: [
            (#"{}"#, "name: it is missing"), (#"{"name":"a"}"#, "owners: the line says nothing about a"),
            (#"{"name":"a","ownrs":[]}"#, "ownrs: a result has no such member; did you mean owners?"),
            (#"{"name":"a","owners":"braze"}"#, #"owners: it is a string "braze"; wanted: a list of texts"#),
            (#"{"name":"a","owners":[],"completions":1}"#, "completions: it is a number; wanted: a list of objects"),
            (#"{"name":"a","completions":[{"at_ms":-1}]}"#, "completions[0].at_ms: it is a number"),
            (#"{"name":"a","completions":[{"word":""}]}"#, "completions[0].word: a completion has result and at_ms"),
            (#"{"name":"a","returned":"yes"}"#, "returned: it is a string"),
        ])
    func wrongLines(line: String, told: String) throws {
        let error = #expect(throws: ConformError.self) { try result(line) }
        let text = error.map { "\($0.field): \($0.message)" } ?? ""
        #expect(text.hasPrefix(told), "\(text)")
    }

    @Test("takes known faults with reasons: one that passes, and a pattern that matches nothing, fail the run")
    func known() throws {
        let cases = try ["android/own/data", "android/own/empty", "android/braze/visible"].map(judged)
        let owners = ["android/own/data": "braze", "android/own/empty": "own", "android/braze/visible": "braze"]
        var results: [String: ConformResult] = [:]
        for (name, owner) in owners { results[name] = try result(#"{"name":"\#(name)","owners":["\#(owner)"]}"#) }
        func judgement(_ lines: String...) throws -> ConformJudgement {
            let known = try lines.enumerated().compactMap { try KnownFault($1, at: "known:\($0 + 1)") }
            return ConformJudgement(heading, cases, results, known: known)
        }
        #expect(try !judgement().isAsExpected)
        #expect(try judgement("# ours", "", "android/own/data: ticket 7").isAsExpected)
        let wide = try judgement("android/own/*: ticket 7")
        #expect(!wide.isAsExpected)
        #expect(wide.lines.map(\.text).contains("PASS  android/own/empty: it is known to fail: ticket 7 (known:1)"))
        let stale = try judgement("android/own/data: a", "ios/*: b")
        #expect(!stale.isAsExpected && stale.lines.map(\.text).contains("KNOWN known:2: ios/* matches no case"))
        #expect(throws: ConformError.self) { try KnownFault("android/own/data", at: "known:1") }
    }

    @Test("tells a failure with the model's reasons and the command, in each format; a case without a result fails")
    func formats() throws {
        let names = ["own/data", "braze/near-ab-uppercase", "own/empty", "own/notification"]
        let cases = try names.map { try judged("android/\($0)") }
        let results = [
            "android/braze/near-ab-uppercase": try result(
                #"{"name":"android/braze/near-ab-uppercase","owners":["braze"],"super_called":false}"#),
            "android/own/empty": try result(#"{"name":"android/own/empty","skipped":"no data"}"#),
        ]
        let judgement = ConformJudgement(heading, cases, results, known: [])
        let lines = judgement.lines.map(\.text)
        #expect(lines[0] == "FAIL  android/own/data: not_run: the results have no line for it; a line may say skipped")
        #expect(lines.contains("FAIL  android/braze/near-ab-uppercase: owner: braze got it, wanted own"))
        #expect(lines.contains { $0.hasPrefix("      why: data._ab is") })
        #expect(lines.contains { $0.hasPrefix("      printf %s") && $0.hasSuffix("--providers braze -") })
        #expect(lines.contains { $0.hasPrefix("NOTE  android/braze/near-ab-uppercase: super_not_called: ") })
        #expect(lines.last == "4 cases: 2 failed (1 not_run, 1 owner), 1 skipped, 1 without a call (pushctl 1)")
        #expect(judgement.junit.contains(#"tests="3" failures="2" errors="0""#))
        #expect(judgement.junit.contains(#"skipped="1">"#) && judgement.junit.contains(#"<skipped message="no data">"#))
        let few = results.filter { $0.key.hasSuffix("empty") }
        let many = ConformJudgement(heading, cases + cases + cases, few, known: [])
        #expect(many.lines.count == 2)
        #expect(many.lines[0].text.hasPrefix("FAIL  6 cases without a result: android/own/data, "))
        let json = try JSONDocument(scanning: judgement.json.dropLast()).root
        #expect(json["counts"]?["failed"]?.int64 == 2 && json["ok"]?.bool == false)
        #expect(json["cases"]?.elements.map { $0["status"]?.string } == ["failed", "failed", "skipped", "no_call"])
    }
}

/// A dispatcher as a table: what it does with each kind of call. The generator knows faults and their rules; it compares
/// nothing with the answers of the model.
private struct RandomDispatcher {
    /// A kind of call: the part of a case by which a dispatcher chooses.
    struct Kind: Hashable {
        let platform: String
        let callback: String
        let isBrazes: Bool
        let lacksInstance: Bool
    }

    /// Its acts, and the rules that they break.
    struct Row {
        var members: [String] = []
        var rules: Set<String> = []
    }

    private var rows: [Kind: Row] = [:]
    private var numbers: SeededGenerator

    init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    private mutating func one(of count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    mutating func row(_ kind: Kind) -> Row {
        if let known = rows[kind] { return known }
        var row = Row()
        func breaks(_ rule: String, _ member: String) {
            row.rules.insert(rule)
            row.members.append(member)
        }
        let (owner, other) = kind.isBrazes ? ("braze", "own") : ("own", "braze")
        switch (one(of: 5), kind.lacksInstance) {
        case (0, _): breaks("handled_twice", #""owners":["\#(other)","\#(owner)"]"#)
        case (1, false): breaks("owner", #""owners":["\#(other)"]"#)
        case (2, false): breaks("not_handled", #""owners":[]"#)
        default: row.members.append(#""owners":["\#(owner)"]"#)
        }
        let returns = ["onMessageReceived", "didReceiveRemoteNotification", "didReceiveResponse"].contains(
            kind.callback)
        if returns, one(of: 2) == 0 {
            let isWrong = one(of: 3) == 0
            row.members.append(#""returned":\#(kind.isBrazes != isWrong)"#)
            if isWrong, !kind.lacksInstance { row.rules.insert("return_value") }
        }
        let isSlow = one(of: 4) == 0
        if isSlow {
            let limited = ["onMessageReceived", "didReceiveRemoteNotification", "serviceExtension"]
            let hasLimit = limited.contains(kind.callback)
            let isVery = one(of: 2) == 0
            breaks(isVery && hasLimit ? "over_platform" : "over_policy", #""elapsed_ms":\#(isVery ? 61_000 : 10_000)"#)
        }
        if kind.platform != "android" {
            switch one(of: 5) {
            case 0:
                row.members.append(#""completions":[]"#)
                // A service worker that takes no event waits for none either.
                if kind.platform != "web" || !row.rules.contains("not_handled") { row.rules.insert("completed_never") }
            case 1: breaks("completed", #""completions":[{},{}]"#)
            case 2:
                row.members.append(#""completions":[{"at_ms":9001}]"#)
                if !isSlow { row.rules.insert("completed_late") }
            case 3:
                row.members.append(#""completions":[{"result":"ok"}]"#)
                let takesWords = ["didReceiveRemoteNotification", "willPresent"].contains(kind.callback)
                if takesWords { row.rules.insert("result_word") }
            default: row.members.append(#""completions":[{"at_ms":3}]"#)
            }
        }
        if one(of: 4) == 0 { breaks("shown_twice", #""shown":["own","own"]"#) }
        if one(of: 12) == 0 { row = Row(members: row.members + [#""thrown":"error""#], rules: ["threw"]) }
        rows[kind] = row
        return row
    }
}

@Suite("The judgement of random dispatchers")
struct RandomDispatcherTests {
    @Test("is right about each of them", .timeLimit(.minutes(10)))
    func verdicts() throws {
        let lines = try builtInCases().map { try parsed($0.line(providers: ["braze"])) }
            .filter { $0["callback"]?.string != nil }
        let cases = try lines.map { line in
            let kind = RandomDispatcher.Kind(
                platform: line["platform"]?.string ?? "", callback: line["callback"]?.string ?? "",
                isBrazes: isBrazes(line), lacksInstance: isBrazes(line) && line["sdk"]?.string == "nil")
            return (judged: try JudgedCase(line), kind: kind)
        }
        for seed in Search.seeds(10_000) {
            var dispatcher = RandomDispatcher(seed: seed)
            var numbers = SeededGenerator(seed: seed)
            var chosen: [String: (judged: JudgedCase, kind: RandomDispatcher.Kind)] = [:]
            for _ in 0..<8 {
                let one = cases[Int.random(in: cases.indices, using: &numbers)]
                chosen[one.judged.name] = one
            }
            var results: [String: ConformResult] = [:]
            for (name, one) in chosen {
                let members = dispatcher.row(one.kind).members.joined(separator: ",")
                results[name] = try result(#"{"name":"\#(name)",\#(members)}"#)
            }
            let judgement = ConformJudgement(heading, chosen.values.map(\.judged), results, known: [])
            for verdict in judgement.verdicts {
                let kind = try #require(chosen[verdict.judged.name]?.kind)
                let rules = dispatcher.row(kind).rules
                guard Set(verdict.faults.map(\.rule.rawValue)) != rules else { continue }
                Issue.record("seed \(seed), \(verdict.judged.name): \(verdict.faults), planted \(rules)")
            }
        }
    }
}
