import PushModel

/// The ledger's columns, in the order of the values in rows (PushModel: `RowBuffer`), and how they become records again: for
/// statements that have the ``LedgerTable/source`` of their tables.
enum LedgerColumns {
    static let request = LedgerTable.requests.values()
    /// The same with an empty body, which is not read.
    static let requestWithoutBody = LedgerTable.requests.values(replacing: ["body": "x''"])
    static let requestCount: Int32 = 23

    static let invocation = LedgerTable.invocations.values()
    static let invocationCount: Int32 = 26

    static let event = LedgerTable.events.values()
    static let eventCount: Int32 = 19
}

// Columns: each reads the columns of its list above, which start at `first`.
extension Statement {
    func request(from first: Int32 = 0) throws(StoreError) -> AcceptedRequest {
        AcceptedRequest(
            seq: try seq(first), operation: try word(first + 1), id: text(first + 2),
            peer: Peer(
                uid: try number(first + 3), gid: try number(first + 4), pid: try number(first + 5)),
            acceptedAt: Moment(
                monotonic: try instant(first + 7), wall: try time(first + 6)),
            boot: try uuid(first + 8), mode: try word(first + 9), platform: try word(first + 10),
            app: text(first + 11), device: text(first + 12), externalID: text(first + 13), messageID: text(first + 14),
            state: try optionalWord(first + 16), duplicateID: text(first + 17),
            isTracked: integer(first + 18) != 0, transport: try optionalWord(first + 19),
            originalPriority: try optionalWord(first + 20), deliveredPriority: try optionalWord(first + 21),
            replayOf: try optionalSeq(first + 22),
            body: bytes(first + 15))
    }

    func invocation(from first: Int32 = 0) throws(StoreError) -> InvocationRecord {
        InvocationRecord(
            id: try invocationID(first),
            callback: try word(first + 2), isObserver: integer(first + 19) != 0, provider: text(first + 3),
            route: text(first + 4), handler: text(first + 5),
            budget: try span(first + 6), deadline: isNull(first + 7) ? nil : try instant(first + 7),
            started: integer(first + 8) != 0, result: isNull(first + 9) ? nil : try result(from: first + 9))
    }

    /// The number of an invocation's request, and in the next column its own.
    func invocationID(_ first: Int32) throws(StoreError) -> InvocationID {
        InvocationID(seq: try seq(first), n: Int(try integer(first + 1, in: StoredRange.number)))
    }

    private func result(from first: Int32) throws(StoreError) -> InvocationResult {
        InvocationResult(
            outcome: try word(first), reason: text(first + 1), reasonCode: try optionalName(first + 14),
            queue: try span(first + 2), exec: try span(first + 3), total: try span(first + 4),
            completion: isNull(first + 5) ? nil : try completion(from: first + 5),
            waitedFor: isNull(first + 11) ? nil : try predecessor(from: first + 11),
            ahead: isNull(first + 15) ? nil : try number(first + 15),
            decidedAt: try time(first + 9))
    }

    private func predecessor(from first: Int32) throws(StoreError) -> Predecessor {
        Predecessor(
            id: try invocationID(first), handler: text(first + 2), took: isNull(first + 5) ? nil : try span(first + 5))
    }

    private func completion(from first: Int32) throws(StoreError) -> Completion {
        let options = text(first + 3)?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        return Completion(
            by: try word(first), times: try number(first + 1), result: try word(first + 2),
            options: options.map(String.init))
    }

    func event(from first: Int32 = 0) throws(StoreError) -> AnalyticsEvent {
        AnalyticsEvent(
            id: try uuid(first + 2), time: try integer(first + 4, in: StoredRange.time), seq: try seq(first + 1),
            delivery: try seq(first + 5), externalUserID: text(first + 6), deviceID: text(first + 7),
            appID: text(first + 8), platform: try word(first + 9),
            content: try content(of: try word(first + 3), from: first + 10))
    }

    private func content(
        of kind: AnalyticsEvent.Kind, from first: Int32
    ) throws(StoreError) -> AnalyticsEvent.Content {
        let push = AnalyticsEvent.Push(campaignID: text(first), messageID: text(first + 1))
        switch kind {
        case .received: return .received(push)
        case .open: return .open(push, button: try button(from: first + 2))
        case .influencedOpen: return .influencedOpen(push)
        case .iosForeground: return .iosForeground(push)
        case .sessionStart: return .sessionStart
        case .sessionEnd: return .sessionEnd(try span(first + 4))
        case .tokenStateChange: return .tokenStateChange(try word(first + 6), token: text(first + 5))
        case .uninstall: return .uninstall
        case .customEvent: return .customEvent(name: text(first + 7) ?? "", properties: text(first + 8))
        }
    }

    private func button(from first: Int32) throws(StoreError) -> AnalyticsEvent.Button? {
        guard let id = text(first + 1) else { return nil }
        return AnalyticsEvent.Button(id: id, action: try optionalWord(first))
    }

    /// A value of an enumeration by its wire name.
    func name<Value: RawRepresentable<String>>(_ column: Int32) throws(StoreError) -> Value {
        let text = text(column) ?? ""
        guard let value = Value(rawValue: text) else {
            throw unreadable(column, "'\(text)' is no \(Value.self)")
        }
        return value
    }

    /// A value of an enumeration by its wire name, or none.
    func optionalName<Value: RawRepresentable<String>>(_ column: Int32) throws(StoreError) -> Value? {
        isNull(column) ? nil : try name(column)
    }

    /// A word of a closed set, by its number.
    func word<Value: StoredWord>(_ column: Int32) throws(StoreError) -> Value {
        let number = integer(column)
        guard isInteger(column), number >= 0, number < Value.stored.count else {
            throw unreadable(column, "\(number) stands for no \(Value.self)")
        }
        return Value.stored[Int(number)]
    }

    /// A word of a closed set, or none.
    func optionalWord<Value: StoredWord>(_ column: Int32) throws(StoreError) -> Value? {
        isNull(column) ? nil : try word(column)
    }

    func number<Value: FixedWidthInteger>(_ column: Int32) throws(StoreError) -> Value {
        guard let value = Value(exactly: integer(column)) else {
            throw unreadable(column, "\(integer(column)) does not fit a \(Value.self)")
        }
        return value
    }

    func uuid(_ column: Int32) throws(StoreError) -> UUID128 {
        let bytes = bytes(column)
        guard bytes.count == 16 else { throw unreadable(column, "\(bytes.count) bytes are no 128-bit id") }
        return UUID128(
            high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
    }

    func unreadable(_ column: Int32, _ reason: String) -> StoreError {
        StoreError(.corrupt, message: "column \(columnName(column)): \(reason)", context: path)
    }
}
