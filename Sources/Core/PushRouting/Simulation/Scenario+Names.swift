import PushDispatch
import PushModel

extension Scenario {
    /// Checks the names that expectations use: of requests, handlers, routes and providers. A misspelled name matches
    /// nothing, and what expects that nothing matches would hold.
    ///
    /// - Parameter table: the configuration that the scenario runs by.
    /// - Throws: the first name that neither the scenario nor the configuration has.
    public func checkNames(against table: RoutingTable) throws(ScenarioError) {
        let names = KnownNames(lines.map(\.line), table)
        for (number, line) in lines {
            guard case .expectation(let expectation) = line else { continue }
            do throws(ExpectationError) {
                try expectation.condition.check(names)
            } catch {
                throw ScenarioError(line: number, message: error.message)
            }
        }
    }
}

/// What an expectation may name.
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

extension Expectation.Condition {
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
        guard subject == .invocation else { return }
        if let id = members["id"]?.string { try names.check(id: id) }
        try names.check(members["provider"], "provider", in: names.providers)
        try names.check(members["route"], "route", in: names.routes)
        try names.check(members["handler"], "handler", in: names.handlers)
        try names.check(members["waited_for"]?["handler"], "handler", in: names.handlers)
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
    /// The names in order, for a message; `none` without any.
    var listed: String { isEmpty ? "none" : sorted().joined(separator: ", ") }
}
