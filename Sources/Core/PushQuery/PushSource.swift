public import PushModel
public import PushReporting

/// Where pushes are read: the ledger of this machine, or something else that has the same. One protocol for page, API and live
/// stream.
///
/// It is used on one thread at a time.
public protocol PushSource: AnyObject {
    /// Searches, the newest first.
    func search(_ search: PushSearch) throws(SourceError) -> PushPage
    /// One request with all that came of it.
    func story(of seq: SequenceNumber) throws(SourceError) -> FoundStory
    /// The place behind all that there is now.
    func position() throws(SourceError) -> SourcePosition
    /// What is new or another since, oldest first, and moves the position behind it.
    ///
    /// - Parameter limit: of new requests.
    func changes(since position: inout SourcePosition, limit: Int) throws(SourceError) -> SourceChanges
    /// A number that is another one when there may be something new. It reads nothing from the disk.
    func changeNumber() throws(SourceError) -> Int64
    /// How well deadlines were kept.
    func report(_ order: ReportOrder) throws(SourceError) -> ReportDocument
    /// The figures of campaigns.
    func campaigns(_ window: ReportWindow) throws(SourceError) -> CampaignReport
    /// The devices that are known, those that were first named last first.
    ///
    /// - Parameter limit: how many at most.
    func devices(limit: Int) throws(SourceError) -> [KnownDevice]
    /// The figures of the last minutes, by handler.
    func live() throws(SourceError) -> LiveFigures
    /// How far it is behind what was accepted, for people; `nil`: not at all, beside the moment that a commit takes.
    var delay: String? { get }
}

/// What is searched for.
public struct PushSearch: Sendable {
    /// What a push must match.
    public var query: PushQuery
    /// Only requests before this one; `nil`: from the newest on.
    public var before: SequenceNumber?
    /// As many matches as are wanted.
    public var limit: Int
    /// How long the search may look.
    public var patience: Duration

    /// How long the search of a page may look.
    public static let patienceOfPages: Duration = .milliseconds(50)

    /// Joins the parts.
    public init(
        _ query: PushQuery, before: SequenceNumber? = nil, limit: Int = 50, patience: Duration = patienceOfPages
    ) {
        (self.query, self.before, self.limit, self.patience) = (query, before, limit, patience)
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

/// A place in what comes: behind a request and an event, and the requests before that had no outcome yet.
public struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
    /// The last request.
    public var last: SequenceNumber
    /// The last event.
    public var event: Int64
    /// The requests up to the last one that were not decided, in order.
    public var pending: [SequenceNumber]

    /// As many undecided requests as the text names: of more the position is before them.
    static let pendingMax = 128

    /// Joins the parts.
    public init(last: SequenceNumber, event: Int64, pending: [SequenceNumber] = []) {
        (self.last, self.event, self.pending) = (last, event, pending)
    }

    /// Reads a position as it writes itself; `nil` for anything else.
    public init?(_ text: String) {
        func number(_ text: Substring) -> Int64? { Int64(text).flatMap { $0 >= 0 && "\($0)" == text ? $0 : nil } }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let last = number(parts[0]), let event = number(parts[1]) else {
            return nil
        }
        var pending: [SequenceNumber] = []
        for part in parts.count == 3 ? parts[2].split(separator: "-", omittingEmptySubsequences: false) : [] {
            guard pending.count < Self.pendingMax, let seq = number(part), seq > pending.last?.value ?? 0, seq <= last
            else { return nil }
            pending.append(SequenceNumber(seq))
        }
        self.init(last: SequenceNumber(last), event: event, pending: pending)
    }

    /// `41.7`, or `41.7.38-40` while the requests 38 and 40 have no outcome.
    public var description: String {
        // What stands for more than it names is sent again.
        let place = pending.count > Self.pendingMax ? SequenceNumber(pending[0].value - 1) : last
        let named = pending.count > Self.pendingMax ? [] : pending
        return "\(place).\(event)" + (named.isEmpty ? "" : "." + named.map(\.description).joined(separator: "-"))
    }
}

/// What changed.
public struct SourceChanges: Sendable {
    /// The requests that are new, or have a new outcome or event; oldest first, each once.
    public var stories: [RequestStory] = []
    /// Whether there may be more already.
    public var hasMore = false

    /// Nothing changed.
    public init() {}
}

/// What a report is asked to show.
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
    public init(
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
