import LinuxSystem
import PushModel

extension PostgreSQLEngine {
    /// Makes sure that the node's name is this process's, at a connection that has ended nobody's sessions yet.
    ///
    /// - Parameter watch: another process's hold of the name, as the attempts before saw it.
    /// - Returns: whether it is: `false`: it was, and another process has taken it, so the lease or the next note ends
    ///   this one.
    /// - Throws: `.unreachable` while nobody knows whether the process that has it lives; `.wrongDatabase` when it
    ///   does.
    static func claimName(
        _ connection: inout Connection, _ options: EngineOptions, _ watch: inout NameWatch?, until deadline: Deadline
    ) throws(EngineProblem) -> Bool {
        guard let claim = options.claim else { return true }
        if try connection.run(Statements.hasNodes(), until: deadline).first?.bool(0) != true {
            _ = try connection.run(FleetSchema.createNodes(), until: deadline)
        }
        var gone: NameHolder?
        repeat {
            if try take(&connection, options, claim, from: gone, until: deadline) {
                options.chain.noteHasName()
                watch = nil
                return true
            }
            // One that lost its name for want of signs is a node like any other, and ends.
            guard !options.chain.hasHadName else { return false }
            let rows = try connection.run(
                Statements.nameHolder(.number(options.shard), .text(options.node)), until: deadline)
            guard let row = rows.first else { continue }
            let holder = try holder(row)
            var seen = watch ?? NameWatch(patience: claim.patience)
            let finding = seen.observe(holder, at: Instant(nanoseconds: SystemClock.bootNanoseconds))
            watch = seen
            switch finding {
            // Of two that find so, one gets it.
            case .gone where gone != holder: gone = holder
            case .gone, .unknown:
                throw EngineProblem(
                    .unreachable,
                    message: "\(holder.place.host) used the name \(options.node) a moment ago, and may still run")
            case .lives: throw taken(holder, options, claim)
            }
        } while true
    }

    private static func take(
        _ connection: inout Connection, _ options: EngineOptions, _ claim: NameClaim, from gone: NameHolder?,
        until deadline: Deadline
    ) throws(EngineProblem) -> Bool {
        let call = Statements.claimName(
            .number(options.shard), .text(options.node), .uuid(claim.incarnation), .text(claim.place.host),
            .uuid(claim.place.machine), .uuid(claim.place.boot), .text(claim.place.directory),
            .optional(gone?.incarnation), .optional(gone?.signs))
        let (answers, problem) = connection.run([[Statements.withoutWaiting(), call]], until: deadline)
        if let problem { throw problem }
        return answers[0].rows[1].count == 1
    }

    private static func holder(_ row: Row) throws(EngineProblem) -> NameHolder {
        NameHolder(
            place: NodePlace(
                host: try row.text(1), machine: try row.uuid(2), boot: try row.uuid(3), directory: try row.text(4)),
            incarnation: try row.uuid(0), signs: try row.integer(5))
    }

    /// Why a process ends that has lost its name.
    ///
    /// - Parameter rows: of the process that has it.
    func lostName(_ rows: [Row]) throws(EngineProblem) -> EngineProblem {
        guard let claim = options.claim, let row = rows.first else {
            return EngineProblem(.unreachable, message: "the name \(options.node) is gone from the database")
        }
        return Self.taken(try Self.holder(row), options, claim)
    }

    private static func taken(_ holder: NameHolder, _ options: EngineOptions, _ claim: NameClaim) -> EngineProblem {
        func text(_ place: NodePlace) -> String { "\(place.host) (boot \(place.boot), \(place.directory))" }
        return EngineProblem(
            .wrongDatabase,
            message: """
                two machines have the name \(options.node): \(text(holder.place)), which runs, and this one, \
                \(text(claim.place)); give each machine a [Store] Node= of its own
                """)
    }
}
