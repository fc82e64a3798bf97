import LinuxSystem
import PushModel
import PushRouter

/// Why a client was refused. The raw values are the names in the status.
enum RefusalReason: String, CaseIterable {
    /// The server has as many connections as it allows.
    case connections
    /// The account has as many connections as it may have.
    case peerConnections = "peer_connections"
    /// No descriptor was left for its connection.
    case descriptors
    /// Its request is malformed, or no repetition of it will ever be accepted.
    case invalidRequest = "invalid_request"
    /// A rule for producers does not allow its request.
    case notAllowed = "not_allowed"
    /// It sends more requests a second than a rule for producers allows.
    case rate
    /// Too many requests are in flight or wait, or too many replies are unread.
    case overloaded
    /// Nothing can be written for now, or the daemon stops.
    case unavailable
    /// It did not end a line in time.
    case slowLine = "slow_line"
    /// It did not read its replies in time.
    case slowReader = "slow_reader"
    /// It sent no request and waited for no reply for too long.
    case idle
}

/// Counts refusals, and logs them: the first of a reason at once, later ones together, once in 10 s.
final class RefusalLog {
    private struct Entry {
        var count: UInt64 = 0
        var byAccount = LabelTable(limit: RefusalLog.accountsMax, empty: UInt64(0))
        /// The refusals since the last journal entry.
        var unreported: UInt64 = 0
        var reportedAt: Int64?
        /// The account, the message and the rule for the next entry.
        var last = (account: Account?.none, message: "", rule: String?.none)
    }

    /// How many accounts have a count of their own for each reason.
    fileprivate static let accountsMax = 16
    /// The time between two entries for one reason, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    private var entries: [RefusalReason: Entry] = [:]
    private let journal: JournalWriter

    init(journal: JournalWriter) { self.journal = journal }

    /// The number of refusals by reason.
    var counts: [(reason: RefusalReason, count: UInt64)] {
        RefusalReason.allCases.map { ($0, entries[$0]?.count ?? 0) }
    }

    /// The number of refusals by reason and account; refusals without a known account are left out.
    var countsByAccount: [(reason: RefusalReason, account: String, count: UInt64)] {
        RefusalReason.allCases.flatMap { reason in
            (entries[reason]?.byAccount.entries ?? []).map { (reason, $0.name, $0.value) }
        }
    }

    /// Notes a refusal.
    ///
    /// - Parameters:
    ///   - reason: the reason.
    ///   - message: the reason in words, without anything of a payload.
    ///   - account: the account of the client; `nil` if it is unknown.
    ///   - rule: the rule of `producers.d` that refused it.
    ///   - now: monotonic nanoseconds.
    func note(
        _ reason: RefusalReason, _ message: @autoclosure () -> String, of account: Account?, by rule: String? = nil,
        at now: Int64
    ) {
        var entry = entries[reason] ?? Entry()
        entry.count += 1
        if let account { entry.byAccount[account.name] += 1 }
        entry.unreported += 1
        if entry.reportedAt.map({ now - $0 >= Self.interval }) ?? true {
            entry.last = (account, message(), rule)
            writeEntry(reason, &entry, at: now)
        } else if entry.unreported == 1 {
            entry.last = (account, message(), rule)
        }
        entries[reason] = entry
    }

    /// Logs the refusals that were gathered for `interval`.
    func logDueRefusals(at now: Int64) {
        for (reason, var entry) in entries where entry.unreported > 0 {
            guard entry.reportedAt.map({ now - $0 >= Self.interval }) ?? true else { continue }
            writeEntry(reason, &entry, at: now)
            entries[reason] = entry
        }
    }

    private func writeEntry(_ reason: RefusalReason, _ entry: inout Entry, at now: Int64) {
        let others = entry.unreported == 1 ? "" : ", and \(entry.unreported - 1) more (\(reason.rawValue))"
        let whom = entry.last.account.map { "refused \($0): " } ?? ""
        let message = "\(whom)\(entry.last.message)\(others)"
        var fields = [
            JournalEntry.Field(.refusal, reason.rawValue), JournalEntry.Field(.refusals, entry.unreported),
        ]
        if let account = entry.last.account { fields.append(.init(.peer, account.name)) }
        if let rule = entry.last.rule { fields.append(.init(.rule, rule)) }
        journal.log(
            JournalEntry(
                reason == .invalidRequest || reason == .idle ? .info : .warning, message, messageID: .refused,
                fields: fields))
        entry.unreported = 0
        entry.reportedAt = now
    }
}

extension RefusalReason {
    /// The reason for a refused request.
    init(_ error: ProtocolError) {
        self = error.rule != nil && error.code == .overloaded ? .rate : RefusalReason(error.code)
    }

    /// The reason for an error's code.
    init(_ code: ProtocolError.Code) {
        switch code {
        case .overloaded: self = .overloaded
        case .unavailable: self = .unavailable
        case .notAllowed: self = .notAllowed
        case .invalidJSON, .invalidUTF8, .tooLong, .tooDeep, .duplicateKey, .unknownOperation, .missingKey, .unknownKey,
            .invalidType, .invalidValue, .invalidPayload, .idConflict:
            self = .invalidRequest
        }
    }
}
