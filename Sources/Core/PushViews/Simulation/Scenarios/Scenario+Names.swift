import PushModel
public import PushRouter

extension Scenario {
    /// Checks the names in expectations: of requests, handlers, routes and providers. A misspelled name matches
    /// nothing, so an expectation of `none` would always hold.
    ///
    /// - Parameter table: the configuration of the run.
    /// - Throws: `ScenarioError` for the first name that neither the scenario nor the configuration has.
    public func checkNames(against table: RoutingTable) throws(ScenarioError) {
        let names = KnownNames(lines.map(\.line), table)
        var texts: KnownTexts?
        for (number, line) in lines {
            guard case .expectation(let expectation) = line else { continue }
            do throws(ExpectationError) {
                try expectation.condition.check(names)
                guard let pattern = expectation.condition.absent else { continue }
                let known = texts ?? KnownTexts(lines.map(\.line), table)
                texts = known
                try pattern.check(known)
            } catch {
                throw ScenarioError(line: number, message: error.message)
            }
        }
    }
}

/// The names that an expectation may use.
private struct KnownNames {
    var ids: Set<String> = []
    var requests = 0
    let handlers: [String]
    let routes: [String]
    let providers: [String]

    init(_ lines: [Scenario.Line], _ table: RoutingTable) {
        for line in lines {
            let id: String?
            switch line {
            case .request(let step): id = step.request.id
            case .refused(let error): id = error.id
            case .expectation, .crash: continue
            }
            requests += 1
            if let id { ids.insert(id) }
        }
        handlers = table.handlers.keys.sorted()
        routes = table.routes.map(\.name)
        providers = Array(Set([Router.trackedProvider] + table.detection.providers.map(\.name)))
    }
}

/// The texts of the scenario's requests, the source of campaigns, suites and names of custom data.
private struct KnownTexts {
    /// All texts, those inside JSON texts included.
    private(set) var all: Set<String> = [EntryDestination.standardSuite]
    /// The likely intended texts, by the member of the expectation.
    private(set) var likely: [String: Set<String>] = ["suite": [EntryDestination.standardSuite]]
    /// Whether a track may name an event by a fact about the push, so that any name is possible.
    let hasFreeNames: Bool

    /// The member of an expectation by the key of a request or payload that has its text.
    private static let members = ["cid": "campaign_id", "c": "campaign_id", "suite": "suite", "name": "name"]

    init(_ lines: [Scenario.Line], _ table: RoutingTable) {
        var hasFreeNames = false
        for name in table.tracks.compactMap(\.event?.name) {
            switch name {
            case .constant(let text):
                all.insert(text)
                likely["name", default: []].insert(text)
            case .fact: hasFreeNames = true
            case .keyValue, .data: break
            }
        }
        self.hasFreeNames = hasFreeNames
        for case .request(let step) in lines { add(step.request.document.root, under: nil) }
    }

    /// Adds the texts in a value. The recursion is bounded: the scan limits the depth, and a nested text is shorter
    /// than its container.
    private mutating func add(_ value: JSONNode, under key: String?) {
        value.members.forEach { add($0.value, under: $0.key) }
        value.elements.forEach { add($0, under: key) }
        guard let text = value.string else { return }
        all.insert(text)
        if let member = key.flatMap({ Self.members[$0] }) { likely[member, default: []].insert(text) }
        if text.utf8.first == UInt8(ascii: "{"), let inner = try? JSONDocument(scanning: Array(text.utf8)) {
            add(inner.root, under: nil)
        }
    }

    /// - Throws: `ExpectationError` if a member of a pattern has a name that no request and no track has.
    func check(_ member: String, of pattern: Pattern, _ noun: String) throws(ExpectationError) {
        guard let name = pattern.members[member]?.string, !all.contains(name), member != "name" || !hasFreeNames
        else { return }
        let near = suggestion(for: name, among: likely[member] ?? [])
        throw ExpectationError(
            "expect: no request of the scenario and no track has the \(noun) \(name), so the expectation "
                + "can only hold\(near)")
    }
}

extension Expectation.Condition {
    /// The pattern that the condition expects to match nothing; `nil` for any other condition.
    fileprivate var absent: Pattern? {
        switch self {
        case .none(let pattern), .count(let pattern, 0): pattern
        case .some, .count, .invocations, .error, .pending: nil
        }
    }

    fileprivate func check(_ names: KnownNames) throws(ExpectationError) {
        switch self {
        case .some(let pattern), .none(let pattern), .count(let pattern, _): try pattern.check(names)
        case .invocations(let patterns, let request):
            for pattern in patterns { try pattern.check(names) }
            switch request {
            case .id(let id)?: try names.check(id: id)
            case .seq(let seq)?: try names.check(seq: seq)
            case nil: break
            }
        case .error, .pending: break
        }
    }
}

extension Pattern {
    fileprivate func check(_ names: KnownNames) throws(ExpectationError) {
        if subject != .event, let seq = members["seq"]?.int64 { try names.check(seq: seq) }
        if subject == .breaker { try names.check(members["handler"], "handler", in: names.handlers) }
        guard subject == .invocation || subject == .interaction else { return }
        if let id = members["id"]?.string { try names.check(id: id) }
        guard subject == .invocation else { return }
        try names.check(members["provider"], "provider", in: names.providers)
        try names.check(members["route"], "route", in: names.routes)
        try names.check(members["handler"], "handler", in: names.handlers)
        try names.check(members["waited_for"]?["handler"], "handler", in: names.handlers)
    }
}

extension Pattern {
    fileprivate func check(_ texts: KnownTexts) throws(ExpectationError) {
        switch subject {
        case .event:
            try texts.check("campaign_id", of: self, "campaign")
            try texts.check("name", of: self, "event")
        case .entry:
            try texts.check("suite", of: self, "suite")
            try texts.check("name", of: self, "entry")
        case .invocation, .interaction, .error, .breaker: break
        }
    }
}

extension KnownNames {
    fileprivate func check(id: String) throws(ExpectationError) {
        guard !ids.contains(id) else { return }
        throw ExpectationError("expect: no request of the scenario has the id \(id)")
    }

    fileprivate func check(seq: Int64) throws(ExpectationError) {
        guard !(1...Int64(max(requests, 1))).contains(seq) else { return }
        throw ExpectationError("expect: there is no request \(seq): the scenario has \(requests)")
    }

    fileprivate func check(
        _ name: JSONNode?, _ what: String, in known: [String]
    ) throws(ExpectationError) {
        guard let name = name?.string, !known.contains(name) else { return }
        throw ExpectationError("expect: there is no \(what) \(name); the \(what)s are \(known.listed)")
    }
}

extension Collection<String> {
    /// The sorted names for a message; `none` if there are none.
    var listed: String { isEmpty ? "none" : sorted().joined(separator: ", ") }
}
