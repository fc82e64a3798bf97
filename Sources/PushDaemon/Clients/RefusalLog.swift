import JournalLog
import PushModel
import PushRouting

/// Why a client did not get what it wanted. The raw values are the names in the status.
enum RefusalReason: String, CaseIterable {
    /// There are as many connections as are allowed, in all.
    case connections
    /// There are as many connections of its user as are allowed.
    case peerConnections = "peer_connections"
    /// No descriptor was left for its connection.
    case descriptors
    /// Its request is not one, or not one that is accepted; whatever comes later, it never will be.
    case invalidRequest = "invalid_request"
    /// Too much is in flight, waits, or is owed.
    case overloaded
    /// Nothing can be written for now, or the daemon stops.
    case unavailable
    /// It did not end a line in time.
    case slowLine = "slow_line"
    /// It did not take what it was owed in time.
    case slowReader = "slow_reader"
    /// It neither sent nor was owed anything for too long.
    case idle
}

/// Counts what was refused to clients, and says it in the journal: the first at once, what follows together, a while later.
final class RefusalLog {
    private struct Entry {
        var count: UInt64 = 0
        var byAccount = LabelTable(limit: RefusalLog.accountsMax, empty: UInt64(0))
        /// Since the journal was told last.
        var untold: UInt64 = 0
        var toldAt: Int64?
        /// The account and the words of the last one.
        var last = (account: Account?.none, message: "")
    }

    /// How many accounts a reason has counts of their own for.
    fileprivate static let accountsMax = 16
    /// How long refusals for one reason are gathered, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    private var entries: [RefusalReason: Entry] = [:]
    private let journal: JournalWriter

    init(journal: JournalWriter) { self.journal = journal }

    /// How many there were, by reason.
    var counts: [(reason: RefusalReason, count: UInt64)] {
        RefusalReason.allCases.map { ($0, entries[$0]?.count ?? 0) }
    }

    /// How many there were, by reason and account; those that nobody can tell the account of are not among them.
    var countsByAccount: [(reason: RefusalReason, account: String, count: UInt64)] {
        RefusalReason.allCases.flatMap { reason in
            (entries[reason]?.byAccount.entries ?? []).map { (reason, $0.name, $0.value) }
        }
    }

    /// Notes a refusal.
    ///
    /// - Parameters:
    ///   - reason: why.
    ///   - message: the same in words; nothing of a payload.
    ///   - account: whom it concerns; `nil` where nobody can tell.
    ///   - now: monotonic nanoseconds.
    func note(_ reason: RefusalReason, _ message: @autoclosure () -> String, of account: Account?, at now: Int64) {
        var entry = entries[reason] ?? Entry()
        entry.count += 1
        if let account { entry.byAccount[account.name] += 1 }
        entry.untold += 1
        if entry.toldAt.map({ now - $0 >= Self.interval }) ?? true {
            entry.last = (account, message())
            tell(reason, &entry, at: now)
        } else if entry.untold == 1 {
            entry.last = (account, message())
        }
        entries[reason] = entry
    }

    /// Tells what was gathered for long enough.
    func tellWhatIsDue(at now: Int64) {
        for (reason, var entry) in entries where entry.untold > 0 {
            guard entry.toldAt.map({ now - $0 >= Self.interval }) ?? true else { continue }
            tell(reason, &entry, at: now)
            entries[reason] = entry
        }
    }

    private func tell(_ reason: RefusalReason, _ entry: inout Entry, at now: Int64) {
        let others = entry.untold == 1 ? "" : ", and \(entry.untold - 1) more (\(reason.rawValue))"
        let whom = entry.last.account.map { "refused \($0): " } ?? ""
        let message = "\(whom)\(entry.last.message)\(others)"
        var fields = [
            JournalEntry.Field(.refusal, reason.rawValue), JournalEntry.Field(.refusals, entry.untold),
        ]
        if let account = entry.last.account { fields.append(.init(.peer, account.name)) }
        journal.log(
            JournalEntry(
                reason == .invalidRequest || reason == .idle ? .info : .warning, message, messageID: .refused,
                fields: fields))
        entry.untold = 0
        entry.toldAt = now
    }
}

extension RefusalReason {
    /// The reason that an error's code stands for.
    init(_ code: ProtocolError.Code) {
        switch code {
        case .overloaded: self = .overloaded
        case .unavailable: self = .unavailable
        case .invalidJSON, .invalidUTF8, .tooLong, .tooDeep, .duplicateKey, .unknownOperation, .missingKey, .unknownKey,
            .invalidType, .invalidValue, .invalidPayload, .idConflict:
            self = .invalidRequest
        }
    }
}
