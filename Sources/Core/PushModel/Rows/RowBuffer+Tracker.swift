// The values of the tracker's rows, in the order of the ledger's columns (Store: `TrackerColumns`).
extension RowBuffer {
    /// Appends a change of what the tracker remembers.
    public func append(_ record: TrackerRecord) {
        switch record {
        case .delivery(let row): append(row)
        case .opened(let delivery, let at, let by):
            append(.openedDelivery) { values in
                values.integer(delivery.value)
                values.integer(at.milliseconds)
                values.integer(by.value)
            }
        case .influenced(let delivery): append(.influencedDelivery) { $0.integer(delivery.value) }
        case .forgottenDelivery(let delivery): append(.forgottenDelivery) { $0.integer(delivery.value) }
        case .interaction(let row): append(row)
        case .session(let row): append(row)
        case .forgottenSession(let number): append(.forgottenSession) { $0.integer(number.value) }
        case .starts(let row): append(row)
        case .forgottenStarts(let number): append(.forgottenStarts) { $0.integer(number.value) }
        case .pendingStart(let start): append(start)
        case .decidedStart(let cause): append(.decidedStart) { $0.integer(cause.value) }
        case .held(let waiting): append(waiting)
        case .settled(let cause): append(.settledInteraction) { $0.integer(cause.value) }
        }
    }

    /// Appends a delivery that the tracker takes over; its event comes before it.
    public func append(_ row: TrackedRow) {
        append(.trackedDelivery) { values in
            values.integer(row.seq.value)
            values.integer(row.receivedAt.milliseconds)
            values.integer(row.since.milliseconds)
            values.flag(row.isDisplayed)
            values.flag(row.hasOwnID)
            values.text(row.uniqueID)
            values.integer(row.digest.map { Int64(bitPattern: $0) })
            values.bytes(row.buttons)
            values.integer(row.opened?.at.milliseconds)
            values.integer(row.opened?.by.value)
            values.flag(row.isInfluenced)
        }
    }

    private func append(_ row: InteractionRow) {
        append(.interaction) { values in
            values.integer(row.cause.value)
            values.integer(row.delivery?.value)
            values.text(row.verdict.rawValue)
            values.text(row.button)
            values.text(row.buttonAction?.rawValue)
            values.integer(row.at.milliseconds)
        }
    }

    private func append(_ row: SessionRow) {
        append(.session) { values in
            values.integer(row.number.value)
            values.text(row.key.app ?? "")
            values.text(row.key.device)
            values.text(row.platform.rawValue)
            values.text(row.externalID)
            values.integer(row.startedAt.milliseconds)
            values.integer(row.end?.at.milliseconds)
            values.integer(row.end?.by.value)
            values.integer(row.end?.due.milliseconds)
            values.integer(row.since.milliseconds)
        }
    }

    private func append(_ row: StartsRow) {
        append(.starts) { values in
            values.integer(row.number.value)
            values.text(row.key.app ?? "")
            values.flag(row.key.isAnonymous)
            values.text(row.key.owner)
            values.bytes(
                row.starts.flatMap { start in withUnsafeBytes(of: start.milliseconds.bigEndian) { Array($0) } })
            values.integer(row.since.milliseconds)
        }
    }

    private func append(_ start: PendingStart) {
        append(.pendingStart) { values in
            values.integer(start.cause.value)
            values.text(start.key.app ?? "")
            values.text(start.key.device)
            values.text(start.externalID)
            values.integer(start.at.milliseconds)
            values.integer(start.window)
            values.integer(start.due.milliseconds)
        }
    }

    private func append(_ waiting: HeldInteraction) {
        let interaction = waiting.interaction
        append(.heldInteraction) { values in
            values.integer(interaction.cause.value)
            values.integer(interaction.subject.delivery?.value)
            values.text(interaction.subject.message)
            values.integer(interaction.subject.digest.map { Int64(bitPattern: $0) })
            values.text(interaction.act.name)
            values.text(interaction.act.button)
            values.text(interaction.platform.rawValue)
            values.text(interaction.app)
            values.text(interaction.device)
            values.text(interaction.externalID)
            values.integer(interaction.at.milliseconds)
            values.integer(waiting.due.milliseconds)
        }
    }
}

extension Interaction.Subject {
    fileprivate var delivery: SequenceNumber? { if case .delivery(let seq) = self { seq } else { nil } }
    fileprivate var message: String? { if case .message(let id) = self { id } else { nil } }
    fileprivate var digest: UInt64? { if case .payload(let digest) = self { digest } else { nil } }
}

extension Interaction.Act {
    /// The name in the ledger; `nil` for a name that there is not.
    public init?(name: String, button: String?) {
        switch name {
        case "opened": self = .opened
        case "button": self = .button(button ?? "")
        case "dismissed": self = .dismissed
        default: return nil
        }
    }

    fileprivate var name: String {
        switch self {
        case .opened: "opened"
        case .button: "button"
        case .dismissed: "dismissed"
        }
    }

    fileprivate var button: String? { if case .button(let id) = self { id } else { nil } }
}
