public import PushModel

/// Custom events and attributes on their way: checked, kept in their suites until the app's next session, or handed to the
/// forwarder.
///
/// A pure value. What comes out as records, given back to ``restore(_:_:claimant:)`` after a restart, makes the same again.
public struct CustomData: Sendable {
    /// Which ids the events of this state directory get.
    public let stateID: UUID128
    /// The settings; a change holds for what is decided from then on.
    public var rules: CustomDataRules
    /// The highest number given so far; 0 when there is none.
    public internal(set) var lastNumber: EntryNumber
    /// How sending goes, as the forwarder last said; `nil` before it ever did.
    public internal(set) var sending: SendingState?

    var stored = StoredEntries()
    var removals = Removals()
    /// The last entry of each flush that a restart interrupted, by the request of its session.
    var interrupted: [SequenceNumber: EntryNumber] = [:]
    var queue = SendingQueue()
    /// The entries that the forwarder may have sent; at most one run has some, unless a ledger says otherwise.
    var claims: [UUID128: [EntryNumber: HeldEntry]] = [:]
    /// The entries that the forwarder has and has not begun to send. It is still `queued` on disk: after a crash of either
    /// program it is in the queue again.
    var reserved: [UUID128: [EntryNumber: HeldEntry]] = [:]
    /// How many entries a session flushed that were to be sent as well and could not be.
    public internal(set) var flushedUnsent = 0
    var unknown = UnknownEntries()
    /// Bytes of names and data of all that waits.
    var bytes = 0

    /// - Parameters:
    ///   - stateID: the state directory's id; events derive their ids from it.
    ///   - rules: the settings.
    ///   - lastNumber: the highest number ever given.
    public init(
        stateID: UUID128, rules: CustomDataRules = CustomDataRules(), lastNumber: EntryNumber = EntryNumber(0)
    ) {
        (self.stateID, self.rules, self.lastNumber) = (stateID, rules, lastNumber)
    }

    // MARK: What waits

    /// What waits. Linear in the number of entries that the forwarder has.
    public var summary: CustomDataSummary {
        var summary = CustomDataSummary()
        summary.pending = stored.count + removals.count - removals.unknownCount
        summary.queued = queue.count
        summary.claimed = claimedCount
        summary.unknown = unknown.count + removals.unknownCount
        summary.bytes = bytes
        let handedOut = [claims, reserved].flatMap(\.values)
        let oldest = handedOut.compactMap { $0.values.min() } + [queue.first].compactMap(\.self)
        summary.oldestUnsent = oldest.min()?.savedAt
        return summary
    }

    private var claimedCount: Int { [claims, reserved].flatMap(\.values).reduce(0) { $0 + $1.count } }

    private var waitingCount: Int { stored.count + removals.count + queue.count + claimedCount + unknown.count }

    /// Whether one more entry whose name and data have so many bytes may be kept.
    public func hasRoom(for bytes: Int) -> Bool {
        waitingCount < rules.pendingMax && bytes <= rules.pendingSizeMax - self.bytes
    }

    // MARK: Logging

    /// Checks what was logged and keeps it: what is right as one entry, each thing that is wrong as a rejected one.
    ///
    /// An event is right or wrong as a whole, and the first thing that is wrong is told. Of attributes each is right or
    /// wrong by itself. When there is no room, all of it is rejected, and only the fact is kept, without the data.
    ///
    /// - Parameters:
    ///   - kind: what it tells.
    ///   - object: has `name` and `properties`, or `attributes`.
    ///   - source: where it comes from. A time later than the clock is taken for the clock's, as the API does.
    ///   - now: the clock.
    ///   - output: what it leads to is appended.
    /// - Returns: why parts of it were set aside.
    @discardableResult
    public mutating func log(
        _ kind: EntryKind, _ object: JSONNode, _ source: EntrySource, now: WallTime, into output: inout CustomDataOutput
    ) -> [Rejection] {
        let checked = CheckedEntry(kind, object, for: source.way, rules)
        let size = (checked.name?.utf8.count ?? 0) + (checked.data?.count ?? 0)
        guard hasRoom(for: size) else {
            let part = CheckedEntry.RejectedPart(refusing: kind, object, problemWithoutRoom).withoutData
            return [reject(part, kind, source, now: now, into: &output)]
        }
        if let data = checked.data {
            let entry = newEntry(kind, checked.name, data, source, now: now)
            let isStored = if case .stored = source.way { true } else { false }
            hold(entry, isStored ? .pending : .queued)
            output.records.append(.entry(entry, isStored ? .pending : .queued, problem: nil))
        }
        return checked.rejectedParts.map { reject($0, kind, source, now: now, into: &output) }
    }

    /// Sets aside what somebody else found to be wrong with something logged.
    ///
    /// - Parameters:
    ///   - kind: what it tells.
    ///   - object: has `name` and `properties`, or `attributes`.
    ///   - source: where it comes from.
    ///   - problem: what is wrong.
    ///   - now: the clock.
    ///   - output: the rejected entry is appended.
    @discardableResult
    public mutating func setAside(
        _ kind: EntryKind, _ object: JSONNode, _ source: EntrySource, _ problem: EntryProblem, now: WallTime,
        into output: inout CustomDataOutput
    ) -> Rejection {
        let part = CheckedEntry.RejectedPart(refusing: kind, object, problem)
        return reject(hasRoom(for: 0) ? part : part.withoutData, kind, source, now: now, into: &output)
    }

    private mutating func reject(
        _ part: CheckedEntry.RejectedPart, _ kind: EntryKind, _ source: EntrySource, now: WallTime,
        into output: inout CustomDataOutput
    ) -> Rejection {
        let entry = newEntry(kind, part.name, part.data, source, now: now)
        output.records.append(.entry(entry, .rejected, problem: part.problem))
        return Rejection(number: entry.number, problem: part.problem)
    }

    private mutating func newEntry(
        _ kind: EntryKind, _ name: String?, _ data: [UInt8], _ source: EntrySource, now: WallTime
    ) -> CustomEntry {
        lastNumber = lastNumber.next
        return CustomEntry(
            number: lastNumber, cause: source.cause, kind: kind, way: source.way, platform: source.platform,
            app: source.app, device: source.device, externalID: source.externalID, name: name, data: data,
            time: min(source.at, now), savedAt: now)
    }

    private var problemWithoutRoom: EntryProblem {
        EntryProblem(
            .noRoom,
            "there is no room: \(counted(waitingCount, "entry", "entries")) of \(counted(bytes, "byte")) "
                + "\(waitingCount == 1 ? "waits" : "wait") already "
                + "(MaxPending=\(rules.pendingMax), MaxPendingSize=\(rules.pendingSizeMax))")
    }

    // MARK: After a restart

    /// Gives back an entry that has not come to its end: `pending`, `queued`, `claimed` or `unknown`; in order of numbers.
    ///
    /// - Parameters:
    ///   - entry: the entry.
    ///   - state: its state.
    ///   - claimant: the forwarder's run that has it.
    ///   - cause: the request that it is `pending` by, as the last one that its session flushes.
    public mutating func restore(
        _ entry: CustomEntry, _ state: EntryState, claimant: UUID128?, by cause: SequenceNumber? = nil
    ) {
        lastNumber = max(lastNumber, entry.number)
        if state == .pending, let cause { interrupted[cause] = entry.number }
        hold(entry, state, claimant: claimant)
    }

    /// Gives back how sending went.
    public mutating func restore(_ state: SendingState) { sending = state }

    /// Keeps an entry in memory.
    mutating func hold(_ entry: CustomEntry, _ state: EntryState, claimant: UUID128? = nil) {
        let held = HeldEntry(entry)
        bytes += held.size
        switch (state, claimant) {
        case (.pending, _): stored.append(held, for: entry)
        case (.queued, _): queue.insert(held)
        case (.claimed, let claimant?): claims[claimant, default: [:]][entry.number] = held
        case (.unknown, _): unknown.insert(held)
        case (.claimed, nil): preconditionFailure("entry \(entry.number) is claimed by nobody")
        case (.flushed, _), (.sent, _), (.rejected, _), (.discarded, _):
            preconditionFailure("entry \(entry.number) is already finished: \(state)")
        }
    }
}
