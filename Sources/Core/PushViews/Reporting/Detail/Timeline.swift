public import PushModel

/// The compliance over time: figures of equally long spans of the time of acceptance.
///
/// A span lasts one minute at first. Its length doubles when more than ``capacity`` spans would be needed, so the size
/// is bounded.
public struct Timeline: Hashable, Sendable {
    /// The most spans.
    public static let capacity = 80

    /// The upper bounds of the latency bands, exclusive, in microseconds; the last band has no bound.
    static var bounds: [Int64] { LatencyBands.bounds }

    /// The figures of one span.
    public struct Slot: Hashable, Sendable {
        /// Rows accepted in it.
        public fileprivate(set) var accepted = 0
        /// The numbers of due rows and of misses.
        public var compliance: Compliance { Compliance(due: due, missed: missed) }
        /// The numbers of due rows, by how they ended.
        var calls: CallCounts { CallCounts(due: due, failed: failed, late: missed) }
        /// The numbers of due rows by latency band (from acceptance to the end).
        var bands = Array(repeating: 0, count: LatencyBands.count)

        fileprivate var due = 0
        fileprivate var missed = 0
        fileprivate var failed = 0

        fileprivate mutating func merge(_ other: Slot) {
            accepted += other.accepted
            due += other.due
            missed += other.missed
            failed += other.failed
            for band in bands.indices { bands[band] += other.bands[band] }
        }
    }

    /// The length of a span, in milliseconds.
    public private(set) var width: Int64 = 60_000
    private var slots: [Int64: Slot] = [:]
    private var first: Int64?
    private var last: Int64 = 0

    /// A timeline without rows.
    init() {}

    /// Counts one row.
    public mutating func add(_ row: ReportRow) {
        makeRoom(for: row.acceptedAt.milliseconds)
        let place = Self.place(row.acceptedAt.milliseconds, width)
        slots[place, default: Slot()].accepted += 1
        guard let result = row.invocation.result else { return }
        if result.outcome.isDue { slots[place, default: Slot()].due += 1 }
        if result.outcome.isMissed { slots[place, default: Slot()].missed += 1 }
        if result.outcome == .failed { slots[place, default: Slot()].failed += 1 }
        guard result.outcome.isDue else { return }
        slots[place, default: Slot()].bands[LatencyBands.band(of: result.total.microseconds)] += 1
    }

    /// Extends the timeline to contain a minute.
    public mutating func makeRoom(forMinute minute: Int64) { makeRoom(for: minute * 60_000) }

    /// Adds a span of the ledger's figures.
    /// - Parameters:
    ///   - minute: its first minute; the caller has made room for each of its minutes in which a request was accepted.
    ///   - minutes: its length; at most ``width``.
    public mutating func add(_ figures: SpanFigures, minute: Int64, minutes: Int64) {
        precondition(minutes * 60_000 <= width, "a span of figures is longer than one of the timeline")
        guard figures.decided > 0 else { return }
        var slot = Slot()
        slot.accepted = figures.decided
        (slot.due, slot.missed, slot.bands) = (figures.due, figures.missed, figures.bands)
        slots[Self.place(minute * 60_000, width), default: Slot()].merge(slot)
    }

    /// Adds failures of the ledger's figures, which a span's figures do not have apart.
    public mutating func add(failed: Int, minute: Int64) {
        slots[Self.place(minute * 60_000, width), default: Slot()].failed += failed
    }

    /// The spans from the first with a row to the last, including empty ones, each with its begin.
    public var spans: [(begin: WallTime, slot: Slot)] {
        guard let first else { return [] }
        return (first...last).map { (begin: WallTime(milliseconds: $0 * width), slot: slots[$0] ?? Slot()) }
    }

    private mutating func makeRoom(for time: Int64) {
        while true {
            let place = Self.place(time, width)
            let (low, high) = (min(first ?? place, place), max(first == nil ? place : last, place))
            if high - low < Self.capacity {
                first = low
                last = high
                return
            }
            widen()
        }
    }

    private mutating func widen() {
        var wider: [Int64: Slot] = [:]
        for (place, slot) in slots { wider[Self.place(place * width, width * 2), default: Slot()].merge(slot) }
        if let first {
            self.first = Self.place(first * width, width * 2)
            last = Self.place(last * width, width * 2)
        }
        slots = wider
        width *= 2
    }

    private static func place(_ time: Int64, _ width: Int64) -> Int64 {
        time >= 0 ? time / width : (time - width + 1) / width
    }
}

extension InvocationResult {
    /// Returns the invocation's wait in its lane for people: `waited 7.5 s behind 60, longest #90 (hangs, 702 ms)`;
    /// `nil` if it did not wait. Leaves out unknown facts.
    /// - Parameter names: the texts to show for handlers; a handler without one shows its full name.
    func waitText(_ names: [String: String] = [:]) -> String? {
        aheadText(handler: { names[$0.showingControls()] ?? $0 }).map { text in
            "waited \(roundedSpan(queue))\(ahead == nil ? ", " : " ")\(text)"
        }
    }

    /// Returns the invocations ahead in its lane: `behind 60, longest #90 (hangs, 702 ms)`; `nil` if none was.
    /// - Parameters:
    ///   - handler: returns the text to show for a handler.
    ///   - invocation: returns the text to show for another invocation; `nil`: `#41`.
    func aheadText(
        handler: (String) -> String, invocation: ((InvocationID) -> String)? = nil
    ) -> String? {
        guard let waitedFor else { return nil }
        let behind = ahead.map { "behind \(grouped($0)), " } ?? ""
        let name = invocation?(waitedFor.id) ?? "#\(waitedFor.id.shortName)"
        let facts = [waitedFor.handler.map(handler) ?? "tracker", waitedFor.took.map(roundedSpan)].compactMap(\.self)
        return "\(behind)longest \(name) (\(facts.joined(separator: ", ")))"
    }
}

extension InvocationID {
    /// The id for people: `41`, or `41.1` if it is not the first of its request.
    var shortName: String { n == 0 ? "\(seq)" : "\(seq).\(n)" }
}
