public import PushModel

extension ComplianceReport {
    /// The report for programs, without the detail.
    ///
    /// - Parameter objective: the requested share of due invocations that must keep the deadline.
    /// - Returns: one JSON object on one line, with its line feed; milliseconds have up to three decimals.
    public func json(objective: Percent? = nil) -> [UInt8] {
        var writer = JSONWriter(reserving: 8192)
        writer.object { $0.members(Self.members, of: (self, objective)) }
        return writer.line()
    }

    private typealias Member = ReportMember<(report: ComplianceReport, objective: Percent?)>

    static let members: [ReportMember<(report: ComplianceReport, objective: Percent?)>] = [
        Member("mode", "'device' | 'relay' | 'mixed'", "device, relay, or mixed if the rows are of both") {
            switch $0.report.mode {
            case .one(let mode): $1.string(mode.rawValue)
            case .mixed: $1.string("mixed")
            }
        },
        Member(
            "window", "{since: string?, until: string?, first_at: string?, last_at: string?}",
            """
            since and until, null without the option; first_at and last_at, the times of the first and the last \
            accepted request in the window, null without a request
            """
        ) { source, writer in
            let (window, covered) = (source.report.window, source.report.covered)
            writer.object {
                $0.member("since", window.since?.rfc3339)
                $0.member("until", window.until?.rfc3339)
                $0.member("first_at", covered?.lowerBound.rfc3339)
                $0.member("last_at", covered?.upperBound.rfc3339)
            }
        },
        Member(
            "source",
            """
            {kind: 'ledger' | 'journal', unit?: string, directory?: string?, begin?: string?, entries?: integer, \
            first?: string?, last?: string?, away_ms?: amount, complete?: boolean, unknown?: [string]}
            """,
            """
            kind, ledger or journal. Of the journal also unit; directory, null for this machine's; begin, the time of \
            its oldest entry; entries, the outcomes that are counted, observers' among them; first and last, the times \
            of the entries that were read; away_ms, the time between runs of the daemon; complete, false if outcomes \
            are known to be missing; unknown, the names of the members that the journal does not have
            """
        ) { $1.object($0.report.source.write) },
        Member("deadline_ms", "number?", "the configured time of an invocation") { $1.span($0.report.budget) },
        Member(
            "accepted", "integer?",
            """
            invocations, those with and those without an outcome, and requests, among them requests without an \
            invocation, such as sessions. For the journal all but decided are null
            """, value: { $0.report.known($0.report.accepted) }),
        Member("decided", "integer", "", value: { $0.report.decided }),
        Member("in_flight", "integer?", "", value: { $0.report.known($0.report.inFlight) }),
        Member("requests", "integer?", "", value: { $0.report.known($0.report.requests) }),
        Member(
            "outcomes", "outcomes",
            "the number of invocations for each outcome, all outcomes included"
        ) { $1.counts($0.report.outcomes) },
        Member(
            "due", "integer",
            "compliance is from 0 to 1; null when nothing was due", value: { $0.report.compliance.due }),
        Member("missed", "integer", "", value: { $0.report.compliance.missed }),
        Member("compliance", "share?", "") { $1.fraction($0.report.compliance.fraction) },
        Member(
            "slo", "{objective_percent: number, met: boolean}?",
            "null without an objective; else objective_percent, and met, true or false"
        ) { source, writer in
            guard let objective = source.objective else { return writer.null() }
            writer.object {
                $0.member("objective_percent", raw: objective.description.utf8)
                $0.member("met", source.report.compliance.meets(objective))
            }
        },
        Member(
            "limits",
            """
            [{id: string, limit_ms: number?, applies_to: {platform: string, callback: string, transport?: string, \
            priority?: string}, counts_from: 'invocation' | 'acceptance', within: integer, over: integer, source: \
            string, consequence: string}]
            """,
            """
            a list of the platforms' own limits: id, limit_ms, applies_to (platform, callback, and transport and \
            priority where they matter), counts_from (invocation or acceptance), within and over (numbers of \
            invocations), source, and consequence
            """
        ) { $1.list($0.report.limits) { $0.write(to: &$1) } },
        Member(
            "by_handler", "{*: figures}",
            """
            objects by name; the provider none stands for payloads of no known provider. Each has count, due, missed, \
            handled, failed, misses_by_reason if there are any, and queue, exec and total of the due with p50_ms, \
            p90_ms, p99_ms, p999_ms and max_ms, null when nothing was due; declined and retries, the attempts that a \
            handler declined and the attempts after which it asked for a retry, if there are any. A quantile may be up \
            to 0.8 % above the exact one
            """
        ) { $1.groups($0.report.byHandler, named: \.self) },
        Member("by_route", "{*: figures}", "") { $1.groups($0.report.byRoute, named: \.self) },
        Member("by_provider", "{*: figures}", "") { $1.groups($0.report.byProvider, named: \.self) },
        Member("by_platform", "{*: figures}", "") { $1.groups($0.report.byPlatform, named: \.rawValue) },
        Member("by_callback", "{*: figures}", "") { $1.groups($0.report.byCallback, named: \.rawValue) },
        Member(
            "by_priority", "{*: figures}",
            """
            the same figures by the priority with which FCM delivered a message, high or normal, where the payload has \
            it; and the number of messages that were sent with high and delivered with normal priority
            """
        ) { $1.groups($0.report.byPriority, named: \.rawValue) },
        Member("lowered_priority", "integer", "", value: { $0.report.loweredPriority }),
        Member(
            "slowest", "[slow]",
            """
            the ten longest invocations among those that were due or went to the tracker: seq, n, callback, provider, \
            handler, outcome, exec_ms, total_ms; and, if it waited in its lane, ahead, the number of invocations ahead \
            of it, and waited_for with seq, n, handler and took_ms of the longest of these; handler is null for the \
            tracker, ahead and took_ms are null where they are not known
            """
        ) { $1.list($0.report.slowest.rows) { $0.write(to: &$1) } },
        Member(
            "observers",
            """
            {accepted: integer?, in_flight: integer?, outcomes: outcomes, due: integer, missed: integer, compliance: \
            share?, by_route: {*: figures}}
            """,
            """
            the invocations of observing routes, which the other members do not count, except requests: accepted, \
            in_flight, outcomes, due, missed, compliance, and by_route
            """
        ) { source, writer in
            writer.object { source.report.observers.write(to: &$0, source.report.source) }
        },
        Member(
            "gaps", "[{kind: \(words(ReportGap.Kind.self)), count: integer, message: string}]",
            """
            reasons why the figures are incomplete: kind (out_of_sequence, in_flight, daemon_down, daemon_crashed, \
            leader_lost, mixed_modes; of the journal also no_entry, summed_outcomes, dropped_entries, suppressed_entries, \
            foreign_entries, unreadable_entries, unended_runs, absences, clock_steps, store_stalls, suspensions), \
            count, message
            """
        ) { $1.list($0.report.gaps) { $0.write(to: &$1) } },
    ]

    /// Returns a figure that only the ledger has; `nil` for the journal.
    private func known(_ figure: Int) -> Int? { source == .ledger ? figure : nil }
}

extension ReportSource {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("kind", word)
        guard let journal else { return }
        writer.member("unit", journal.unit)
        writer.member("directory", journal.directory)
        writer.member("begin", journal.begin?.rfc3339)
        writer.member("entries", journal.entries)
        writer.member("first", journal.first?.rfc3339)
        writer.member("last", journal.last?.rfc3339)
        writer.member("away_ms", journal.timeAbsent)
        writer.member("complete", !journal.isIncomplete)
        writer.member("unknown", array: { list in JournalFacts.unknown.forEach { list.string($0) } })
    }
}

extension ObserverFigures {
    fileprivate func write(to writer: inout JSONWriter, _ source: ReportSource) {
        writer.member("accepted", source == .ledger ? tally.accepted : nil)
        writer.member("in_flight", source == .ledger ? tally.inFlight : nil)
        writer.key("outcomes")
        writer.counts(tally.outcomes)
        writer.members(of: tally.compliance)
        writer.key("by_route")
        writer.groups(byRoute, named: \.self)
    }
}

extension FigureGroup {
    func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("count", count)
            $0.member("due", compliance.due)
            $0.member("missed", compliance.missed)
            $0.member("handled", handled)
            $0.member("failed", failed)
            if !missReasons.isEmpty {
                $0.key("misses_by_reason")
                writeMissReasons(to: &$0)
            }
            if declined > 0 { $0.member("declined", declined) }
            if retries > 0 { $0.member("retries", retries) }
            for (name, histogram) in [("queue", queue), ("exec", exec), ("total", total)] {
                $0.key(name)
                histogram.write(to: &$0)
            }
        }
    }
}

extension Histogram {
    func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("p50_ms", quantile(permille: 500).map(Duration.microseconds))
            $0.member("p90_ms", quantile(permille: 900).map(Duration.microseconds))
            $0.member("p99_ms", quantile(permille: 990).map(Duration.microseconds))
            $0.member("p999_ms", quantile(permille: 999).map(Duration.microseconds))
            $0.member("max_ms", max.map(Duration.microseconds))
        }
    }
}

extension LimitTally {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("id", limit.id)
            $0.member("limit_ms", limit.limit)
            $0.key("applies_to")
            $0.object {
                $0.member("platform", limit.platform.rawValue)
                $0.member("callback", limit.callback.rawValue)
                if let transport = limit.transport { $0.member("transport", transport.rawValue) }
                if let priority = limit.priority { $0.member("priority", priority.rawValue) }
            }
            $0.member("counts_from", limit.start.rawValue)
            $0.member("within", within)
            $0.member("over", over)
            $0.member("source", limit.source)
            $0.member("consequence", limit.consequence)
        }
    }
}

extension InvocationRecord {
    func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("seq", id.seq.value)
            $0.member("n", id.n)
            $0.member("callback", callback.rawValue)
            $0.member("provider", provider)
            $0.member("handler", handler)
            $0.member("outcome", result?.outcome.rawValue)
            $0.member("exec_ms", result?.exec)
            $0.member("total_ms", result?.total)
            $0.members(ofWait: result)
        }
    }
}

extension ReportGap {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("kind", kind.rawValue)
            $0.member("count", count)
            $0.member("message", message)
        }
    }
}

extension JSONWriter {
    mutating func members(of compliance: Compliance) {
        member("due", compliance.due)
        member("missed", compliance.missed)
        member("compliance", compliance.fraction)
    }

    fileprivate mutating func members(of predecessor: Predecessor) {
        member("seq", predecessor.id.seq.value)
        member("n", predecessor.id.n)
        member("handler", predecessor.handler)
        member("took_ms", predecessor.took)
    }

    /// Writes an invocation's wait: the number of invocations ahead in its lane, and the longest of them.
    mutating func members(ofWait result: InvocationResult?) {
        guard let waitedFor = result?.waitedFor else { return }
        member("ahead", result?.ahead)
        member("waited_for", object: { $0.members(of: waitedFor) })
    }

    mutating func counts(_ outcomes: [Outcome: Int]) {
        object { for outcome in Outcome.allCases { $0.member(outcome.rawValue, outcomes[outcome] ?? 0) } }
    }

    fileprivate mutating func groups<Name>(_ groups: [Name: FigureGroup], named: (Name) -> String) {
        let sorted = groups.map { (name: named($0.key), group: $0.value) }.sorted { $0.name < $1.name }
        object { writer in
            for (name, group) in sorted {
                writer.key(name)
                group.write(to: &writer)
            }
        }
    }

    mutating func list<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        array { list in for element in elements { write(element, &list) } }
    }

    fileprivate mutating func fraction(_ value: Double?) { if let value { double(value) } else { null() } }

    mutating func span(_ span: Duration?) { if let span { raw(milliseconds(span).utf8) } else { null() } }

    mutating func member(_ name: String, _ span: Duration?) {
        key(name)
        self.span(span)
    }
}

/// Returns the words of an enumeration in the notation of ``JSONSchema``.
func words<Words: CaseIterable & RawRepresentable<String>>(_ type: Words.Type) -> String {
    type.allCases.map { "'\($0.rawValue)'" }.joined(separator: " | ")
}

/// A type in a short notation, which it writes as JSON Schema.
///
/// The notation: `integer` (from 0), `positive`, `number`, `amount` (from 0), `share` (0 to 1), `string`, `boolean`;
/// `'one' | 'other'` for words; `[type]`, `(type, type)` for a list of fixed length; `{name: type, name?: type}`, `{*:
/// type}` for an object with any names; `type?` for a nullable type; `type | type`; any other word is a definition.
struct JSONSchema {
    private let text: String

    init(_ text: String) { self.text = text }

    /// Writes the members of the schema's object.
    func writeMembers(to writer: inout JSONWriter) {
        var reader = Reader(rest: Array(text.utf8)[...])
        reader.type().write(to: &writer)
        precondition(reader.rest.isEmpty, "JSONSchema: \(text)")
    }

    private indirect enum Node {
        case simple(String, least: Int? = nil, most: Int? = nil, isNullable: Bool = false)
        case words([String])
        case named(String)
        case list(Node)
        case tuple([Node])
        case object([(name: String, isRequired: Bool, type: Node)])
        case map(Node)
        case any([Node])

        func write(to writer: inout JSONWriter) {
            switch self {
            case .simple(let name, let least, let most, let isNullable):
                if isNullable {
                    writer.member("type", array: { list in [name, "null"].forEach { list.string($0) } })
                } else {
                    writer.member("type", name)
                }
                if let least { writer.member("minimum", least) }
                if let most { writer.member("maximum", most) }
            case .words(let words): writer.member("enum", array: { list in words.forEach { list.string($0) } })
            case .named(let name): writer.member("$ref", "#/$defs/\(name)")
            case .list(let node):
                writer.member("type", "array")
                writer.member("items", object: node.write)
            case .tuple(let nodes):
                writer.member("type", "array")
                writer.member("prefixItems", array: { list in nodes.forEach { list.object($0.write) } })
                writer.member("minItems", nodes.count)
                writer.member("maxItems", nodes.count)
            case .object(let members):
                writer.member("type", "object")
                writer.member(
                    "properties",
                    object: { for member in members { $0.member(member.name, object: member.type.write) } })
                writer.member(
                    "required",
                    array: { list in members.filter(\.isRequired).forEach { list.string($0.name) } })
                writer.member("additionalProperties", false)
            case .map(let node):
                writer.member("type", "object")
                writer.member("additionalProperties", object: node.write)
            case .any(let nodes): writer.member("anyOf", array: { list in nodes.forEach { list.object($0.write) } })
            }
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func type() -> Node {
            var nodes = [single()]
            while take("|") { nodes.append(single()) }
            let words = nodes.flatMap { node -> [String] in if case .words(let words) = node { words } else { [] } }
            if words.count == nodes.count { return .words(words) }
            return nodes.count == 1 ? nodes[0] : .any(nodes)
        }

        private mutating func single() -> Node {
            let node = bare()
            guard take("?") else { return node }
            if case .simple(let name, let least, let most, _) = node {
                return .simple(name, least: least, most: most, isNullable: true)
            }
            return .any([.simple("null"), node])
        }

        private mutating func bare() -> Node {
            if take("[") { return .list(items("]")[0]) }
            if take("(") { return .tuple(items(")")) }
            if take("{") {
                if take("*") {
                    _ = take(":")
                    let node = type()
                    _ = take("}")
                    return .map(node)
                }
                var members: [(String, Bool, Node)] = []
                while !take("}") {
                    let name = word()
                    let isRequired = !take("?")
                    _ = take(":")
                    members.append((name, isRequired, type()))
                    _ = take(",")
                }
                return .object(members)
            }
            if take("'") {
                let text = word()
                _ = take("'")
                return .words([text])
            }
            let name = word()
            return switch name {
            case "integer": .simple("integer", least: 0)
            case "positive": .simple("integer", least: 1)
            case "amount": .simple("number", least: 0)
            case "share": .simple("number", least: 0, most: 1)
            case "number", "string", "boolean": .simple(name)
            default: .named(name)
            }
        }

        private mutating func items(_ end: Unicode.Scalar) -> [Node] {
            var nodes: [Node] = []
            while !take(end) {
                nodes.append(type())
                _ = take(",")
            }
            return nodes
        }

        private mutating func word() -> String {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            let word = rest.prefix {
                $0 == UInt8(ascii: "_") || "0"..."9" ~= Unicode.Scalar($0) || "a"..."z" ~= Unicode.Scalar($0)
            }
            precondition(!word.isEmpty, "JSONSchema: a word is missing before \(String(decoding: rest, as: UTF8.self))")
            rest = rest.dropFirst(word.count)
            return String(decoding: word, as: UTF8.self)
        }

        private mutating func take(_ mark: Unicode.Scalar) -> Bool {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            guard rest.first == UInt8(ascii: mark) else { return false }
            rest.removeFirst()
            return true
        }
    }
}
