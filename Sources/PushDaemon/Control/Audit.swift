import LinuxSystem
import PushModel

/// Records administrative acts: for each a row of the ledger, and a journal entry once the row is durable.
///
/// The first acts of a user in a minute, and of a producer in an hour, have records of their own; later ones are summed up
/// by act, entrance and result in one record at its end. So a script that acts 10,000 times a second costs some records,
/// and a crash loses the sums of that time alone.
final class Audit {
    private let journal: JournalWriter
    private let node: String?
    private let record: (AuditRecord, _ isTold: Bool) -> Bool
    /// The number of the last order of a person whose row was written.
    private var lastOrder: Int64 = 0
    private var sums = AuditSums()
    /// The acts of producers, of which an app's server has many: so they leave room for those of administrators.
    private var sumsOfProducers = AuditSums(interval: AuditSums.hour)

    /// - Parameters:
    ///   - journal: gets the entry of an act without a row.
    ///   - node: this machine's name in a pair.
    ///   - record: writes the row, and then the entry if it is to be told. Returns whether it does: not while no row can be
    ///     written.
    init(journal: JournalWriter, node: String?, record: @escaping (AuditRecord, _ isTold: Bool) -> Bool) {
        (self.journal, self.node, self.record) = (journal, node, record)
    }

    /// Begins an act that a client asks for.
    func begin(_ subject: AuditRecord.Subject, by session: ClientSession, on socket: Sockets.Name) -> Deed {
        let peer = session.connection.peer
        let entrance: AuditRecord.Entrance =
            switch socket {
            case .read: .read
            case .inject: .inject
            case .control: .control
            }
        return Deed(
            self, subject, entrance, uid: peer.userID,
            pid: peer.processID > 0 ? peer.processID : nil)
    }

    /// Begins an act that comes without a client.
    func begin(_ subject: AuditRecord.Subject, from entrance: AuditRecord.Entrance) -> Deed {
        Deed(self, subject, entrance, uid: nil, pid: nil)
    }

    /// Writes the rows of orders that a machine of the pair gave. The journal of that machine has their entries.
    ///
    /// - Returns: the number of the last order with a row; `nil`: no row was written now.
    func take(_ orders: [OrderedAct]) -> Int64? {
        let before = lastOrder
        for order in orders where order.number > lastOrder {
            guard record(order.record, false) else { break }
            lastOrder = order.number
        }
        return lastOrder == before ? nil : lastOrder
    }

    fileprivate func note(_ record: AuditRecord) {
        var record = record
        record.node = node
        let now = EventLoop.nowNanoseconds
        let due = record.entrance == .inject ? sumsOfProducers.take(record, at: now) : sums.take(record, at: now)
        for record in due { write(record) }
    }

    /// Writes the sums of a time that is over.
    ///
    /// - Parameter isEnd: whether to write those of the present time as well, because the daemon stops.
    func writeDue(isEnd: Bool = false) {
        let now = isEnd ? .max : EventLoop.nowNanoseconds
        for due in sums.takeDue(at: now) + sumsOfProducers.takeDue(at: now) { write(due) }
    }

    private func write(_ due: AuditRecord) { if !record(due, true) { journal.log(JournalEntry(due)) } }
}

/// An administrative act under way. It is recorded when it ends.
final class Deed {
    private let audit: Audit
    private let subject: AuditRecord.Subject
    private let entrance: AuditRecord.Entrance
    private let uid: UInt32?
    private let pid: Int32?
    private var hasEnded = false

    fileprivate init(
        _ audit: Audit, _ subject: AuditRecord.Subject, _ entrance: AuditRecord.Entrance, uid: UInt32?, pid: Int32?
    ) {
        (self.audit, self.subject, self.entrance, self.uid, self.pid) = (audit, subject, entrance, uid, pid)
    }

    /// Records the end of the act; only the first end counts.
    ///
    /// - Parameters:
    ///   - result: how it ended.
    ///   - count: how many requests, entries or rows it changed.
    ///   - reason: why it was refused, or not done wholly, without an id of a person.
    func ends(_ result: AuditRecord.Result = .done, count: Int? = nil, _ reason: String? = nil) {
        guard !hasEnded else { return }
        hasEnded = true
        audit.note(
            AuditRecord(
                at: Moment.now().wall, subject, entrance, result, uid: uid, pid: pid, count: count, reason: reason))
    }
}

/// Sums up the acts of a user who acts too often for a record of each.
struct AuditSums {
    /// How many acts of a user have records of their own in an interval.
    static let most = 30
    /// Intervals, in nanoseconds.
    static let (minute, hour): (Int64, Int64) = (60_000_000_000, 3_600_000_000_000)
    /// How many users are counted apart; all others share one count.
    static let usersMax = 64

    private struct Key: Hashable {
        var user: UInt32?
        var act: AuditRecord.Act
        var entrance: AuditRecord.Entrance
        var result: AuditRecord.Result
    }

    private let interval: Int64
    private var since: Int64?
    private var counts: [UInt32?: Int] = [:]
    /// The sums in the order of their first acts.
    private var sums: [(key: Key, record: AuditRecord)] = []

    /// - Parameter interval: how long acts are summed up.
    init(interval: Int64 = minute) { self.interval = interval }

    /// Takes an act.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: the records to write now.
    mutating func take(_ record: AuditRecord, at now: Int64) -> [AuditRecord] {
        let due = takeDue(at: now)
        let user = counts[record.uid] != nil || counts.count < Self.usersMax ? record.uid : nil
        since = since ?? now
        counts[user, default: 0] += 1
        guard counts[user, default: 0] > Self.most else { return due + [record] }
        let key = Key(
            user: user, act: record.subject.act, entrance: record.entrance, result: record.result)
        guard let place = sums.firstIndex(where: { $0.key == key }) else {
            // No id of a person waits here: an erasure could not remove it.
            var sum = record
            (sum.subject, sum.uid, sum.pid) = (AuditRecord.Subject(key.act), user, nil)
            sums.append((key, sum))
            return due
        }
        sums[place].record.at = record.at
        sums[place].record.times += 1
        sums[place].record.reason = record.reason ?? sums[place].record.reason
        if let count = record.count { sums[place].record.count = (sums[place].record.count ?? 0) + count }
        return due
    }

    /// Takes the sums of an interval that is over.
    ///
    /// - Parameter now: monotonic nanoseconds; the highest number ends each interval.
    mutating func takeDue(at now: Int64) -> [AuditRecord] {
        guard let since, now == .max || now - since >= interval else { return [] }
        (self.since, counts) = (nil, [:])
        return exchange(&sums, with: []).map(\.record)
    }
}
