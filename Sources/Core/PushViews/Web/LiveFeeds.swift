public import PushModel

/// The subscription of a stream, or of a request that waits.
public struct WebSubscription: Sendable {
    /// The query that a push must match.
    public var query: PushQuery
    /// The position behind the changes that were sent.
    public var position: SourcePosition
    /// Whether it gets rows of the page's list, in place of JSON.
    var sendsRows = false
    /// Only requests with a higher number; `nil`: any.
    public var after: SequenceNumber?
    /// Whether the first match is all that it wants.
    var isWaiting = false
}

/// Those who listen, and what each of them gets next. Used on the thread of its source.
public struct LiveFeeds {
    /// The output for one subscription.
    public enum Output: Sendable {
        /// A part of a stream.
        case part([UInt8])
        /// The answer to a request that waited.
        case answer(WebResponse)
    }

    private let desk: WebDesk
    private var subscriptions: [UInt64: WebSubscription] = [:]
    private var lastChange: Int64?
    /// The saved searches that each list has.
    private var searches: [UInt64: Markup] = [:]
    /// Whether something came since the numbers of the saved searches were sent.
    private var countsChanged = false

    /// As many new requests as are read at once.
    private static let changesAtOnce = 512
    /// As many rows as a list gets at once: it shows the newest ones.
    private static let rowsAtOnce = 50

    /// Nobody listens.
    ///
    /// - Parameter desk: of the source that is listened to.
    public init(_ desk: WebDesk) { self.desk = desk }

    /// Whether nobody listens.
    public var isEmpty: Bool { subscriptions.isEmpty }

    /// Somebody listens.
    public mutating func add(_ subscription: WebSubscription, as number: UInt64) {
        subscriptions[number] = subscription
        // The next poll reads the changes since the position, also without a new commit.
        lastChange = nil
    }

    /// Somebody listens no more.
    public mutating func remove(_ number: UInt64) { (subscriptions[number], searches[number]) = (nil, nil) }

    /// Returns the new output of the subscriptions. Reads nothing if nothing was committed.
    ///
    /// - Returns: nothing for most of them.
    public mutating func poll() -> [(number: UInt64, output: Output)] {
        guard !subscriptions.isEmpty else { return [] }
        do throws(SourceError) {
            let change = try desk.source.changeNumber()
            var outputs: [(number: UInt64, output: Output)] = []
            if change != lastChange {
                lastChange = change
                outputs = try changes()
                countsChanged = subscriptions.values.contains(where: \.sendsRows)
            }
            return outputs + counts()
        } catch {
            // The next call tries again.
            lastChange = nil
            return []
        }
    }

    /// The saved searches for lists whose numbers are others now.
    private mutating func counts() -> [(number: UInt64, output: Output)] {
        // Something that came a moment after a count waits for the next one.
        guard countsChanged, desk.countsAreOld else { return [] }
        countsChanged = false
        return subscriptions.compactMap { number, subscription in
            guard subscription.sendsRows else { return nil }
            let chips = desk.chips(subscription.query.text)
            guard chips.html != searches.updateValue(chips, forKey: number)?.html else { return nil }
            return (number, .part(Array("event: chips\ndata: \(chips.html)\n\n".utf8)))
        }
    }

    private mutating func changes() throws(SourceError) -> [(number: UInt64, output: Output)] {
        var outputs: [(number: UInt64, output: Output)] = []
        // Most are at one place.
        var read: [SourcePosition: (facts: [PushFacts], hasMore: Bool, next: SourcePosition)] = [:]
        for (number, subscription) in subscriptions {
            let found: (facts: [PushFacts], hasMore: Bool, next: SourcePosition)
            if let known = read[subscription.position] {
                found = known
            } else {
                var next = subscription.position
                let changes = try desk.source.changes(since: &next, limit: Self.changesAtOnce)
                found = (changes.stories.map(desk.pushFacts), changes.hasMore, next)
                read[subscription.position] = found
            }
            if found.hasMore { lastChange = nil }
            subscriptions[number]?.position = found.next
            guard !found.facts.isEmpty else { continue }
            let matches = found.facts.filter { facts in
                subscription.after.map { facts.story.request.seq > $0 } ?? true && subscription.query.matches(facts)
            }.map { PushSummary(desk.shown($0)) }
            if subscription.isWaiting {
                guard !matches.isEmpty else { continue }
                subscriptions[number] = nil
                outputs.append(
                    (number, .answer(WebDesk.list(matches.reversed(), next: nil, lookedBackTo: nil, found.next))))
            } else {
                outputs.append((number, .part(Self.events(matches, at: found.next, rows: subscription.sendsRows))))
            }
        }
        return outputs
    }

    /// Events: the last one has the position behind all of them, so that who resumes gets a part again rather than not at all.
    static func events(_ pushes: [PushSummary], at position: SourcePosition, rows: Bool) -> [UInt8] {
        guard !pushes.isEmpty else {
            // A list that begins its stream again goes on from here; a program's client keeps the id by itself.
            return Array("id: \(position)\n\(rows ? "event: at\ndata:" : ":")\n\n".utf8)
        }
        let shown = rows ? pushes.suffix(rowsAtOnce) : pushes[...]
        var bytes: [UInt8] = []
        for (index, push) in shown.enumerated() {
            if index == shown.count - 1 { bytes += "id: \(position)\n".utf8 }
            bytes += "event: push\ndata: ".utf8
            if rows {
                bytes += PushRow(push).html().html.utf8.filter { $0 != 0x0A && $0 != 0x0D }
            } else {
                bytes += escapingControls(inJSON: push.json)
            }
            bytes += "\n\n".utf8
        }
        return bytes
    }

    /// The head of a stream; a client that was cut off connects again after a second.
    public static let head = WebResponse(
        200, type: "text/event-stream", body: Array("retry: 1000\n\n".utf8),
        headers: [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")])

    /// The part that keeps a stream alive while nothing happens.
    public static let heartbeat = Array(":\n\n".utf8)
    /// How often it is sent.
    public static let heartbeatInterval: Duration = .seconds(15)
    /// The answer to a request that waited in vain.
    public static let nothing = WebResponse(204, type: "application/json", body: [])
    /// The answer where too many listen.
    public static let tooMany = WebResponse.problem(
        "too many streams are open (StreamsMax=); try again later", status: 503)
}

/// The streams and waiting requests of the page's clients: when all places are taken, a client with few gets one of a
/// client with many.
public struct StreamShares: Sendable {
    /// The answer to a client that asks for a stream.
    public enum Place: Hashable, Sendable {
        case free
        /// The stream of another client that ends for it.
        case instead(of: UInt64)
        case none
    }

    private let limit: Int
    private var peers: [UInt64: WebPeer] = [:]

    /// - Parameter limit: the most streams and waiting requests at once (`StreamsMax=`).
    public init(limit: Int) { self.limit = limit }

    /// Whether there are none.
    public var isEmpty: Bool { peers.isEmpty }

    /// Returns the place for one more stream of a client.
    ///
    /// A client gives one up only if it has more than the other one has then: so the two do not take turns.
    public func place(for peer: WebPeer) -> Place {
        guard peers.count >= limit else { return .free }
        var streams: [WebPeer: [UInt64]] = [:]
        for (id, peer) in peers { streams[peer, default: []].append(id) }
        let own = streams[peer]?.count ?? 0
        guard let most = streams.values.max(by: { ($0.count, $1.min() ?? 0) < ($1.count, $0.min() ?? 0) }),
            most.count > own + 1, let oldest = most.min()
        else { return .none }
        return .instead(of: oldest)
    }

    /// Adds a stream; ids ascend.
    public mutating func open(_ id: UInt64, of peer: WebPeer) { peers[id] = peer }

    /// Takes a stream out.
    ///
    /// - Returns: whether it was there.
    public mutating func close(_ id: UInt64) -> Bool { peers.removeValue(forKey: id) != nil }
}
