import Testing

@testable import PushModel
@testable import PushRouter

/// Custom data and its ledger, with times in seconds from a fixed moment.
struct CustomDataBench {
    static let stateID = UUID128(high: 1, low: 2)
    static let forwarder = UUID128(high: 7, low: 7)

    var data: CustomData
    private(set) var rows = CustomDataRows()
    /// The events of all turns.
    private(set) var events: [AnalyticsEvent] = []
    private var request: Int64 = 100
    /// The last session that flushed.
    private(set) var session: SessionStart?

    init(_ change: (inout CustomDataRules) -> Void = { _ in }) {
        var rules = CustomDataRules()
        change(&rules)
        data = CustomData(stateID: Self.stateID, rules: rules)
    }

    static func time(_ seconds: Int64) -> WallTime { WallTime(milliseconds: 1_700_000_000_000 + seconds * 1000) }

    /// Logs a producer's entry, at the clock's time unless `at` is given.
    @discardableResult
    mutating func log(
        _ kind: EntryKind, _ json: String,
        to destination: EntryDestination = .stored(suite: EntryDestination.standardSuite),
        app: String? = "shop", device: String? = "phone", user: String? = nil, at: Int64? = nil, now: Int64 = 0
    ) throws -> [Rejection] {
        // The allowed depth is a setting of the daemon.
        let object = try JSONDocument(scanning: Array(json.utf8), limits: JSONLimits(depth: .max)).root
        let source = source(destination, app: app, device: device, user: user, at: at ?? now)
        return turn { $0.log(kind, object, source, now: Self.time(now), into: &$1) }
    }

    /// Logs an event for the standard suite.
    @discardableResult
    mutating func event(
        _ name: String, app: String? = "shop", device: String? = "phone", user: String? = nil, now: Int64 = 0
    ) throws -> [Rejection] {
        try log(.customEvent, #"{"name":"\#(name)"}"#, app: app, device: device, user: user, now: now)
    }

    /// Logs an event that is sent at once.
    mutating func queue(_ name: String, user: String = "b1", now: Int64 = 0) throws {
        try log(.customEvent, #"{"name":"\#(name)"}"#, to: .sent(.brazeID(user)), now: now)
    }

    @discardableResult
    mutating func flush(
        app: String? = "shop", device: String? = "phone", user: String? = nil, suite: String? = nil,
        platform: Platform = .android, now: Int64 = 60, byPerson: Bool = false
    ) -> Int {
        request += 1
        let session = SessionStart(
            cause: byPerson ? nil : SequenceNumber(request), platform: platform, app: app, device: device,
            externalID: user, at: Self.time(now))
        self.session = session
        return turn { $0.flush(session, suite: suite, now: Self.time(now), into: &$1) }
    }

    /// Continues a removal that was too much for one turn.
    mutating func continueRemoval(now: Int64 = 60) {
        turn { $0.continueRemoval(now: Self.time(now), into: &$1) }
    }

    /// The numbers of the claimed entries.
    mutating func claim(
        by claimant: UUID128 = forwarder, limit: Int = 1000, bytes: Int = 1 << 20, now: Int64 = 60
    ) -> [Int64] {
        turn { $0.claim(by: claimant, limit: limit, bytes: bytes, now: Self.time(now), into: &$1).map(\.number.value) }
    }

    /// The numbers of the entries reserved for a run that announces its departures.
    mutating func reserve(by claimant: UUID128 = forwarder, limit: Int = 1000) -> [Int64] {
        turn {
            $0.claim(
                by: claimant, isReserving: true, limit: limit, bytes: 1 << 20, now: Self.time(60), into: &$1
            ).map(\.number.value)
        }
    }

    /// The numbers of the entries that may be sent.
    mutating func depart(_ numbers: [Int64], by claimant: UUID128 = forwarder) -> [Int64] {
        turn {
            $0.depart(numbers.map { EntryNumber($0) }, by: claimant, now: Self.time(65), into: &$1).map(\.value)
        }
    }

    @discardableResult
    mutating func settle(
        _ number: Int64, _ state: EntryState, _ reason: String? = nil, by claimant: UUID128 = forwarder,
        now: Int64 = 70
    ) -> Bool {
        turn {
            $0.settle(EntryNumber(number), state, reason: reason, by: claimant, now: Self.time(now), into: &$1)
        }
    }

    @discardableResult
    mutating func resolve(_ number: Int64, _ state: EntryState, now: Int64 = 80) -> Bool {
        turn { $0.resolve([EntryNumber(number)], state, now: Self.time(now), into: &$1) } == 1
    }

    @discardableResult
    mutating func reset(suite: String, app: String? = nil) -> Int {
        turn { $0.reset(suite: suite, app: app, now: Self.time(60), into: &$1) }
    }

    /// Restarts the daemon.
    mutating func restart() { data = rows.restored(stateID: Self.stateID, rules: data.rules) }

    /// Runs one turn and writes its output.
    mutating func turn<Result>(_ body: (inout CustomData, inout CustomDataOutput) -> Result) -> Result {
        var output = CustomDataOutput()
        let result = body(&data, &output)
        rows.write(output.records)
        events += output.events
        return result
    }

    mutating func source(
        _ destination: EntryDestination, app: String? = "shop", device: String? = "phone", user: String? = nil,
        at: Int64 = 0
    ) -> EntrySource {
        request += 1
        return EntrySource(
            cause: SequenceNumber(request), destination: destination, platform: .android, app: app, device: device,
            externalID: user,
            at: Self.time(at))
    }

    /// The data of an entry as text.
    func text(_ number: Int64) -> String? {
        rows.rows[EntryNumber(number)].map { String(decoding: $0.entry.data, as: UTF8.self) }
    }

    func reason(_ number: Int64) -> String? { rows.rows[EntryNumber(number)]?.reason }

    /// A field of a profile, as text.
    func field(_ name: String, of owner: ProfileOwner) -> String? {
        rows.profiles[owner]?[name].map { String(decoding: $0, as: UTF8.self) }
    }
}
