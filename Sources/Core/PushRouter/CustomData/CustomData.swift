public import PushModel

/// Custom events and attributes: checks them, keeps them in their suites until the app's next session, or queues them
/// for the forwarder.
///
/// A pure value. ``restore(_:_:claimant:)`` rebuilds it from its records after a restart.
public struct CustomData: Sendable {
    /// The id of the state directory; the ids of events derive from it.
    public let stateID: UUID128
    /// The settings; a change applies to later decisions.
    public var rules: CustomDataRules
    /// The highest number given so far; 0 when there is none.
    public internal(set) var lastNumber: EntryNumber
    /// The forwarder's last report of how sending goes; `nil` before the first.
    public internal(set) var sending: SendingState?

    var stored = StoredEntries()
    var removals = Removals()
    /// The last entry of each flush that a restart interrupted, by the request of its session.
    var interrupted: [SequenceNumber: EntryNumber] = [:]
    var queue = SendingQueue()
    /// The entries that the forwarder may have sent, by run. A claim by one run settles the entries of all other
    /// runs, so only entries from a ledger may have several runs.
    var claims: [UUID128: [EntryNumber: HeldEntry]] = [:]
    /// The entries that the forwarder holds and has not begun to send. They are still `queued` on disk: after a crash
    /// of either program they are in the queue again.
    var reserved: [UUID128: [EntryNumber: HeldEntry]] = [:]
    /// The number of entries that a session flushed but could not send, with `SendFlushed=yes`.
    public internal(set) var flushedUnsent = 0
    var unknown = UnknownEntries()
    /// Bytes of names and data of all waiting entries.
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

    /// Counts the waiting entries, in time linear in the number of entries that the forwarder holds.
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

    /// Returns whether an entry of so many bytes of name and data fits.
    public func hasRoom(for bytes: Int) -> Bool {
        waitingCount < rules.pendingMax && bytes <= rules.pendingSizeMax - self.bytes
    }

    // MARK: Logging

    /// Checks logged data and keeps it: the valid part as one entry, each invalid part as a rejected entry.
    ///
    /// An event is valid or invalid as a whole, and the rejection names its first problem. Each attribute is valid or
    /// invalid by itself. If there is no room, the whole object is rejected, and the rejected entry has no data.
    ///
    /// - Parameters:
    ///   - kind: the kind of entry.
    ///   - object: has `name` and `properties`, or `attributes`.
    ///   - source: where it comes from. A time later than the clock becomes the clock's, as in the API.
    ///   - now: the clock.
    ///   - output: receives the records.
    /// - Returns: the rejections.
    @discardableResult
    public mutating func log(
        _ kind: EntryKind, _ object: JSONNode, _ source: EntrySource, now: WallTime, into output: inout CustomDataOutput
    ) -> [Rejection] {
        let checked = CheckedEntry(kind, object, for: source.destination, rules)
        let size = (checked.name?.utf8.count ?? 0) + (checked.data?.count ?? 0)
        guard hasRoom(for: size) else {
            let part = CheckedEntry.RejectedPart(refusing: kind, object, problemWithoutRoom).withoutData
            return [reject(part, kind, source, now: now, into: &output)]
        }
        if let data = checked.data {
            let entry = newEntry(kind, checked.name, data, source, now: now)
            let isStored = if case .stored = source.destination { true } else { false }
            hold(entry, isStored ? .pending : .queued)
            output.records.append(.entry(entry, isStored ? .pending : .queued, problem: nil))
        }
        return checked.rejectedParts.map { reject($0, kind, source, now: now, into: &output) }
    }

    /// Rejects a logged object for a problem that another component found.
    ///
    /// - Parameters:
    ///   - kind: the kind of entry.
    ///   - object: has `name` and `properties`, or `attributes`.
    ///   - source: where it comes from.
    ///   - problem: the error.
    ///   - now: the clock.
    ///   - output: receives the rejected entry.
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
            number: lastNumber, cause: source.cause, kind: kind, destination: source.destination,
            platform: source.platform,
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

    /// Restores an unfinished entry: `pending`, `queued`, `claimed` or `unknown`. Call it in order of numbers.
    ///
    /// - Parameters:
    ///   - entry: the entry.
    ///   - state: its state.
    ///   - claimant: the run of the forwarder that holds it.
    ///   - cause: the request whose flush was under way, if this is the last entry of that flush.
    public mutating func restore(
        _ entry: CustomEntry, _ state: EntryState, claimant: UUID128?, by cause: SequenceNumber? = nil
    ) {
        lastNumber = max(lastNumber, entry.number)
        if state == .pending, let cause { interrupted[cause] = entry.number }
        hold(entry, state, claimant: claimant)
    }

    /// Restores the last report of how sending goes.
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
        case (.claimed, nil): preconditionFailure("entry \(entry.number) is claimed, but has no claimant")
        case (.flushed, _), (.sent, _), (.rejected, _), (.discarded, _):
            preconditionFailure("entry \(entry.number) is already finished: \(state)")
        }
    }
}

extension CustomData {
    /// Returns whether the forwarder holds an entry of the person up to a number, or a removal is under way. Then an
    /// erasure has to wait.
    public func isBusy(with person: Person, through last: EntryNumber) -> Bool {
        guard !isRemoving else { return true }
        let owned = OwnedEntries(by: person, through: last)
        return [claims, reserved].contains { $0.values.contains { $0.values.contains(where: owned.has) } }
    }

    /// Removes the person's waiting entries up to a number from memory, in linear time. Writes no record: the caller
    /// deletes the rows.
    public mutating func forget(_ person: Person, through last: EntryNumber) {
        let owned = OwnedEntries(by: person, through: last)
        var entries = stored.takeAll(through: last, where: person.includes)
        while let held = entries.popFirst() { bytes -= held.size }
        for held in queue.remove(where: owned.has) { bytes -= held.size }
        for held in unknown.remove(where: owned.has) { bytes -= held.size }
    }
}

/// Finds a person's entries by their device and user, or by the profile that they name. Compares the bytes in place,
/// and tests `nameBits` first, because there may be very many entries.
private struct OwnedEntries {
    private let person: Person
    private let user: [UInt8]?
    private let bits: UInt64
    private let last: EntryNumber

    init(by person: Person, through last: EntryNumber) {
        (self.person, self.last) = (person, last)
        user = person.externalID.map { Array($0.utf8) }
        bits = person.devices.reduce(person.externalID.map(HeldEntry.bit) ?? 0) { $0 | HeldEntry.bit(of: $1.text) }
    }

    func has(_ held: HeldEntry) -> Bool {
        guard held.number <= last, held.mayName(bits) else { return false }
        guard let user else { return isFromDevice(held) }
        if held.isSent(to: user) { return true }
        let isFromUser = held.withUser { text in
            text.map { text in user.withUnsafeBufferPointer { text.isSame(as: $0) } }
        }
        return isFromUser ?? isFromDevice(held)
    }

    private func isFromDevice(_ held: HeldEntry) -> Bool {
        held.withDevice { device in
            device.map { person.devices.contains(ExactName(String(decoding: $0, as: UTF8.self))) } ?? false
        }
    }
}

extension CustomData {
    /// Returns the entries that a run of the forwarder holds, sent or not, in order of number.
    func claimedEntries(of claimant: UUID128) -> [EntryNumber] {
        [claims, reserved].flatMap { $0[claimant].map { Array($0.keys) } ?? [] }.sorted()
    }

    /// The numbers of the entries of unknown outcome, in order, until a person decides about them.
    var unknownEntries: [EntryNumber] { unknown.numbers }

    /// Whether entries wait to be sent.
    var hasQueuedEntries: Bool { queue.count > 0 }

    /// Returns the entries to be sent that follow `number`, without removing them.
    ///
    /// - Parameters:
    ///   - number: the entry before; 0 for the first.
    ///   - limit: how many entries at most.
    ///   - bytes: how many bytes of names and values at most; one entry may be longer.
    public func queuedEntries(after number: EntryNumber, limit: Int, bytes: Int) -> [CustomEntry] {
        var room = bytes
        var entries: [CustomEntry] = []
        queue.forEach(after: number) { next in
            guard entries.count < limit, entries.isEmpty || next.size <= room else { return false }
            room -= next.size
            entries.append(next.entry)
            return true
        }
        return entries
    }
}

/// The settings of custom data.
public struct CustomDataRules: Hashable, Sendable {
    /// The time that a stored event gets when it is flushed.
    public enum EventTime: String, Sendable, CaseIterable {
        /// The time at which it was saved.
        case saved
        /// The time of the session start that flushed it.
        case flushed
    }

    /// The handling of an entry that was sent and perhaps accepted. The endpoint does not detect repeats.
    public enum OnUnknown: String, Sendable, CaseIterable {
        /// The entry waits for a person to decide: no entry counts twice.
        case hold
        /// The forwarder sends it again: no entry is lost.
        case retry
    }

    /// `EventTime=`
    public var eventTime = EventTime.saved
    /// `OnUnknown=`
    public var onUnknown = OnUnknown.hold
    /// The most entries that are neither flushed nor sent. Above it new ones are rejected.
    public var pendingMax = 100_000
    /// The most bytes of their names and values in all.
    public var pendingSizeMax = 64 << 20
    /// The most elements of an array in a custom attribute.
    public var arrayElementsMax = 500
    /// `SendFlushed=`: whether entries that a session flushes are sent to the endpoint as well.
    public var sendsFlushed = false

    /// The defaults.
    public init() {}
}
