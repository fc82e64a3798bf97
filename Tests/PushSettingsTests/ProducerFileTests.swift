import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("producers.d/*.producer")
struct ProducerFileTests {
    @Test("every key of a producer file is read")
    func readsEverything() {
        let (settings, diagnostics) = producer(
            """
            [Match]
            User=shop 1001
            Group=push
            Account=*@shop.example
            Project=shop-*
            [Producer]
            Operation=deliver interact
            App=com.example.*
            ExternalID=test-?
            Rate=100
            Burst=200
            """)
        #expect(diagnostics == [])
        var rule = ProducerRule(name: "20-x")
        (rule.users, rule.groups) = ([.init("shop"), .init("1001")], [.init("push")])
        (rule.accounts, rule.projects) = ([Glob("*@shop.example")], [Glob("shop-*")])
        (rule.operations, rule.apps, rule.externalIDs) = (
            [.deliver, .interact], [Glob("com.example.*")], [Glob("test-?")]
        )
        (rule.rate, rule.burst) = (100, 200)
        #expect(settings?.producers == [rule])
        #expect(rule.users.map(\.number) == [nil, 1001], "a name is looked up on the machine")
        #expect(producer("[Match]\nUser=1\n[Producer]\nRefuse=yes").settings?.producers.first?.refusesAll == true)
    }

    @Test("apply in the order of their names, and an empty file masks one")
    func sortsAndMasks() {
        let text = "[Match]\nUser=1"
        let (settings, diagnostics) = load(producers: ["b": text, "10-a": text, "9": text, "c": ""])
        #expect(diagnostics == [])
        #expect(settings?.producers.map(\.name) == ["10-a", "9", "b"])
    }

    @Test(
        "a producer file is used whole or not at all",
        arguments: [
            (
                "[Match]\nProject=shop\n[Producer]\nRate=1", 2,
                "Project= needs User= or Group=, such as User=pushrouter-gateway: every client of inject.sock can name "
                    + "any sender"
            ),
            ("[Match]\nUser=1\n[Producer]\nRefuse=yes\nApp=a", 5, "App= has no meaning with Refuse=yes"),
            ("[Producer]\nBurst=5", 2, "Burst= needs Rate="),
            ("[Producer]\nRate=0", 2, "Rate=0: must be from 1 to 1000000"),
            (
                "[Producer]\nOperation=send", 2,
                "Operation=send: must be deliver, interact, session, token, log, topic, publish or device"
            ),
        ])
    func wrongFiles(lines: String, line: Int, message: String) {
        let (settings, diagnostics) = producer(lines)
        #expect(diagnostics == ["producers.d/20-x.producer:\(line): error: \(message)"])
        #expect(settings == nil)
    }

    @Test(
        "a line that would be passed over elsewhere is an error: the rule would allow more than the file means",
        arguments: ["[Match]\nUsers=1\n[Producer]\nRate=1", "[Match]\nUser=1\n[Producers]\nRefuse=yes"])
    func passedOver(lines: String) {
        let (settings, diagnostics) = producer(lines)
        #expect(settings == nil && diagnostics.count == 2)
        #expect(diagnostics.first?.hasSuffix("correct what the warnings name") == true, "\(diagnostics)")
    }

    @Test("warns of a rule behind one that decides about everybody")
    func neverApplies() {
        let (settings, diagnostics) = load(producers: ["10-all": "[Producer]\nRate=5", "20-x": "[Match]\nUser=1"])
        #expect(
            diagnostics == [
                "producers.d/20-x.producer: warning: never applies: 10-all comes first and decides about all senders"
            ])
        #expect(settings?.producers.count == 2)
    }

    @Test("a request that others refuse gives back what it took, and never more than the burst")
    func givesBack() throws {
        let settings = try #require(producer("[Producer]\nRate=1\nBurst=2").settings)
        var rules = ProducerRules(settings.producers)
        let request = try Request(
            line: Array(#"{"op":"deliver","platform":"android","payload":{}}"#.utf8), limits: .testing)
        for _ in 1...9 { rules.giveBack(try rules.admit(request, among: [0], at: 5)) }
        for _ in 1...2 { _ = try rules.admit(request, among: [0], at: 5) }
        #expect(throws: ProtocolError.self) { _ = try rules.admit(request, among: [0], at: 5) }
        rules.giveBack(try rules.admit(request, among: [], at: 5))
    }

    @Test("a reload keeps what is left of an unchanged rate, and fills a changed one")
    func reload() throws {
        func rules(_ rate: Int, after earlier: ProducerRules?) throws -> ProducerRules {
            let settings = try #require(producer("[Producer]\nRate=\(rate)\nBurst=2").settings)
            return ProducerRules(settings.producers, after: earlier)
        }
        let request = try Request(
            line: Array(#"{"op":"deliver","platform":"android","payload":{}}"#.utf8), limits: .testing)
        func answers(_ rules: inout ProducerRules, _ count: Int) -> [Bool] {
            (0..<count).map { _ in (try? rules.admit(request, among: [0], at: 5)) != nil }
        }
        var first = try rules(1, after: nil)
        let burst = answers(&first, 3)
        #expect(burst == [true, true, false])
        var same = try rules(1, after: first)
        let kept = answers(&same, 1)
        #expect(kept == [false])
        var other = try rules(3, after: same)
        let filled = answers(&other, 1)
        #expect(filled == [true])
    }
}

extension JSONLimits {
    fileprivate static let testing = JSONLimits(depth: 32)
}

/// A second evaluator of rules for producers, for files and requests that the test makes: it knows each fact of them
/// without reading, matches patterns letter by letter, and counts a rate over every window.
@Suite("Rules for producers and a naive evaluator")
struct ProducerRulesRandomTests {
    private struct Rule {
        var keys: [(section: String, key: String, values: [String])] = []
        /// The times of the requests that it allowed.
        var allowed: [Int64] = []

        subscript(key: String) -> [String]? { keys.first { $0.key == key }?.values }

        var text: String {
            ["Match", "Producer"].map { section in
                "[\(section)]\n"
                    + keys.filter { $0.section == section }.map { "\($0.key)=\($0.values.joined(separator: " "))\n" }
                    .joined()
            }.joined()
        }

        /// Whether one more request at `now` exceeds the rate: in some window that ends now there were too many.
        mutating func take(_ now: Int64) -> Bool {
            guard let rate = self["Rate"].flatMap({ Int64($0[0]) }) else { return true }
            let burst = self["Burst"].flatMap { Int64($0[0]) } ?? rate
            let all = allowed + [now]
            for (place, start) in all.enumerated() {
                // A billionth of a request comes in each nanosecond for each of the rate.
                let most = burst * 1_000_000_000 + (now - start) * rate
                if Int64(all.count - place) * 1_000_000_000 > most { return false }
            }
            allowed.append(now)
            return true
        }
    }

    private struct Facts {
        var user: UInt32
        var groups: [UInt32]
        var op: String
        var app: String?
        var externalID: String?
        var account: String?
        var project: String?

        var line: String {
            func member(_ key: String, _ value: String?) -> String { value.map { ",\"\(key)\":\"\($0)\"" } ?? "" }
            let target = member("app", app) + member("external_id", externalID)
            let sender =
                account == nil && project == nil
                ? "" : ",\"sender\":{\"client\":\"c\"\(member("account", account))\(member("project", project))}"
            return switch op {
            case "deliver": "{\"op\":\"deliver\",\"platform\":\"android\",\"payload\":{}\(target)\(sender)}"
            case "session": "{\"op\":\"session\",\"kind\":\"start\",\"device\":\"d\"\(target)}"
            case "device": "{\"op\":\"device\",\"device\":\"d\",\"state\":\"foreground\"\(target)}"
            default:
                "{\"op\":\"topic\",\"kind\":\"subscribe\",\"topic\":\"t\",\"tokens\":[\"x\"]\(member("project", project))"
                    + "\(member("app", app))}"
            }
        }
    }

    private static func matches(_ pattern: Substring, _ text: Substring) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return matches(pattern.dropFirst(), text) || !text.isEmpty && matches(pattern, text.dropFirst())
        }
        guard let letter = text.first, first == "?" || first == letter else { return false }
        return matches(pattern.dropFirst(), text.dropFirst())
    }

    private static func holds(_ patterns: [String]?, _ text: String?) -> Bool {
        guard let patterns else { return true }
        guard let text else { return patterns.contains("*") }
        return patterns.contains { matches($0[...], text[...]) }
    }

    /// Decides by the words of pushrouterd.conf(5): the name of the rule, and the key that is not kept.
    private static func decide(_ facts: Facts, at now: Int64, _ rules: inout [Rule]) -> (Int, String?)? {
        let place = rules.firstIndex { rule in
            (rule["User"].map { $0.contains("\(facts.user)") } ?? true)
                && (rule["Group"].map { groups in facts.groups.contains { groups.contains("\($0)") } } ?? true)
                && holds(rule["Account"], facts.account) && holds(rule["Project"], facts.project)
        }
        guard let place else { return nil }
        if rules[place]["Refuse"] != nil { return (place, "") }
        if let operations = rules[place]["Operation"], !operations.contains(facts.op) { return (place, "op") }
        if !holds(rules[place]["App"], facts.app) { return (place, "app") }
        if !holds(rules[place]["ExternalID"], facts.externalID) { return (place, "external_id") }
        return (place, rules[place].take(now) ? nil : "rate")
    }

    private static let texts = ["a", "b", "ab", "abc", "shop-1", "shop-2", "x.y"]
    private static let patterns = texts + ["*", "a*", "?", "*b", "shop-?", "a*c", "sh*-*1", "??"]

    private static func randomRule(using generator: inout SeededGenerator) -> Rule {
        var rule = Rule()
        func often(_ share: Int) -> Bool { Int.random(in: 0..<share, using: &generator) == 0 }
        func some(_ words: [String]) -> [String] {
            (0..<Int.random(in: 1...3, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "a" }
        }
        if !often(4) { rule.keys.append(("Match", "User", some(["1", "2", "3"]))) }
        if often(3) { rule.keys.append(("Match", "Group", some(["7", "8", "9"]))) }
        if !rule.keys.isEmpty {
            if often(3) { rule.keys.append(("Match", "Account", some(patterns))) }
            if often(3) { rule.keys.append(("Match", "Project", some(patterns))) }
        }
        guard !often(10) else {
            rule.keys.append(("Producer", "Refuse", ["yes"]))
            return rule
        }
        if often(2) { rule.keys.append(("Producer", "Operation", some(["deliver", "session", "topic", "device"]))) }
        if often(3) { rule.keys.append(("Producer", "App", some(patterns))) }
        if often(4) { rule.keys.append(("Producer", "ExternalID", some(patterns))) }
        if often(2) {
            rule.keys.append(("Producer", "Rate", ["\(Int.random(in: 1...7, using: &generator))"]))
            if often(2) { rule.keys.append(("Producer", "Burst", ["\(Int.random(in: 1...9, using: &generator))"])) }
        }
        return rule
    }

    private static func randomFacts(using generator: inout SeededGenerator) -> Facts {
        func text() -> String? { Bool.random(using: &generator) ? texts.randomElement(using: &generator) : nil }
        let op = ["deliver", "deliver", "session", "topic", "device"].randomElement(using: &generator) ?? "deliver"
        var facts = Facts(
            user: .random(in: 1...4, using: &generator), groups: [.random(in: 7...10, using: &generator)], op: op)
        facts.app = text()
        if Bool.random(using: &generator) { facts.groups.append(.random(in: 7...10, using: &generator)) }
        switch op {
        case "deliver": (facts.externalID, facts.account, facts.project) = (text(), text(), text())
        case "topic": facts.project = texts.randomElement(using: &generator)
        default: facts.externalID = text()
        }
        return facts
    }

    @Test("decide the same, by the same rule, about 40 requests to each of 10,000 sets of files")
    func agree() throws {
        var generator = SeededGenerator(seed: Search.firstSeed)
        var counts: [String: Int] = [:]
        for number in 0..<Search.cases(10_000) {
            var naive = (0..<Int.random(in: 0...5, using: &generator)).map { _ in Self.randomRule(using: &generator) }
            let files = Dictionary(uniqueKeysWithValues: naive.enumerated().map { ("\($0)", $1.text) })
            let settings = try #require(load(producers: files).settings, "\(files)")
            var rules = ProducerRules(settings.producers)
            var now: Int64 = 1_000
            for _ in 0..<40 {
                now += [0, 1, 1_000_000, 142_857_143, 400_000_000].randomElement(using: &generator) ?? 0
                let facts = Self.randomFacts(using: &generator)
                let request = try Request(line: Array(facts.line.utf8), limits: .testing)
                let expected = Self.decide(facts, at: now, &naive)
                let places = rules.places(ofUser: facts.user) { facts.groups }
                let what =
                    "set \(number), seed \(Search.firstSeed): \(facts.line) by \(facts.user) \(facts.groups), \(files)"
                #expect(rules.rule(of: request, among: places) == expected.map { "\($0.0)" }, "\(what)")
                let answer = Result { () throws(ProtocolError) in
                    try rules.admit(request, among: places, at: now)
                }
                switch answer {
                case .success:
                    try #require(expected == nil || expected?.1 == nil, "\(what)")
                    counts[expected == nil ? "unmatched" : "allowed", default: 0] += 1
                case .failure(let error):
                    try #require(error.rule == expected.map { "\($0.0)" }, "\(what)")
                    let reason = error.code == .overloaded ? "rate" : error.field ?? ""
                    try #require(reason == expected?.1, "\(what)")
                    counts[reason, default: 0] += 1
                    guard let place = expected?.0, let wait = error.retryAfter else { continue }
                    // The time that is told is enough, and not much more than enough.
                    let (due, early) = (now + wait.nanoseconds, now + wait.nanoseconds - 2_000_000)
                    var (then, before) = (naive[place], naive[place])
                    let (isEnough, isTooMuch) = (then.take(due), early >= now && before.take(early))
                    #expect(isEnough && !isTooMuch, "\(what)")
                }
            }
        }
        let kinds: Set = ["unmatched", "allowed", "op", "app", "external_id", "", "rate"]
        #expect(Set(counts.keys) == kinds, "each decision is met: \(counts)")
    }
}
