import PushModel

/// A session that connects on demand, and is closed after a failure.
struct Session: ~Copyable {
    private var connection: Connection?
    /// The host that answered last, which is tried first.
    private var preferred = 0

    /// Connects to one of the hosts, unless there is a connection.
    ///
    /// - Parameter begin: the first calls on a new connection; if one fails, the next host is tried.
    mutating func connect(
        _ address: ConnectionString, _ settings: SessionSettings, until deadline: Deadline,
        begin: (inout Connection) throws(EngineProblem) -> Void
    ) throws(EngineProblem) {
        guard connection == nil else { return }
        let hosts = address.hosts
        var problems: [EngineProblem] = []
        var acceptsLogin = false
        for attempt in hosts.indices {
            let place = (preferred + attempt) % hosts.count
            do throws(EngineProblem) {
                let share = deadline.share(of: hosts.count - attempt)
                var opened = try Connection.open(address.parameters(for: hosts[place], session: settings), until: share)
                acceptsLogin = true
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
        throw Self.joined(problems, acceptsLogin ? nil : address.passwordFileFault)
    }

    /// Joins the errors of all hosts into one, of the first kind of `wrongDatabase`, `lacking` and `failing` that
    /// one of them has.
    ///
    /// - Parameter fault: a further cause; `nil`: none is known.
    private static func joined(_ problems: [EngineProblem], _ fault: String?) -> EngineProblem {
        let kinds: [EngineProblem.Kind] = [.wrongDatabase, .lacking, .failing]
        let worst = kinds.lazy.compactMap { kind in problems.first { $0.kind == kind } }.first ?? problems[0]
        let messages = problems.map(\.message) + [fault].compactMap(\.self)
        return EngineProblem(worst.kind, code: worst.code, message: messages.joined(separator: "; "))
    }

    /// Runs transactions on the connection; closes it if one fails.
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
