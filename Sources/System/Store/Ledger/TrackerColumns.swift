import PushModel

/// The columns of the tracker's tables, in the order of the values in rows, and how they become records again.
enum TrackerColumns {
    static let delivery = """
        tracked_deliveries.event, tracked_deliveries.received_at, tracked_deliveries.since_at,
        tracked_deliveries.displayed, tracked_deliveries.own_id, tracked_deliveries.unique_id,
        tracked_deliveries.digest, tracked_deliveries.buttons, tracked_deliveries.opened_at,
        tracked_deliveries.opened_by, tracked_deliveries.influenced
        """
    static let deliveryCount: Int32 = 11

    /// Of the event of a delivery's receipt, shared texts as the row has them.
    static let receipt = """
        events.seq, events.external_user_id, events.device_id, events.app_id, events.platform, events.campaign_id,
        events.message_id
        """
    static let receiptCount: Int32 = 7

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

    static let pendingStart = "cause, app, device, external_id, at, window_ms, due_at"
    static let pendingStartCount: Int32 = 7

    static let held = """
        cause, delivery, message_id, digest, act, button, platform, app, device, external_id, at, due_at
        """
    static let heldCount: Int32 = 12
}

// Columns: each reads the columns of its list above, which start at `first`.
extension Statement {
    /// A delivery, whose number, that of its receipt, is in the first column.
    func trackedRow(from first: Int32) throws(StoreError) -> TrackedRow {
        TrackedRow(
            seq: try seq(0), receivedAt: try time(first + 1), since: try time(first + 2),
            isDisplayed: integer(first + 3) != 0, hasOwnID: integer(first + 4) != 0, uniqueID: text(first + 5),
            digest: isNull(first + 6) ? nil : UInt64(bitPattern: integer(first + 6)), buttons: bytes(first + 7),
            opened: isNull(first + 8)
                ? nil : .init(at: try time(first + 8), by: try seq(first + 9)),
            isInfluenced: integer(first + 10) != 0)
    }

    func trackedReceipt(_ texts: inout TextMemory) throws(StoreError) -> TrackedReceipt {
        TrackedReceipt(
            externalUserID: text(1), deviceID: text(2), appID: try texts.text(self, 3), platform: try word(4),
            campaignID: try texts.text(self, 5), messageID: text(6))
    }

    func interaction(from first: Int32 = 0) throws(StoreError) -> InteractionRow {
        InteractionRow(
            cause: try seq(first),
            delivery: try optionalSeq(first + 1), verdict: try name(first + 2),
            button: text(first + 3), buttonAction: isNull(first + 4) ? nil : try name(first + 4),
            at: try time(first + 5))
    }

    func session() throws(StoreError) -> SessionRow {
        SessionRow(
            number: try seq(0), key: deviceKey(1), platform: try name(3), externalID: text(4),
            startedAt: try time(5),
            end: isNull(6) ? nil : .init(at: try time(6), by: try seq(7), due: try time(8)), since: try time(9))
    }

    func starts() throws(StoreError) -> StartsRow {
        let bytes = bytes(4)
        guard bytes.count % 8 == 0 else { throw unreadable(4, "\(bytes.count) bytes are no list of times") }
        var starts: [WallTime] = []
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let time = Int64(bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
            guard StoredRange.time.contains(time) else { throw unreadable(4, "no row has the time \(time) there") }
            starts.append(WallTime(milliseconds: time))
        }
        return StartsRow(
            number: try seq(0),
            key: .init(owner: text(3) ?? "", isAnonymous: integer(2) != 0, app: app(1)),
            starts: starts, since: try time(5))
    }

    func pendingStart() throws(StoreError) -> PendingStart {
        PendingStart(
            cause: try seq(0), key: deviceKey(1), externalID: text(3), at: try time(4),
            window: try integer(5, in: StoredRange.time),
            due: try time(6))
    }

    func heldInteraction() throws(StoreError) -> HeldInteraction {
        let subject: Interaction.Subject =
            if let message = text(2) {
                .message(message)
            } else if isNull(1) {
                .payload(UInt64(bitPattern: integer(3)))
            } else {
                .delivery(try seq(1))
            }
        guard let act = Interaction.Act(name: text(4) ?? "", button: text(5)) else {
            throw unreadable(4, "'\(text(4) ?? "")' is nothing that a person does")
        }
        return HeldInteraction(
            Interaction(
                cause: try seq(0), subject: subject, act: act, platform: try name(6), app: text(7),
                device: text(8), externalID: text(9), at: try time(10)),
            due: try time(11))
    }

    /// An app, for which the empty text says that there is none.
    private func app(_ column: Int32) -> String? { text(column).flatMap { $0.isEmpty ? nil : $0 } }

    /// An app and, in the next column, a device.
    func deviceKey(_ column: Int32) -> DeviceKey { DeviceKey(app: app(column), device: text(column + 1) ?? "") }
}
