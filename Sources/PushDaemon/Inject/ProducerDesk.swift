import LinuxSystem
import PushModel
import PushRouter

/// Applies the rules of `producers.d` to the requests of clients, and counts the refusals by rule and account. On the
/// loop's thread.
final class ProducerDesk {
    /// The rules for a connection, as of a reading of the configuration.
    struct Standing {
        fileprivate let reading: Int
        fileprivate let places: ProducerRules.Places
    }

    /// The refusals of one account by one rule.
    struct Refusals {
        var count: UInt64 = 0
        /// The time of the last one, in monotonic nanoseconds.
        var lastAt: Int64 = 0
    }

    /// How many accounts have a count of their own for each rule.
    private static let accountsMax = 16

    private var rules = ProducerRules()
    private var readings = 0
    private var counts: [String: LabelTable<Refusals>] = [:]

    /// Takes the rules of a configuration. The counts of rules that are gone end.
    func take(_ new: [ProducerRule]) {
        rules = ProducerRules(new, after: rules)
        readings += 1
        let names = Set(rules.names)
        counts = counts.filter { names.contains($0.key) }
    }

    /// Admits a client's request by the rules, and then by `others`. A request that these refuse takes nothing of a rate.
    ///
    /// - Throws: the refusal.
    func admit(
        _ request: Request, of session: ClientSession, then others: () throws(ProtocolError) -> Void
    ) throws(ProtocolError) {
        // The daemon's own requests are of people at its notifications, and of its handlers.
        guard !rules.isEmpty, !session.isOwn else { return try others() }
        let standing = session.standing.flatMap { $0.reading == readings ? $0 : nil } ?? look(at: session)
        let taken = try rules.admit(request, among: standing.places, at: EventLoop.nowNanoseconds)
        do throws(ProtocolError) {
            try others()
        } catch {
            rules.giveBack(taken)
            throw error
        }
    }

    private func look(at session: ClientSession) -> Standing {
        let connection = session.connection
        let places = rules.places(ofUser: connection.peer.userID) { connection.peerGroups }
        let standing = Standing(reading: readings, places: places)
        session.standing = standing
        return standing
    }

    /// Counts a refusal.
    func note(refusedBy rule: String, _ account: Account, at now: Int64) {
        counts[rule, default: LabelTable(limit: Self.accountsMax, empty: Refusals())][account.name].count += 1
        counts[rule]?[account.name].lastAt = now
    }

    /// The refusals by rule, in the order of the rules, and by account.
    var refusals: [(rule: String, account: String, refusals: Refusals)] {
        rules.names.flatMap { rule in (counts[rule]?.entries ?? []).map { (rule, $0.name, $0.value) } }
    }
}
