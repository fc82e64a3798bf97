import UnixSockets

/// How long clients may take; a reload may change it. All in nanoseconds.
struct ClientTimeouts {
    /// From the first byte of a line to its end.
    var line: Int64
    /// For what a client is owed to be taken.
    var write: Int64
    /// Without anything sent or owed; `nil`: for ever.
    var idle: Int64?
}

/// What a client took too long for.
enum Overdue {
    /// It was refused, and has had the time to read why.
    case discarding
    /// It leaves so many bytes unread.
    case reading(owed: Int)
    /// Its line has no end.
    case line
    /// It neither sends nor is owed anything.
    case idle
}

extension ClientSession {
    /// For how long what a client still sends is thrown away after a line that was too long or too slow, in nanoseconds:
    /// closing at once would reset the connection before the client has read why.
    private static let discardTime: Int64 = 1_000_000_000

    /// What the client takes too long for; `nil`: nothing.
    ///
    /// - Parameters:
    ///   - timeouts: what it is allowed.
    ///   - now: monotonic nanoseconds.
    func overdue(_ timeouts: ClientTimeouts, at now: Int64) -> Overdue? {
        if let since = discardingSince { return now - since >= Self.discardTime ? .discarding : nil }
        if let since = unreadSince, now - since >= timeouts.write { return .reading(owed: connection.pendingBytes) }
        if let since = lineSince, now - since >= timeouts.line { return .line }
        if let limit = timeouts.idle, now - lastActive >= limit, isIdle, !isBlocked { return .idle }
        return nil
    }
}
