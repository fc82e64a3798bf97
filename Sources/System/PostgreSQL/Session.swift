import PushFleet

/// A session that connects when it is needed, and is closed at a failure.
struct Session: ~Copyable {
    private var connection: Connection?
    /// The host that answered last is tried first.
    private var preferred = 0

    /// Connects to one of the hosts, unless there is a connection.
    ///
    /// - Parameter begin: what a new connection begins with; if it fails the next host is tried.
    mutating func connect(
        _ address: ConnectionString, _ settings: SessionSettings, until deadline: Deadline,
        begin: (inout Connection) throws(EngineProblem) -> Void
    ) throws(EngineProblem) {
        guard connection == nil else { return }
        let hosts = address.hosts
        var problems: [EngineProblem] = []
        for attempt in hosts.indices {
            let place = (preferred + attempt) % hosts.count
            do throws(EngineProblem) {
                let share = deadline.share(of: hosts.count - attempt)
                var opened = try Connection.open(address.parameters(for: hosts[place], session: settings), until: share)
                try begin(&opened)
                connection = consume opened
                preferred = place
                return
            } catch {
                guard error.kind != .newer else { throw error }
                let prefix = hosts.count > 1 ? "\(hosts[place].description): " : ""
                problems.append(EngineProblem(error.kind, code: error.code, message: prefix + error.message))
            }
        }
        throw Self.joined(problems)
    }

    /// One problem for those of all hosts: of the kind that is the database's, where one is.
    private static func joined(_ problems: [EngineProblem]) -> EngineProblem {
        let worst = problems.first { $0.kind == .notOurs } ?? problems.first { $0.kind == .ill } ?? problems[0]
        return EngineProblem(worst.kind, code: worst.code, message: problems.map(\.message).joined(separator: "; "))
    }

    /// Runs transactions on the connection, which is closed if one fails.
    mutating func run(
        _ transactions: [[Call]], until deadline: Deadline
    ) -> (answers: [Connection.Answer], problem: EngineProblem?) {
        guard var open = connection.take() else {
            return ([], EngineProblem(.unreachable, message: "there is no connection"))
        }
        let outcome = open.run(transactions, until: deadline)
        if outcome.problem == nil { connection = consume open }
        return outcome
    }
}
