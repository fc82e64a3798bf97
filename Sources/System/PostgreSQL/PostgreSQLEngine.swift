public import PushModel
import Synchronization

/// A shard's chain and lease in PostgreSQL, over one session, which connects at its first use and after each failure.
///
/// A value is used by one thread at a time. Each call ends within `EngineOptions.time`, but for the look-up of a host's
/// name, which is libc's. A new connection first makes sure of the node's name (`EngineOptions.claim`), and ends the
/// sessions that bear its own name: this node's lost ones.
public final class PostgreSQLEngine: ShardEngine {
    let options: EngineOptions
    private let state: Mutex<State>

    private struct State: ~Copyable {
        var session = Session()
        /// The chain that the first connection found; a later connection to another chain is refused.
        var identity: ShardIdentity?
        /// Another process's hold of the node's name.
        var names: NameWatch?
    }

    /// Creates the engine without a connection.
    public init(_ options: EngineOptions) {
        precondition(
            options.node.utf8.count <= EngineOptions.nodeNameLimit, "a node's name is told by the names of its sessions"
        )
        self.options = options
        state = Mutex(State())
    }

    // MARK: The chain

    public func identity() throws(EngineProblem) -> ShardIdentity {
        let options = options
        return try state.withLock { (state) throws(EngineProblem) in
            let deadline = Deadline(after: options.time)
            try Self.connect(&state, options, until: deadline)
            // Asks even on an open connection: the server may be gone.
            let (_, problem) = state.session.run([[Statements.identity(.number(options.shard))]], until: deadline)
            if let problem { throw problem }
            guard let identity = state.identity else { throw Self.notSetUp(options.shard) }
            return identity
        }
    }

    public func append(_ batch: ChainBatch) -> AppendResult {
        commit(
            Statements.append(
                .number(options.shard), .number(batch.reference.number), .uuid(batch.reference.id),
                .uuid(batch.previous), .number(batch.epoch), .number(batch.version), .uuid(batch.boot),
                .number(batch.handedOver.nanoseconds), .optional(batch.lastCursor), .bytes(batch.bytes)))
    }

    public func confirm(_ reference: BatchReference) -> AppendResult {
        commit(Statements.confirm(.number(options.shard), .number(reference.number), .uuid(reference.id)))
    }

    /// Runs a statement that returns one row if it wrote one, and judges its commit.
    private func commit(_ call: Call) -> AppendResult {
        let options = options
        return state.withLock { state in
            let deadline = Deadline(after: options.time)
            do throws(EngineProblem) {
                try Self.connect(&state, options, until: deadline)
            } catch {
                return .unknown(error)
            }
            // Two transactions: the answer to the second one comes after the first one's commit has ended.
            let check = options.durability == .standby ? [[Statements.protection()]] : []
            let (answers, problem) = state.session.run([[call]] + check, until: deadline)
            return Self.judge(answers, problem, isChecked: options.durability == .standby)
        }
    }

    /// Returns the result of an append or a confirmation.
    ///
    /// - Parameters:
    ///   - answers: the statement's answer, and the one to the question whether its commit waited for a standby.
    ///   - problem: the error, if an answer is missing.
    ///   - isChecked: whether that question was asked.
    static func judge(
        _ answers: [Connection.Answer], _ problem: EngineProblem?, isChecked: Bool
    ) -> AppendResult {
        guard let first = answers.first else {
            return .unknown(problem ?? EngineProblem(.unreachable, message: "the database gave no answer"))
        }
        guard first.rows[0].count == 1 else { return .conflict }
        if let warning = first.warnings.first { return .uncertain(warning) }
        guard isChecked else { return .committed }
        guard answers.count == 2 else {
            return .uncertain(problem?.description ?? "the database did not say whether a standby has the batch")
        }
        do throws(EngineProblem) {
            guard let row = answers[1].rows[0].first else { return .uncertain("the database did not answer a query") }
            if let reason = try weakness(row) { return .uncertain(reason) }
            if try row.bool(2) { return .uncertain("the database reloaded its settings a moment ago") }
            return .committed
        } catch {
            return .uncertain(error.description)
        }
    }

    /// Returns the setting for which a commit waits for no standby; `nil` if it waits.
    ///
    /// - Parameter row: begins with `synchronous_standby_names` and `synchronous_commit`.
    private static func weakness(_ row: Row) throws(EngineProblem) -> String? {
        if try row.text(0).allSatisfy({ $0 == " " }) {
            return
                "no synchronous standby is named: set synchronous_standby_names in the database, or Durability=engine "
                + "if the service replicates by itself"
        }
        let mode = try row.text(1)
        return mode == "on" ? nil : "synchronous_commit is \(mode)"
    }

    /// Throws `unprotected` if the database has no standby that could confirm a commit.
    private static func requireStandby(
        _ session: inout Session, until deadline: Deadline
    ) throws(EngineProblem) {
        let (answers, problem) = session.run([[Statements.hasStandby()]], until: deadline)
        if let problem { throw problem }
        guard let row = answers[0].rows[0].first else { return }
        if let reason = try weakness(row) { throw EngineProblem(.unprotected, message: reason) }
        if let reason = try absence(row) { throw EngineProblem(.unprotected, message: reason) }
    }

    public func absentStandby() throws(EngineProblem) -> String? {
        guard let row = try ask(Statements.hasStandby()).first else { return nil }
        // Without a name commits wait for no standby.
        return try Self.weakness(row) == nil ? Self.absence(row) : nil
    }

    /// Returns why no standby that is named confirms a commit; `nil`: one may.
    ///
    /// - Parameter row: the answer to `Statements.hasStandby`.
    private static func absence(_ row: Row) throws(EngineProblem) -> String? {
        guard try !row.bool(2) else { return nil }
        return "the standby is away: start it; pg_stat_replication shows no synchronous standby, and "
            + "synchronous_standby_names is \(try row.text(0))"
    }

    public func tail() throws(EngineProblem) -> ChainTail {
        let rows = try ask(Statements.tail(.number(options.shard)))
        guard let row = rows.first else { throw Self.notSetUp(options.shard) }
        return ChainTail(try Self.reference(row), epoch: try row.integer(2))
    }

    /// The limit for the bytes of batches in one answer; the first batch may exceed it.
    private static let readLimit: Int64 = 4 << 20

    public func batches(from number: UInt64, atMost count: Int) throws(EngineProblem) -> [StoredBatch] {
        let rows = try ask(
            Statements.batches(
                .number(options.shard), .number(Int64(clamping: number)), .number(count), .number(Self.readLimit)))
        var batches: [StoredBatch] = []
        for row in rows {
            var batch = ChainBatch(
                reference: try Self.reference(row), previous: try row.uuid(2), epoch: try row.integer(3),
                boot: try row.uuid(5), handedOver: Instant(nanoseconds: try row.integer(6)),
                lastCursor: try row.optionalInteger(7), bytes: try row.bytes(8))
            batch.version = Int(try row.integer(4))
            batches.append(StoredBatch(batch: batch, age: .microseconds(try row.integer(9))))
        }
        return batches
    }

    /// Decodes the number and the id of a batch, from two columns.
    static func reference(_ row: Row, at column: Int = 0) throws(EngineProblem) -> BatchReference {
        BatchReference(number: UInt64(clamping: try row.integer(column)), id: try row.uuid(column + 1))
    }

    // MARK: The lease

    public func lease() throws(EngineProblem) -> LeaseRow {
        let rows = try ask(Statements.lease(.number(options.shard)))
        guard let row = rows.first else { throw Self.notSetUp(options.shard) }
        return try Self.leaseRow(row)
    }

    /// - Parameter column: the first column of `Statements.leaseColumns`.
    static func leaseRow(_ row: Row, at column: Int = 0) throws(EngineProblem) -> LeaseRow {
        let drained = try row.optionalText(column + 5) ?? ""
        return LeaseRow(
            owner: row.isNull(column)
                ? nil : NodeIncarnation(node: try row.text(column), id: try row.uuid(column + 1)),
            epoch: try row.integer(column + 2), renewals: try row.integer(column + 3),
            successor: try row.optionalText(column + 4), drained: Set(drained.split(separator: " ").map(String.init)),
            leastReader: try row.optionalInteger(column + 6).map { Int($0) })
    }

    public func renew(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem) -> LeaseRenewal? {
        let renew = Statements.renew(.number(options.shard), .text(owner.node), .uuid(owner.id), .number(epoch))
        // The sign is a transaction of its own: a renewal that waits for a standby must not hold the name's row.
        let sign =
            options.claim == nil
            ? []
            : [
                [
                    Statements.withoutWaiting(),
                    Statements.keepName(.number(options.shard), .text(owner.node), .uuid(owner.id)),
                ]
            ]
        guard let row = try rows(of: sign + [[renew]]).last?.first else { return nil }
        return LeaseRenewal(try Self.leaseRow(row, at: 1), wall: WallTime(milliseconds: try row.integer(0)))
    }

    public func take(_ seen: LeaseRow, for owner: NodeIncarnation) throws(EngineProblem) -> Int64? {
        let options = options
        let prefix = EngineOptions.namePrefix(.log, options.shard)
        let take = Statements.take(
            .number(options.shard), .text(owner.node), .uuid(owner.id), .optional(options.nodeAddress),
            .optional(seen.owner?.node), .optional(seen.owner?.id), .number(seen.epoch), .number(seen.renewals))
        // Runs after the commit of the lease, and only takes effect if this node has it.
        let end = Statements.endWriters(
            .text(prefix), .text(prefix + options.node), .number(options.shard), .text(owner.node), .uuid(owner.id))
        return try state.withLock { (state) throws(EngineProblem) in
            let deadline = Deadline(after: options.time)
            try Self.connect(&state, options, until: deadline)
            let isChecked = options.durability == .standby
            // Fails without a standby: a lease that no standby has is worth nothing, and would end every other claim.
            if isChecked { try Self.requireStandby(&state.session, until: deadline) }
            let check = isChecked ? [[Statements.protection()]] : []
            let (answers, problem) = state.session.run([[take]] + check + [[end]], until: deadline)
            if let problem { throw problem }
            guard let row = answers[0].rows[0].first else { return nil }
            // The promotion of a standby without this commit would let the same term be given twice.
            if case .uncertain(let reason) = Self.judge(Array(answers.dropLast()), nil, isChecked: isChecked) {
                throw EngineProblem(.unreachable, message: reason)
            }
            return try row.integer(0)
        }
    }

    public func acts(after number: Int64) throws(EngineProblem) -> [OrderedAct] {
        let shard = Value.number(options.shard)
        // The removal waits for no standby: renewals come from the same thread.
        let rows = try ask(
            Statements.withoutWaiting(), Statements.forgetActs(shard, .number(number)), Statements.acts(shard))
        var acts: [OrderedAct] = []
        for row in rows {
            // A newer program may have other acts, whose rows its ledger gets.
            guard let act = AuditRecord.Act(rawValue: try row.text(2)) else { continue }
            let record = AuditRecord(
                at: WallTime(milliseconds: try row.integer(1)), AuditRecord.Subject(act, try row.optionalText(3)),
                .program, .done, uid: UInt32(clamping: try row.integer(4)), pid: Int32(clamping: try row.integer(5)),
                node: try row.text(6))
            acts.append(OrderedAct(number: try row.integer(0), record))
        }
        return acts
    }

    public func release(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem) {
        _ = try ask(Statements.release(.number(options.shard), .text(owner.node), .uuid(owner.id), .number(epoch)))
    }

    @discardableResult
    public func note(
        _ owner: NodeIncarnation, applied number: UInt64, reads version: Int, program: String
    ) throws(EngineProblem) -> WallTime {
        let shard = Value.number(options.shard)
        let note = Statements.note(
            shard, .text(owner.node), .number(Int64(clamping: number)), .number(version), .text(program))
        guard options.claim != nil else { return try Self.wall(try ask(Statements.withoutWaiting(), note)) }
        let answers = try askAll(
            Statements.withoutWaiting(), Statements.keepName(shard, .text(owner.node), .uuid(owner.id)), note)
        if answers[1].isEmpty { throw try lostName(try ask(Statements.nameHolder(shard, .text(owner.node)))) }
        return try Self.wall(answers[2])
    }

    private static func wall(_ rows: [Row]) throws(EngineProblem) -> WallTime {
        guard let row = rows.first else {
            throw EngineProblem(.unreachable, message: "the database did not answer an update of push_copies")
        }
        return WallTime(milliseconds: try row.integer(0))
    }

    // MARK: The session

    /// Runs one transaction; the rows of its last statement.
    func ask(_ calls: Call...) throws(EngineProblem) -> [Row] { try rows(of: [calls]).last ?? [] }

    /// Runs one transaction; the rows of each statement.
    func askAll(_ calls: Call...) throws(EngineProblem) -> [[Row]] { try rows(of: [calls]) }

    /// Runs transactions; the rows of each statement of the last one.
    private func rows(of transactions: [[Call]]) throws(EngineProblem) -> [[Row]] {
        let options = options
        return try state.withLock { (state) throws(EngineProblem) in
            let deadline = Deadline(after: options.time)
            try Self.connect(&state, options, until: deadline)
            let (answers, problem) = state.session.run(transactions, until: deadline)
            if let problem { throw problem }
            return answers.last?.rows ?? []
        }
    }

    private static func connect(
        _ state: inout State, _ options: EngineOptions, until deadline: Deadline
    ) throws(EngineProblem) {
        let known = state.identity ?? options.chain.identity
        var found: ShardIdentity?
        var names = state.names
        defer { state.names = names }
        try state.session.connect(
            options.address, SessionSettings(applicationName: options.applicationName), until: deadline
        ) { (connection) throws(EngineProblem) in
            try FleetDatabase.checkVersion(connection.serverVersion)
            found = try identify(&connection, options.shard, until: deadline)
            guard known == nil || known == found else {
                throw EngineProblem(
                    .wrongDatabase, message: "the database has another fleet than at the last connection")
            }
            guard try claimName(&connection, options, &names, until: deadline) else { return }
            _ = try connection.run(Statements.endLost(.text(options.applicationName)), until: deadline)
        }
        if let found {
            state.identity = found
            options.chain.found(found)
        }
    }

    /// Returns the identity of the database; refuses one that this program must not write.
    private static func identify(
        _ connection: inout Connection, _ shard: Int32, until deadline: Deadline
    ) throws(EngineProblem) -> ShardIdentity {
        try FleetDatabase.checkSchema(try connection.run(Statements.schema(), until: deadline))
        let rows = try connection.run(Statements.identity(.number(shard)), until: deadline)
        guard let row = rows.first, !row.isNull(2) else { throw notSetUp(shard) }
        let (mode, messages) = (try row.text(3), try row.text(4))
        guard mode == "on", messages == "warning" else {
            throw EngineProblem(
                .wrongDatabase,
                message: """
                    the session does not have the settings that it asked for (synchronous_commit is \(mode), \
                    client_min_messages is \(messages)): a proxy or pooler between this node and the engine drops them
                    """)
        }
        var identity = ShardIdentity(fleet: try row.uuid(0), state: try row.uuid(2))
        let place = try connection.run(Statements.database(), until: deadline).first
        identity.place.database = try place?.integer(0)
        if try place?.bool(1) == true {
            identity.place.cluster = try connection.run(Statements.cluster(), until: deadline).first?.integer(0)
        }
        return identity
    }

    static func notSetUp(_ shard: Int32) -> EngineProblem {
        EngineProblem(
            .lacking,
            message:
                "the database is not set up for shard \(shard): restore its rows, or correct Log=; in a new database run "
                + "\"pushctl store init\" once")
    }
}
