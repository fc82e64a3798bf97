import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("An order of a chain that several machines write", .timeLimit(.minutes(30)))
final class ChainOrderTests {
    private let engine = MemoryEngine()
    private let directory = TemporaryDirectory()
    private let second = TemporaryDirectory()
    private let third = TemporaryDirectory()

    private func leader(_ path: String, epoch: Int64) throws -> TestLedger {
        try TestLedger(
            path,
            shared: SharedStore(
                identity: engine.identity(), epoch: epoch, boot: UUID128(high: 7, low: UInt64(epoch)),
                clocks: BootClocks(), writing: engine.session(), reading: engine.session()))
    }

    /// Applies the rest of the chain to a copy.
    private func follow(_ path: String) throws -> LedgerCopy {
        let copy = try LedgerCopy(directory: path, of: engine.identity())
        var clocks = BootClocks()
        while try copy.catchUp(from: engine, clocks: &clocks) > 0 {}
        return copy
    }

    /// Writes the orders that the store asks for, until the store reports something else.
    private func carryOutOrders(_ ledger: TestLedger) async throws -> (orders: [ChainOrder], end: StoreReport) {
        var orders: [ChainOrder] = []
        while true {
            let report = try await ledger.report()
            guard case .orderDue(let order) = report else { return (orders, report) }
            orders.append(order)
            try await ledger.commit([.order(order)])
        }
    }

    /// All rows of a ledger, by table, except the position in the log.
    private func rows(_ path: String) throws -> [String: [String]] {
        let database = try Database(path: path + "/ledger.db", access: .readOnly)
        var tables: [String: [String]] = [:]
        let names = try database.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'log_position'"
        )
        while try names.step() {
            let table = names.text(0) ?? ""
            let columns = try database.prepare(
                "SELECT group_concat('quote(' || name || ')', ' || '' '' || ') FROM pragma_table_info('\(table)')")
            guard try columns.step(), let list = columns.text(0) else { continue }
            let rows = try database.prepare("SELECT \(list) FROM \(table) ORDER BY 1")
            var texts: [String] = []
            while try rows.step() { texts.append(rows.text(0) ?? "") }
            tables[table] = texts
        }
        return tables
    }

    private func delivery(_ seq: Int64, user: String, device: String, at time: Int64 = 0) -> [LedgerRecord] {
        var request = Fixture.request(seq, id: "id\(seq)", acceptedAt: time)
        (request.externalID, request.device, request.messageID) = (user, device, "m\(seq)")
        var event = Fixture.event(seq)
        (event.externalUserID, event.deviceID) = (user, device)
        return [.request(request), .invocation(Fixture.invocation(seq)), .event(event)]
    }

    private static func hasOrder(_ batch: ChainBatch) -> Bool {
        batch.bytes.withUnsafeBytes {
            $0.count > BatchHeader.length
                && ChainOrder.isOrder(UnsafeRawBufferPointer(rebasing: $0[BatchHeader.length...]))
        }
    }

    // MARK: Pruning

    @Test("prunes the same rows from each copy at the same batch, also from a copy that starts empty")
    func prunes() async throws {
        let ledger = try leader(directory.path, epoch: 1)
        for first in stride(from: Int64(1), through: 1_200, by: 100) {
            try await ledger.commit((first..<first + 100).flatMap { Fixture.delivery($0, acceptedAt: $0 * 60_000) })
        }
        let follower = try follow(second.path)
        ledger.committer.prune(
            olderThan: WallTime(milliseconds: 1_100 * 60_000),
            deadLetters: DeadLetterLimits(cutoff: WallTime(milliseconds: .min), byteCountMax: 1 << 20),
            figures: WallTime(milliseconds: 100 * 60_000))
        let (orders, end) = try await carryOutOrders(ledger)
        #expect(end == .pruned(requests: 1_099))
        #expect(orders.count >= 2 && engine.chain.filter(Self.hasOrder).count == orders.count)
        // An order frees the ids that it pruned, in each copy.
        try await ledger.commit(Fixture.delivery(1_201, acceptedAt: 1_201 * 60_000))
        var clocks = BootClocks()
        while try follower.catchUp(from: engine, clocks: &clocks) > 0 {}
        _ = try follow(third.path)
        ledger.committer.stop()
        let wanted = try rows(directory.path)
        #expect(wanted["request_rows"]?.count == 102)
        for path in [second.path, third.path] {
            let found = try rows(path)
            for (table, rows) in wanted where !table.hasPrefix("figures_by_h") && !table.hasPrefix("figures_by_d") {
                #expect(found[table] == rows, "\(table)")
            }
        }
    }

    @Test(
        "is the only way to prune: a copy prunes nothing by its own clock, and neither does a leader before its order")
    func copiesDoNotPrune() async throws {
        let ledger = try leader(directory.path, epoch: 1)
        try await ledger.commit(delivery(1, user: "anna", device: "d1"))
        ledger.committer.stop()
        let copy = try follow(second.path)
        // The clock of the next leader is a year ahead; it prunes nothing before its order is in the chain.
        let next = try leader(second.path, epoch: 2)
        next.committer.prune(olderThan: WallTime(milliseconds: .max))
        guard case .orderDue(.prune) = try await next.report() else {
            Issue.record("the leader prunes without an order")
            return
        }
        #expect(try next.reader().find(uid: 1000, id: "id1") != nil)
        withExtendedLifetime(copy) {}
    }

    @Test("that was not in the chain when its leader ended is requested again by the next leader")
    func lostOrder() async throws {
        let ledger = try leader(directory.path, epoch: 1)
        try await ledger.commit(Fixture.delivery(1, acceptedAt: 0))
        ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
        guard case .orderDue = try await ledger.report() else {
            Issue.record("there is no order")
            return
        }
        ledger.committer.stop()
        let next = try leader(second.path, epoch: 2)
        next.committer.prune(olderThan: WallTime(milliseconds: 1))
        #expect(try await carryOutOrders(next).end == .pruned(requests: 1))
    }

    // MARK: Erasing

    private func erasure(_ user: String, through request: Int64) -> ErasureOrder {
        ErasureOrder(
            person: Person(externalID: user, devices: ["d1"]),
            bound: ErasureBound(request: SequenceNumber(request), entry: EntryNumber(0)))
    }

    @Test("erases a person from each copy and from the copy's files")
    func erases() async throws {
        let ledger = try leader(directory.path, epoch: 1)
        try await ledger.commit(delivery(1, user: "anna-karenina", device: "d1"))
        try await ledger.commit(delivery(2, user: "boris", device: "d2"))
        let follower = try follow(second.path)
        ledger.committer.erase(erasure("anna-karenina", through: 2))
        let (orders, rowsOut) = try await carryOutOrders(ledger)
        #expect(orders.count == 1)
        guard case .erasedRows(let receipt) = rowsOut else {
            Issue.record("\(rowsOut)")
            return
        }
        #expect(receipt.requests == 1 && receipt.events == 1 && receipt.batch == 4)
        #expect(try await ledger.report() == .erased)
        #expect(try ledger.reader().lastErasure() == LastErasure(batch: 4, isRewritten: true))
        try await ledger.commit(delivery(3, user: "carol", device: "d1"))
        ledger.committer.stop()

        var clocks = BootClocks()
        while try follower.catchUp(from: engine, clocks: &clocks) > 0 {}
        #expect(try LedgerReader(directory: second.path).lastErasure()?.isRewritten == false)
        #expect(try follower.runMaintenance() == .erased)
        #expect(try follower.runMaintenance() == .done)
        #expect(try follow(third.path).runMaintenance() == .erased)
        let wanted = try rows(directory.path)
        for path in [second.path, third.path] {
            #expect(try rows(path)["request_rows"] == wanted["request_rows"])
            #expect(try rows(path)["event_rows"] == wanted["event_rows"])
            #expect(try LedgerReader(directory: path).lastErasure() == LastErasure(batch: 4, isRewritten: true))
        }
        for path in [directory.path, second.path, third.path] {
            for name in names(in: path) {
                #expect(!contains(readFile("\(path)/\(name)") ?? [], "anna-karenina"), "\(path)/\(name)")
            }
        }
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let text = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: text) }
    }

    @Test("to erase waits until all requests of the person are decided")
    func undecided() async throws {
        let ledger = try leader(directory.path, epoch: 1)
        try await ledger.commit([.request(Fixture.request(1)), .invocation(Fixture.invocation(1, outcome: nil))])
        ledger.committer.erase(erasure("u1", through: 1))
        let later = ledger.submit([
            .gap(DaemonGap(.down, begin: WallTime(milliseconds: 1), end: WallTime(milliseconds: 2)))
        ])
        try await ledger.durable(later)
        ledger.committer.expedite(through: later)
        try await ledger.applied(later)
        try await ledger.commit([.update(Fixture.invocation(1))])
        guard case .erasedRows(let receipt) = try await carryOutOrders(ledger).end else {
            Issue.record("nothing is erased")
            return
        }
        #expect(receipt.requests == 1)
        #expect(try await ledger.report() == .erased)
    }

    @Test("to erase that was applied before a kill lets the next start rewrite the ledger, as a copy or as the leader")
    func killed() async throws {
        let ledger = try leader(directory.path, epoch: 1)
        try await ledger.commit(delivery(1, user: "anna", device: "d1"))
        try await ledger.commit([.order(.erase(erasure("anna", through: 1)))])
        ledger.committer.stop()
        #expect(try LedgerReader(directory: directory.path).lastErasure() == LastErasure(batch: 3, isRewritten: false))
        _ = try follow(second.path)
        let next = try leader(second.path, epoch: 2)
        #expect(try await next.report() == .erased)
        #expect(try follow(directory.path).runMaintenance() == .erased)
    }

    @Test("is encoded as a row, and is refused in a batch with other rows")
    func bytes() throws {
        let orders: [ChainOrder] = [
            .prune(
                PruningSlice(
                    olderThan: WallTime(milliseconds: 3), limit: 9,
                    deadLetters: DeadLetterLimits(cutoff: WallTime(milliseconds: 2), byteCountMax: 1 << 30),
                    figures: WallTime(milliseconds: 1))),
            .prune(PruningSlice(olderThan: nil, limit: 256)),
            .erase(
                ErasureOrder(
                    person: Person(externalID: nil, devices: ["d1", "", String(repeating: "x", count: 3000)]),
                    bound: ErasureBound(request: SequenceNumber(1 << 40), entry: EntryNumber(7)), takesUndecided: true)),
        ]
        for order in orders {
            let buffer = RowBuffer()
            buffer.append(order)
            #expect(try ChainOrder(buffer.rows) == order)
            buffer.append(Fixture.request(1))
            #expect(throws: RowError.self) { try ChainOrder(buffer.rows) }
        }
        let writer = try LedgerWriter(directory: directory.path)
        let (first, last) = (RowBuffer(), RowBuffer())
        first.append(Fixture.request(1))
        last.append(orders[1])
        let error = #expect(throws: StoreError.self) { try writer.apply([first, last], through: .start) }
        #expect(error?.kind == .contradiction)
    }
}
