public import PushModel

/// One line of the report: an invocation and the facts of its request, without the body; or a request that has none.
public struct LedgerRow: Hashable, Sendable {
    /// The request's number.
    public var seq: SequenceNumber
    /// The operation of the request.
    public var operation: Operation
    /// The producer's own id.
    public var id: String?
    /// The user id of the producer.
    public var uid: UInt32
    /// The time of acceptance.
    public var acceptedAt: WallTime
    /// The mode of the request: device or relay.
    public var mode: DispatchMode
    /// The platform.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device.
    public var device: String?
    /// The payload's own id.
    public var messageID: String?
    /// The transport of a delivery; `nil` unless it is one.
    public var transport: Transport?
    /// The priority with which a delivery was sent over FCM; `nil` if the payload does not have it.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it; `nil` if the payload does not have it.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` if a producer sent it.
    public var replayOf: SequenceNumber?
    /// The invocation, without a result while it is in flight; `nil` if the request led to none.
    public var invocation: InvocationRecord?
}

extension StoredRange {
    /// The numbers of a ledger from elsewhere, which leave room for new numbers.
    static let restoredNumber: ClosedRange<Int64> = 0...1 << 61
    /// The numbers that a salvage keeps. It skips some numbers behind them, and a restore skips more.
    static let salvagedNumber: ClosedRange<Int64> = 0...1 << 60
    /// Minutes of figures, with the one behind the last.
    static let minute: ClosedRange<Int64> = 0...FigureMinute.limit
    /// The places of figures of minutes.
    static let place: ClosedRange<Int64> = 0...FigureTable.place(FigureMinute.limit) - 1
}

extension Database {
    /// The highest numbers of requests, events and entries that a ledger has given, in this order.
    func highestNumbers() throws(StoreError) -> [Int64] {
        var numbers: [Int64] = []
        for (deleted, key, table) in [
            ("highest_seq", "seq", "request_rows"), ("highest_cursor", "cursor", "event_rows"),
            ("highest_entry", "number", "entries"),
        ] {
            numbers.append(
                try integer(
                    "SELECT max((SELECT \(deleted) FROM meta), (SELECT coalesce(max(\(key)), 0) FROM \(table)))"))
        }
        return numbers
    }

    /// Throws if a number is so high that a ledger with later numbers is refused: it was damaged, and no later number may
    /// be given.
    func requireRoomForNumbers() throws(StoreError) {
        for number in try highestNumbers() where !StoredRange.restoredNumber.contains(number) {
            throw StoreError(
                .corrupt,
                message:
                    "the ledger has the number \(number), which is outside the range that leaves room for later ones",
                context: path)
        }
    }

    /// Returns the number of a request, an event or an entry that a query yields.
    ///
    /// - Throws: `corrupt` if it is outside the valid range.
    func number(_ sql: String) throws(StoreError) -> Int64 {
        let number = try integer(sql)
        guard StoredRange.number.contains(number) else {
            throw StoreError(
                .corrupt, message: "the ledger has the number \(number), which is outside the valid range",
                context: path)
        }
        return number
    }
}
