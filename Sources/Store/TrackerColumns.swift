import PushModel

/// How the tracker's rows become columns and columns become rows: one order of columns for both ways.
enum TrackerColumns {
    static let delivery = """
        tracked_deliveries.event, tracked_deliveries.received_at, tracked_deliveries.since_at,
        tracked_deliveries.displayed, tracked_deliveries.own_id, tracked_deliveries.unique_id,
        tracked_deliveries.digest, tracked_deliveries.buttons, tracked_deliveries.opened_at,
        tracked_deliveries.opened_by, tracked_deliveries.influenced
        """
    static let deliveryCount: Int32 = 11
    /// The parameter that is the buttons: it is bound apart, without a copy.
    static let deliveryButtons: Int32 = 8

    static let interaction = """
        interactions.cause, interactions.delivery, interactions.verdict, interactions.button,
        interactions.button_action, interactions.at
        """
    static let interactionCount: Int32 = 6

    static let session = """
        number, app, device, platform, external_id, started_at, ended_at, ended_by, end_due_at, since_at
        """
    static let sessionCount: Int32 = 10

    static let starts = "number, app, anonymous, owner, starts, since_at"
    static let startsCount: Int32 = 6
    /// The parameter that is the times.
    static let startsTimes: Int32 = 5

    static let pendingStart = "cause, app, device, external_id, at, window_ms, due_at"
    static let pendingStartCount: Int32 = 7

    static let held = """
        cause, delivery, message_id, digest, act, button, platform, app, device, external_id, at, due_at
        """
    static let heldCount: Int32 = 12
}

/// What was done, in `held_interactions`. The raw values are kept in ledgers.
private enum HeldAct: String {
    case opened, button, dismissed
}

// Parameters: ?1 is column 0.
extension Statement {
    /// Binds all of a delivery but its buttons; `receipt` is the cursor of its receipt.
    mutating func bind(_ row: TrackedRow, receipt: Int64) {
        bind(receipt, at: 1)
        bind(row.receivedAt.milliseconds, at: 2)
        bind(row.since.milliseconds, at: 3)
        bind(row.isDisplayed ? 1 : 0, at: 4)
        bind(row.hasOwnID ? 1 : 0, at: 5)
        bind(row.uniqueID, at: 6)
        bind(row.digest.map { Int64(bitPattern: $0) }, at: 7)
        bind(row.opened?.at.milliseconds, at: 9)
        bind(row.opened?.by.value, at: 10)
        bind(row.isInfluenced ? 1 : 0, at: 11)
    }

    mutating func bind(_ row: InteractionRow) {
        bind(row.cause.value, at: 1)
        bind(row.delivery?.value, at: 2)
        bind(row.verdict.rawValue, at: 3)
        bind(row.button, at: 4)
        bind(row.buttonAction?.rawValue, at: 5)
        bind(row.at.milliseconds, at: 6)
    }

    mutating func bind(_ row: SessionRow) {
        bind(row.number.value, at: 1)
        bind(row.key.app ?? "", at: 2)
        bind(row.key.device, at: 3)
        bind(row.platform.rawValue, at: 4)
        bind(row.externalID, at: 5)
        bind(row.startedAt.milliseconds, at: 6)
        bind(row.end?.at.milliseconds, at: 7)
        bind(row.end?.by.value, at: 8)
        bind(row.end?.due.milliseconds, at: 9)
        bind(row.since.milliseconds, at: 10)
    }

    /// Binds all of a user's session starts but their times.
    mutating func bind(_ row: StartsRow) {
        bind(row.number.value, at: 1)
        bind(row.key.app ?? "", at: 2)
        bind(row.key.isAnonymous ? 1 : 0, at: 3)
        bind(row.key.owner, at: 4)
        bind(row.since.milliseconds, at: 6)
    }

    mutating func bind(_ start: PendingStart) {
        bind(start.cause.value, at: 1)
        bind(start.key.app ?? "", at: 2)
        bind(start.key.device, at: 3)
        bind(start.externalID, at: 4)
        bind(start.at.milliseconds, at: 5)
        bind(start.window, at: 6)
        bind(start.due.milliseconds, at: 7)
    }

    mutating func bind(_ waiting: HeldInteraction) {
        let interaction = waiting.interaction
        bind(interaction.cause.value, at: 1)
        // Every parameter keeps the value of the run before, so all are bound, as they are or as NULL.
        var (seq, message, digest, button): (SequenceNumber?, String?, UInt64?, String?)
        switch interaction.subject {
        case .delivery(let named): seq = named
        case .message(let named): message = named
        case .payload(let named): digest = named
        }
        let act: HeldAct
        switch interaction.act {
        case .opened: act = .opened
        case .dismissed: act = .dismissed
        case .button(let pressed): (act, button) = (.button, pressed)
        }
        bind(seq?.value, at: 2)
        bind(message, at: 3)
        bind(digest.map { Int64(bitPattern: $0) }, at: 4)
        bind(act.rawValue, at: 5)
        bind(button, at: 6)
        bind(interaction.platform.rawValue, at: 7)
        bind(interaction.app, at: 8)
        bind(interaction.device, at: 9)
        bind(interaction.externalID, at: 10)
        bind(interaction.at.milliseconds, at: 11)
        bind(waiting.due.milliseconds, at: 12)
    }
}

// Columns: each reads the columns of its list above, which start at `first`.
extension Statement {
    /// A delivery; its number is that of its receipt.
    func trackedRow(from first: Int32, of receipt: AnalyticsEvent) -> TrackedRow {
        TrackedRow(
            seq: receipt.seq, receivedAt: time(first + 1), since: time(first + 2),
            isDisplayed: integer(first + 3) != 0, hasOwnID: integer(first + 4) != 0, uniqueID: text(first + 5),
            digest: isNull(first + 6) ? nil : UInt64(bitPattern: integer(first + 6)), buttons: bytes(first + 7),
            opened: isNull(first + 8)
                ? nil : .init(at: time(first + 8), by: SequenceNumber(integer(first + 9))),
            isInfluenced: integer(first + 10) != 0)
    }

    func interaction(from first: Int32 = 0) throws(StoreError) -> InteractionRow {
        InteractionRow(
            cause: SequenceNumber(integer(first)),
            delivery: isNull(first + 1) ? nil : SequenceNumber(integer(first + 1)), verdict: try name(first + 2),
            button: text(first + 3), buttonAction: isNull(first + 4) ? nil : try name(first + 4), at: time(first + 5))
    }

    func session() throws(StoreError) -> SessionRow {
        SessionRow(
            number: SequenceNumber(integer(0)), key: deviceKey(1), platform: try name(3), externalID: text(4),
            startedAt: time(5),
            end: isNull(6) ? nil : .init(at: time(6), by: SequenceNumber(integer(7)), due: time(8)), since: time(9))
    }

    func starts() throws(StoreError) -> StartsRow {
        let bytes = bytes(4)
        guard bytes.count % 8 == 0 else { throw unreadable(4, "\(bytes.count) bytes are no list of times") }
        return StartsRow(
            number: SequenceNumber(integer(0)),
            key: .init(owner: text(3) ?? "", isAnonymous: integer(2) != 0, app: app(1)),
            starts: stride(from: 0, to: bytes.count, by: 8).map { start in
                let bits = bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
                return WallTime(milliseconds: Int64(bitPattern: bits))
            },
            since: time(5))
    }

    func pendingStart() -> PendingStart {
        PendingStart(
            cause: SequenceNumber(integer(0)), key: deviceKey(1), externalID: text(3), at: time(4), window: integer(5),
            due: time(6))
    }

    func heldInteraction() throws(StoreError) -> HeldInteraction {
        let subject: Interaction.Subject =
            if let message = text(2) {
                .message(message)
            } else if isNull(1) {
                .payload(UInt64(bitPattern: integer(3)))
            } else {
                .delivery(SequenceNumber(integer(1)))
            }
        let held: HeldAct = try name(4)
        let act: Interaction.Act =
            switch held {
            case .opened: .opened
            case .button: .button(text(5) ?? "")
            case .dismissed: .dismissed
            }
        return HeldInteraction(
            Interaction(
                cause: SequenceNumber(integer(0)), subject: subject, act: act, platform: try name(6), app: text(7),
                device: text(8), externalID: text(9), at: time(10)),
            due: time(11))
    }

    /// A time in Unix milliseconds.
    private func time(_ column: Int32) -> WallTime { WallTime(milliseconds: integer(column)) }

    /// An app, for which the empty text says that there is none.
    private func app(_ column: Int32) -> String? { text(column).flatMap { $0.isEmpty ? nil : $0 } }

    /// An app and, in the next column, a device.
    func deviceKey(_ column: Int32) -> DeviceKey { DeviceKey(app: app(column), device: text(column + 1) ?? "") }
}
