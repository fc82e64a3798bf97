public import PushModel

/// The source of pushes for page, API and live stream, such as the ledger of this machine. For one thread at a time.
public protocol PushSource: AnyObject {
    /// Searches, the newest first.
    func search(_ search: PushSearch) throws(SourceError) -> PushPage
    /// One request with all that came of it.
    func story(of seq: SequenceNumber) throws(SourceError) -> FoundStory
    /// The place behind all that there is now.
    func position() throws(SourceError) -> SourcePosition
    /// Returns the requests that are new or changed since a position, oldest first, and moves the position behind them.
    ///
    /// - Parameter limit: of new requests.
    func changes(since position: inout SourcePosition, limit: Int) throws(SourceError) -> SourceChanges
    /// A number that is another one when there may be something new. It reads nothing from the disk.
    func changeNumber() throws(SourceError) -> Int64
    /// How well deadlines were kept.
    func report(_ order: ReportOrder) throws(SourceError) -> ReportDocument
    /// The figures of campaigns.
    func campaigns(_ window: ReportWindow) throws(SourceError) -> CampaignReport
    /// A device that is known; `nil`: no request has named it.
    func device(_ key: DeviceKey) throws(SourceError) -> KnownDevice?
    /// The devices that are known, those that were first named last first.
    ///
    /// - Parameter limit: how many at most.
    func devices(limit: Int) throws(SourceError) -> [KnownDevice]
    /// The figures of the last minutes, by handler.
    func live() throws(SourceError) -> LiveFigures
    /// How far it is behind what was accepted, for people; `nil`: not at all, beside the moment that a commit takes.
    var delay: String? { get }
}

/// A search.
public struct PushSearch: Sendable {
    /// The query that a push must match.
    public var query: PushQuery
    /// Only requests before this one; `nil`: from the newest on.
    public var before: SequenceNumber?
    /// Only requests behind this one; `nil`: to the oldest.
    public var after: SequenceNumber?
    /// How many matches are wanted.
    public var limit: Int
    /// How long the search may look.
    public var patience: Duration

    /// How long the search of a page may look.
    public static let patienceOfPages: Duration = .milliseconds(50)

    /// Joins the parts.
    public init(
        _ query: PushQuery, before: SequenceNumber? = nil, after: SequenceNumber? = nil, limit: Int = 50,
        patience: Duration = patienceOfPages
    ) {
        (self.query, self.before, self.after, self.limit) = (query, before, after, limit)
        self.patience = patience
    }
}

/// The matches of a search.
public struct PushPage: Sendable {
    /// The matches, the newest first.
    public var stories: [RequestStory] = []
    /// The search goes on before this one; `nil`: all was looked at.
    public var next: SequenceNumber?
    /// When the last request was accepted that was looked at; `nil`: none was.
    public var lookedBackTo: WallTime?

    /// Nothing was found yet.
    public init() {}
}

/// One request, or why there is none.
public enum FoundStory: Sendable {
    case story(RequestStory)
    /// It was pruned, or its number was never given.
    case gone
    /// Its number is above the last one that was given.
    case toCome(last: SequenceNumber)
}

/// A place in what comes: behind a request and an event, and the invocations before that had no outcome yet.
public struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
    /// The last request.
    public var last: SequenceNumber
    /// The last event.
    public var event: Int64
    /// The invocations of the requests up to the last one that were not decided, in order.
    public var pending: [InvocationID]

    /// As many undecided invocations as the text names: of more the position is before them.
    static let pendingMax = 128

    /// Joins the parts.
    public init(last: SequenceNumber, event: Int64, pending: [InvocationID] = []) {
        (self.last, self.event, self.pending) = (last, event, pending)
    }

    /// Reads a position as it writes itself; `nil` for anything else.
    public init?(_ text: String) {
        func number(_ text: Substring) -> Int64? { Int64(text).flatMap { $0 >= 0 && "\($0)" == text ? $0 : nil } }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let last = number(parts[0]), let event = number(parts[1]) else {
            return nil
        }
        var pending: [InvocationID] = []
        for part in parts.count == 3 ? parts[2].split(separator: "-", omittingEmptySubsequences: false) : [] {
            let names = part.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
            guard pending.count < Self.pendingMax, let seq = number(names[0]), (1...max(1, last)).contains(seq),
                seq <= last, let n = names.count > 1 ? number(names[1]) : 0, names.count == 1 || n > 0, n <= 1 << 20
            else { return nil }
            let id = InvocationID(seq: SequenceNumber(seq), n: Int(n))
            guard pending.last.map({ $0 < id }) ?? true else { return nil }
            pending.append(id)
        }
        self.init(last: SequenceNumber(last), event: event, pending: pending)
    }

    /// `41.7`, or `41.7.38-40_1` while the first invocation of request 38 and the second one of request 40 have no outcome.
    public var description: String {
        // A position with too many undecided invocations lies before the first of them: the stream sends these again.
        let isNamed = pending.count <= Self.pendingMax
        let place = isNamed ? last : SequenceNumber((pending.first?.seq.value ?? 1) - 1)
        let named = isNamed ? pending.map { $0.n == 0 ? "\($0.seq)" : "\($0.seq)_\($0.n)" } : []
        return "\(place).\(event)" + (named.isEmpty ? "" : "." + named.joined(separator: "-"))
    }
}

/// The changes since a position.
public struct SourceChanges: Sendable {
    /// The requests that are new, or have a new outcome or event; oldest first, each once.
    public var stories: [RequestStory] = []
    /// Whether there may be more already.
    public var hasMore = false

    /// Nothing changed.
    public init() {}
}

/// The options of a report.
public struct ReportOrder: Sendable {
    /// The time that it is about.
    public var window: ReportWindow
    /// Breakdowns beside those of every report.
    public var crossed: [[Dimension]]
    /// An earlier report in JSON to compare with.
    public var baseline: Baseline?
    /// In which times are shown.
    public var zone: LocalZone

    /// Joins the parts.
    init(
        window: ReportWindow, crossed: [[Dimension]] = [], baseline: Baseline? = nil, zone: LocalZone = .utc
    ) {
        (self.window, self.crossed, self.baseline, self.zone) = (window, crossed, baseline, zone)
    }
}

/// Why nothing can be read.
public struct SourceError: Error, Hashable, CustomStringConvertible {
    /// One sentence without a full stop.
    public let description: String

    /// - Parameter description: one sentence without a full stop.
    public init(_ description: String) { self.description = description }
}
