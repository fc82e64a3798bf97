import LinuxSystem

/// How long clients may take, in nanoseconds; a reload may change it.
struct ClientTimeouts {
    /// From the first byte of a line to its end.
    var line: Int64
    /// While replies are unread, until the client reads some.
    var write: Int64
    /// Without a request or an unread reply; `nil`: for ever.
    var idle: Int64?
}

/// The time limit that a client exceeded.
enum Overdue {
    /// The client was refused, and has had the time to read why.
    case discarding
    /// The client leaves this number of bytes unread.
    case reading(owed: Int)
    /// The client does not end its line.
    case line
    /// The client sends no request and waits for no reply.
    case idle
}

extension ClientSession {
    /// How long the server reads and discards input after a line that was too long or too slow, in nanoseconds: closing
    /// at once would reset the connection before the client has read the error.
    private static let discardTime: Int64 = 1_000_000_000

    /// The time limit that the client exceeds; `nil`: none.
    ///
    /// - Parameters:
    ///   - timeouts: the limits.
    ///   - now: monotonic nanoseconds.
    func overdue(_ timeouts: ClientTimeouts, at now: Int64) -> Overdue? {
        if let since = discardingSince { return now - since >= Self.discardTime ? .discarding : nil }
        if let since = unreadSince, now - since >= timeouts.write { return .reading(owed: connection.pendingBytes) }
        if let since = lineSince, now - since >= timeouts.line { return .line }
        if let limit = timeouts.idle, now - lastActive >= limit, isIdle, !isBlocked { return .idle }
        return nil
    }
}
