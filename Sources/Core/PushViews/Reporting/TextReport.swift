import PushModel

/// The parts of the report for people that need no detail.
extension ComplianceReport {
    /// The number of invocations that failed in time: they keep the deadline.
    var failed: Int { outcomes[.failed] ?? 0 }

    /// The compliance for a title, with the failures: a handler that always fails keeps every deadline.
    var verdict: String { "\(compliance)" + (failed > 0 ? ", \(grouped(failed)) failed" : "") }

    var modeText: String {
        switch mode {
        case .one(.device): "device: the deadline counts from the invocation"
        case .one(.relay): "relay: the deadline counts from acceptance"
        case .mixed: "mixed: the mode was changed, so deadlines count from different instants"
        }
    }

    var deadlineText: String {
        guard let shortestBudget, shortestBudget < budget else { return span(budget) }
        return "\(span(budget)); the shortest that a route gives (Deadline=) is \(span(shortestBudget))"
    }

    /// The numbers of decided invocations and of those in flight, as far as the source has them.
    var balanceText: String {
        guard source == .ledger else { return "\(grouped(decided)) decided; the number in flight is not known" }
        let of = requests == 1 ? "of 1 request" : "of \(grouped(requests)) requests"
        let without = requestsWithoutInvocation
        return "\(owners.sum), \(of)" + (without == 0 ? "" : ", \(grouped(without)) without an invocation")
            + (balanced ? "" : "; NOT BALANCED, see the gaps")
    }

    var outcomeTable: TextTable {
        TextTable(
            Outcome.allCases.filter { outcomes[$0] != nil },
            [.nameInText("Outcome", \.rawValue), .numberInText("Count", { grouped(outcomes[$0] ?? 0) })]
        ) { $0.isMissed || $0 == .failed ? .bad : .plain }
    }

    /// The number of copies for observing routes, as far as the source has it.
    var observerBalance: String {
        source == .ledger ? observers.tally.sum : "\(grouped(observers.tally.decided)) decided"
    }

    /// The handlers that declined attempts, or asked to repeat them.
    var answers: [FigureGroup.Named] { byHandler.byName.filter { $0.group.declined + $0.group.retries > 0 } }

    /// A limit that applied, and how it was kept.
    var limitColumns: [Column<LimitTally>] {
        [
            .numberInText("Limit", { span($0.limit.limit) }).only(.terminal, .markdown),
            .nameInText("Of", \.limit.title), .number("Limit") { "\(span($0.limit.limit))" },
            .nameInText("Callback", \.limit.callback.rawValue).only(.terminal, .page),
            .nameInText("Counts from", \.limit.start.rawValue).only(.terminal, .page),
            .numberInText("Within", { grouped($0.within) }).only(.terminal, .page),
            .numberInText("Over", { grouped($0.over) }) {
                $0.over > 0 ? "<span class=\"bad\">\(grouped($0.over))</span>" : "0"
            },
            .wordsInText("Consequence", \.limit.consequence).only(.markdown, .page),
            .words("Source") { "\($0.limit.source)" },
        ]
    }

    /// The limits that applied.
    var appliedLimits: [LimitTally] { limits.filter { $0.within + $0.over > 0 } }

    /// - Parameter width: the width of the terminal, a part of which a name within a sentence may take.
    func missTable(width: Int?) -> TextTable { slowTable(slowestMisses.rows, width) }

    /// Returns the slowest invocations, in time or late; empty if they are the slowest misses.
    func slowestTable(width: Int?) -> TextTable {
        slowTable(slowest.rows == slowestMisses.rows ? [] : slowest.rows, width)
    }

    private func slowTable(_ rows: [InvocationRecord], _ width: Int?) -> TextTable {
        let hasWaits = rows.contains { $0.result?.waitedFor != nil }
        return TextTable(
            rows.filter { $0.result != nil },
            [.seq, .n, .callback, .provider, .handler, .outcome, .time("Exec ms", \.exec), .time("Total ms", \.total)]
                + (hasWaits ? [waitColumn(rows, width)] : []), keys: 2)
    }

    /// - Parameter width: the width of the terminal, a part of which a name within a sentence may take.
    func waitTable(width: Int?) -> TextTable {
        TextTable(waits, [.seq, .n, .provider, .handler, waitColumn(waits, width)], keys: 2)
    }

    /// The invocations that waited the longest behind others.
    var waits: [InvocationRecord] { longestWaits.rows.filter { $0.result?.waitedFor != nil } }

    /// The sentence about the invocations ahead, with a text for each handler that is short enough.
    private func waitColumn(_ rows: [InvocationRecord], _ width: Int?) -> Column<InvocationRecord> {
        let names = Set(rows.compactMap { $0.result?.waitedFor?.handler?.showingControls() })
        let shown = shortenedApart(names, to: width.map { max(12, $0 / 2 - 24) } ?? .max)
        return .wordsInText("", { $0.result?.waitText(shown) ?? "" })
    }
}

/// The columns of a single invocation.
extension Column<InvocationRecord> {
    fileprivate static var seq: Self { .numberInText("Seq", \.id.seq.description) }
    fileprivate static var n: Self { .numberInText("n", { String($0.id.n) }) }
    static var callback: Self { .nameInText("Callback", \.callback.rawValue) }
    static var provider: Self { .nameInText("Provider", { $0.provider ?? "-" }).chosen }
    static var handler: Self { .nameInText("Handler", { $0.handler ?? "-" }).chosen }
    static var outcome: Self { .nameInText("Outcome", { $0.result?.outcome.rawValue ?? "-" }) }

    static func time(_ title: String, _ time: @escaping (InvocationResult) -> Duration) -> Self {
        .numberInText(title, { $0.result.map { groupedMilliseconds(time($0).microseconds) } ?? "-" })
    }
}

extension OutcomeTally {
    /// The number of accepted invocations as the sum of decided and unfinished ones.
    fileprivate var sum: String {
        "\(grouped(accepted)) accepted = \(grouped(decided)) decided + \(grouped(inFlight)) in flight"
    }
}

extension Compliance {
    /// The share with its counts.
    var text: String { text() }

    /// Returns the share with its counts, with another word for the misses, and with the failures if there are any.
    func text(missed word: String = "missed", failed: Int = 0) -> String {
        let failures = failed > 0 ? ", failed \(grouped(failed))" : ""
        return due == 0 ? description : "\(self)  (due \(grouped(due)), \(word) \(grouped(missed))\(failures))"
    }
}
