import PushModel

/// The reasons for misses in the form of each format.
extension FigureGroup {
    /// The numbers of misses by reason, the most frequent reason first.
    var sortedMissReasons: [(code: ReasonCode?, count: Int)] {
        missReasons.map { (code: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.code.word) < ($0.count, $1.code.word) }
    }

    /// The three most frequent reasons and the number of the other misses: `939 waited for a free place, 276 ran too
    /// long`.
    var missReasonText: String {
        let named = sortedMissReasons.prefix(3)
        let rest = compliance.missed - named.reduce(0) { $0 + $1.count }
        return named.map { "\(grouped($0.count)) \($0.code.meaning)" }.joined(separator: ", ")
            + (rest > 0 ? ", \(grouped(rest)) more" : "")
    }

    /// Writes the reasons as an object, by the names of the codes.
    func writeMissReasons(to writer: inout JSONWriter) {
        writer.object { object in
            for (code, count) in missReasons.sorted(by: { $0.key.word < $1.key.word }) {
                object.member(code.word, count)
            }
        }
    }
}

extension ReasonCode? {
    /// The word for programs.
    var word: String { self?.rawValue ?? Dimension.none }

    /// The words for people that follow a number of misses with this reason.
    var meaning: String {
        switch self {
        case .waitingInLane: "waited in a lane"
        case .notFinishedAtDeadline: "ran too long"
        case .queueFull: "waited for a free place"
        case .noHandlerStartedInTime: "got no handler in time"
        case .notDoneAfterRetries: "had no time for another try"
        case .routeTimeOver: "came to a route too late"
        case .endedInGrace: "took SIGTERM before the deadline"
        case .daemonDown: "expired while the daemon was down"
        case .some(let code): code.rawValue.replacingUnderscores
        case nil: "gave no reason"
        }
    }
}

extension ReportDocument {
    /// The summary sentence: how many invocations were late, at which handlers, why, and whether the objective is met.
    ///
    /// `1,361 of 6,253 were late; 1,340 of them at orders-api (939 waited for a free place, 276 ran too long).`
    public var answer: String {
        let compliance = report.compliance
        guard compliance.due > 0 else { return nothingDue }
        let failed = failures.map { " \($0)." } ?? ""
        let verdict = serviceLevel.map { " The objective of \($0.objective) % is \($0.isMet ? "" : "not ")met." } ?? ""
        guard compliance.missed > 0 else { return "None of \(grouped(compliance.due)) was late.\(failed)\(verdict)" }
        let late = "\(grouped(compliance.missed)) of \(grouped(compliance.due))"
        return "\(late) \(compliance.missed == 1 ? "was" : "were") late\(places)\(sinceWhen).\(failed)\(verdict)"
    }

    /// The summary sentence where no handler had a deadline to keep: what became of the calls in place of that.
    ///
    /// `No handler had a deadline to keep: all 11 pushes were handed to Braze's SDK.`
    private var nothingDue: String {
        let calls = report.accepted
        guard calls > 0 else {
            return
                "No push came\(report.window == ReportWindow() ? "" : " in this time"), so no handler had a deadline to keep."
        }
        let arePushes = report.byCallback.keys.allSatisfy { $0 == .none || $0.isOfDelivery }
        let noun = "\(grouped(calls)) \(arePushes ? "push" : "call")\(calls == 1 ? "" : arePushes ? "es" : "s")"
        var ends = Outcome.allCases.compactMap { outcome in
            report.outcomes[outcome].map { (count: $0, text: outcome.inWords) }
        }
        if report.inFlight > 0 { ends.append((report.inFlight, "in flight")) }
        ends.sort { ($1.count, $0.text) < ($0.count, $1.text) }
        let begin = "No handler had a deadline to keep"
        guard ends.count > 1 else {
            return "\(begin): \(calls == 1 ? "the one \(arePushes ? "push" : "call")" : "all \(noun)") "
                + "\(ends.first.map { "\(calls == 1 ? "was" : "were") \($0.text)" } ?? "")."
        }
        return "\(begin): of \(noun) "
            + ends.map { "\(grouped($0.count)) \($0.count == 1 ? "was" : "were") \($0.text)" }
            .joined(separator: ", ") + "."
    }

    /// The time of the first miss, as far as it is known; `, since 2026-11-24 16:23:38 +01:00`.
    private var sinceWhen: String {
        let all = detail.misses.count == detail.misses.rows.count
        let first =
            all
            ? detail.misses.rows.map(\.acceptedAt).min()
            : detail.timeline.spans.first { $0.slot.compliance.missed > 0 }?.begin
        return first.map { ", since \(zone.text($0))" } ?? ""
    }

    /// The failures in time, with the handlers that have most of them; `nil` if nothing failed.
    var failures: String? {
        guard report.failed > 0 else { return nil }
        let handlers = report.byHandler.filter { $0.value.failed > 0 }
            .sorted { ($1.value.failed, $0.key) < ($0.value.failed, $1.key) }.prefix(Self.namedPlaces)
        let text = "\(grouped(report.failed)) failed in time"
        guard let first = handlers.first else { return text }
        if first.value.failed == report.failed { return "\(text), all at \(first.key)" }
        let rest = report.failed - handlers.reduce(0) { $0 + $1.value.failed }
        return "\(text); of them " + handlers.map { "\(grouped($0.value.failed)) at \($0.key)" }.joined(separator: ", ")
            + (rest > 0 ? ", \(grouped(rest)) elsewhere" : "")
    }

    /// The most handlers that the answer names.
    private static let namedPlaces = 3

    /// The handlers with the most misses, each with its reasons; without handlers, the reasons of all misses.
    private var places: String {
        let missed = report.compliance.missed
        let handlers = report.byHandler.filter { $0.value.compliance.missed > 0 }
            .sorted { ($1.value.compliance.missed, $0.key) < ($0.value.compliance.missed, $1.key) }
            .prefix(Self.namedPlaces)
        guard let first = handlers.first else {
            let reasons = detail.all.missReasonText
            return reasons.isEmpty ? "" : " (\(reasons))"
        }
        let texts = handlers.map { name, group in "at \(name) (\(group.missReasonText))" }
        guard first.value.compliance.missed < missed else { return ", all \(texts[0])" }
        let rest = missed - handlers.reduce(0) { $0 + $1.value.compliance.missed }
        let counted = zip(handlers, texts).map { "\(grouped($0.value.compliance.missed)) \($1)" }
        return "; of them " + counted.joined(separator: ", ") + (rest > 0 ? ", \(grouped(rest)) elsewhere" : "")
    }
}

/// The rows that missed their deadline; above ``capacity`` only the slowest.
public struct MissList: Hashable, Sendable {
    /// The most rows to keep.
    public static let capacity = 200

    /// The number of all misses.
    public private(set) var count = 0
    private var kept: [ReportRow] = []

    /// The kept rows in the order of their numbers.
    public var rows: [ReportRow] { kept.sorted { $0.invocation.id < $1.invocation.id } }

    /// The kept rows, the slowest first.
    public var slowest: [ReportRow] { kept }

    mutating func add(_ row: ReportRow) {
        guard row.invocation.result?.outcome.isMissed == true else { return }
        count += 1
        insert(row)
    }

    /// Adds misses from the ledger.
    /// - Parameters:
    ///   - rows: the slowest of them.
    ///   - total: the number of all of them.
    mutating func add(_ rows: [ReportRow], of total: Int) {
        count += total
        for row in rows { insert(row) }
    }

    private mutating func insert(_ row: ReportRow) {
        if kept.count == Self.capacity {
            guard let last = kept.last, Self.isSlower(row, last) else { return }
            kept.removeLast()
        }
        kept.insert(row, at: kept.firstIndex { Self.isSlower(row, $0) } ?? kept.count)
    }

    private static func isSlower(_ left: ReportRow, _ right: ReportRow) -> Bool {
        let times = (left.invocation.result?.total ?? .zero, right.invocation.result?.total ?? .zero)
        return times.0 == times.1 ? left.invocation.id < right.invocation.id : times.0 > times.1
    }
}
