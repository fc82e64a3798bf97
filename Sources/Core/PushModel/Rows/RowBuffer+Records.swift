// The kind of row for each record. A row of a table has its format in a file of its own (``StoredRecord``).
extension RowBuffer {
    /// Appends any record.
    public func append(_ record: LedgerRecord) {
        switch record {
        case .request(let request): append(request)
        case .invocation(let invocation): append(invocation, isNew: true)
        case .update(let invocation): append(invocation, isNew: false)
        case .event(let event): append(event)
        case .tracker(let record): append(record)
        case .customData(let record): append(record)
        case .device(let device): append(device)
        case .subscriptions(let change): append(.subscriptions, change)
        case .forgottenDevice(let number): append(.forgottenDevice, number)
        case .fanOut(let fanOut): append(.fanOut, fanOut)
        case .fanOutProgress(let seq, let progress): append(.fanOutProgress) { $0.add(seq, progress) }
        case .attempt(let attempt): append(.attempt, attempt)
        case .output(let id, let output):
            append(.output) { $0.add(id, output) }
        case .deadLetter(let letter): append(.deadLetter, letter)
        case .noDeadLetters(let seq): append(.noDeadLetters, seq)
        case .gap(let gap): append(.gap, gap)
        case .lifeSign(let sign): append(.lifeSign, sign)
        case .producer(let producer): append(.producer, producer)
        case .configuration(let period): append(.configuration, period)
        case .order(let order): append(order)
        }
    }

    /// Appends the last known facts of a device; its topics only for readers that know them by no other row.
    private func append(_ device: KnownDevice) {
        guard !takesSubscriptions else { return append(.deviceFacts, device) }
        let former = FormerDeviceRow(device: device)
        append(.device) { former.write(to: &$0) }
        version = max(version, former.since)
    }

    /// Whether the readers take subscriptions as rows of their own. Otherwise each row of a device has all its topics.
    public var takesSubscriptions: Bool { readers >= RowKind.versionOfSubscriptions }

    /// Appends a new request.
    public func append(_ request: AcceptedRequest) {
        append(.request, request)
        version = max(version, request.operation.since)
    }

    /// Appends a new invocation, or a changed one.
    public func append(_ invocation: InvocationRecord, isNew: Bool) {
        append(isNew ? .invocation : .invocationUpdate, invocation)
    }

    /// Appends an event; the ledger assigns its cursor when it applies the row.
    public func append(_ event: AnalyticsEvent) { append(.event, event) }

    /// Appends a delivery that the tracker takes over; the row of its event must come before it.
    public func append(_ row: TrackedRow) { append(.trackedDelivery, row) }

    /// Appends a change of the tracker's state.
    public func append(_ record: TrackerRecord) {
        switch record {
        case .delivery(let row): append(row)
        case .opened(let delivery, let at, let by):
            append(.openedDelivery) { $0.add(delivery, at, by) }
        case .influenced(let delivery): append(.influencedDelivery, delivery)
        case .forgottenDelivery(let delivery): append(.forgottenDelivery, delivery)
        case .interaction(let row): append(.interaction, row)
        case .session(let row): append(.session, row)
        case .forgottenSession(let number): append(.forgottenSession, number)
        case .starts(let row): append(.starts, row)
        case .forgottenStarts(let number): append(.forgottenStarts, number)
        case .pendingStart(let start): append(.pendingStart, start)
        case .decidedStart(let cause): append(.decidedStart, cause)
        case .held(let waiting): append(.heldInteraction, waiting)
        case .settled(let cause): append(.settledInteraction, cause)
        }
    }

    /// Appends a change of the state of custom data.
    public func append(_ record: CustomDataRecord) {
        switch record {
        case .entry(let entry, let state, let problem):
            append(.entry, EntryRecord(entry: entry, state: state, problem: problem))
        case .moved(let move):
            append(.entryMove) { values in
                values.add(move.number, move.state, move.at)
                values.add(move.by, move.claimant, move.reason)
            }
        case .attribute(let row): append(.attribute) { row.write(to: &$0) }
        case .sending(let state): append(.sending, state)
        }
    }
}
