import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("An erasure", .timeLimit(.minutes(30)))
final class ErasureTests {
    private let directory = TemporaryDirectory()
    private let bound = ErasureBound(request: SequenceNumber(10), entry: EntryNumber(10))

    private func order(_ user: String, through request: Int64 = 10) -> ErasureOrder {
        ErasureOrder(
            person: Person(externalID: user, devices: ["d1"]),
            bound: ErasureBound(request: SequenceNumber(request), entry: EntryNumber(10)))
    }

    private func isAnywhere(_ text: String) -> Bool {
        let text = Array(text.utf8)
        func search(_ path: String) -> Bool {
            names(in: path).contains { name in
                guard let bytes = readFile("\(path)/\(name)") else { return search("\(path)/\(name)") }
                var rest = bytes[...]
                while let place = rest.firstIndex(of: text[0]) {
                    if bytes[place...].starts(with: text) { return true }
                    rest = bytes[(place + 1)...]
                }
                return false
            }
        }
        return search(directory.path)
    }

    private func request(_ seq: Int64, user: String?, device: String?, _ body: String) -> [LedgerRecord] {
        var request = Fixture.request(seq)
        (request.externalID, request.device, request.body) = (user, device, Array(body.utf8))
        request.messageID = "message-\(body)"
        return [.request(request), .invocation(Fixture.invocation(seq))]
    }

    @Test("leaves no byte in any file while batches are written; requests after the bound and of others stay")
    func everywhere() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(request(1, user: "anna", device: "d1", "first-of-anna"))
        try await ledger.commit(request(2, user: nil, device: "d1", "of-nobody"))
        try await ledger.commit(request(3, user: "ben", device: "d1", "of-ben"))
        ledger.committer.erase(order("anna", through: 3))
        for seq in 4...40 { try await ledger.commit(request(Int64(seq), user: "anna", device: "d2", "later-\(seq)")) }
        guard case .erasedRows(let receipt) = try await ledger.report() else {
            Issue.record("no rows were erased")
            return
        }
        #expect(receipt.requests == 2)
        #expect(receipt.othersOnDevices == 1)
        #expect(try await ledger.report() == .erased)
        #expect(!isAnywhere("first-of-anna") && !isAnywhere("of-nobody"))
        #expect(isAnywhere("of-ben") && isAnywhere("later-4") && isAnywhere("later-40"))
        let story = try #require(try ledger.reader().story(of: SequenceNumber(1)))
        #expect(story.request.body == Array("{}".utf8) && story.request.externalID == nil)
        #expect(story.invocations.map(\.result?.outcome) == [.handedToTracker])
    }

    @Test("deletes the shared texts that only the person's rows use")
    func sharedTexts() async throws {
        let ledger = try TestLedger(directory.path)
        func delivery(_ seq: Int64, _ user: String, _ campaign: String) -> [LedgerRecord] {
            var (request, event) = (Fixture.request(seq), Fixture.event(seq))
            (request.externalID, event.externalUserID) = (user, user)
            (request.device, event.deviceID) = ("of-\(user)", "of-\(user)")
            event.content = .received(.init(campaignID: campaign, messageID: nil))
            return [.request(request), .invocation(Fixture.invocation(seq)), .event(event)]
        }
        for seq in 1...3 { try await ledger.commit(delivery(Int64(seq), "anna", "for-anna-alone")) }
        for seq in 4...6 { try await ledger.commit(delivery(Int64(seq), "ben", "for-many")) }
        try await ledger.commit(delivery(7, "anna", "for-many"))
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM texts WHERE text LIKE 'for-%'") == 2)
        ledger.committer.erase(order("anna"))
        guard case .erasedRows = try await ledger.report(), try await ledger.report() == .erased else {
            Issue.record("no rows were erased")
            return
        }
        #expect(!isAnywhere("for-anna-alone") && isAnywhere("for-many"))
        for seq in 11...13 { try await ledger.commit(delivery(Int64(seq), "ben", "for-some")) }
        #expect(try ledger.reader().events(after: 0, limit: 9).map(\.event.content.kind.rawValue).count == 6)
        let campaigns = try ledger.secondConnection().prepare("SELECT group_concat(campaign_id) FROM events")
        #expect(try campaigns.step())
        #expect(campaigns.text(0) == "for-many,for-many,for-many,for-some,for-some,for-some")
    }

    @Test("of an unknown device reports that no device was erased")
    func unknownDevice() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(request(1, user: "ben", device: "d2", "of-ben"))
        for (device, count) in [("d1", 0), ("d2", 1)] {
            ledger.committer.erase(ErasureOrder(person: Person(externalID: nil, devices: [device]), bound: bound))
            guard case .erasedRows(let receipt) = try await ledger.report() else {
                Issue.record("no rows were erased")
                return
            }
            #expect(receipt.devices == count, "\(receipt)")
            #expect(try await ledger.report() == .erased)
        }
    }

    @Test("deletes every row of every table that names the person, or clears the name in it")
    func everyTable() throws {
        let writer = try LedgerWriter(directory: directory.path)
        let tables = try Self.tables(of: writer.database)
        let naming = tables.filter { !$0.columns.allSatisfy { Self.name(for: $0.name) == nil } }
        #expect(
            naming.map(\.name) == [
                "attributes", "audit", "devices", "entries", "event_rows", "held_interactions", "pending_starts",
                "request_rows", "session_starts", "sessions",
            ], "a new table that names a user or a device is here too")
        for table in naming {
            let values = table.columns.map { Self.value($0, in: table.name) }.joined(separator: ", ")
            try writer.database.execute("INSERT INTO \(table.name) VALUES (\(values))")
            #expect(try Self.count(table, writer.database) == 1, "\(table.name)")
        }
        _ = try writer.erase(order("anna"))
        for table in naming { #expect(try Self.count(table, writer.database) == 0, "\(table.name)") }
    }

    private typealias Column = (name: String, type: String, isKey: Bool)

    private static func tables(of database: borrowing Database) throws -> [(name: String, columns: [Column])] {
        let list = try database.prepare(
            """
            SELECT tables.name, columns.name, columns.type, columns.pk > 0 FROM sqlite_schema AS tables,
                pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' ORDER BY tables.name, columns.cid
            """)
        var tables: [(name: String, columns: [Column])] = []
        while try list.step() {
            let name = list.text(0) ?? ""
            if tables.last?.name != name { tables.append((name, [])) }
            tables[tables.count - 1].columns.append((list.text(1) ?? "", list.text(2) ?? "", list.integer(3) == 1))
        }
        return tables
    }

    /// The person's name in a column; `nil`: the column names no person.
    private static func name(for column: String) -> String? {
        switch column {
        case "external_id", "external_user_id", "owner", "identifier": "anna"
        case "device", "device_id": "d1"
        default: nil
        }
    }

    private static func value(_ column: Column, in table: String) -> String {
        if let name = name(for: column.name) { return "'\(name)'" }
        switch (column.name, column.type) {
        case ("anonymous", _): return "0"
        case ("identifier_kind", _): return "'external_id'"
        case (_, "INTEGER"): return "1"
        case (_, "BLOB"): return "x''"
        case ("boot", _): return "zeroblob(16)"
        default: return "'x'"
        }
    }

    private static func count(_ table: (name: String, columns: [Column]), _ database: borrowing Database) throws
        -> Int64
    {
        let condition = table.columns.compactMap { column in name(for: column.name).map { "\(column.name) = '\($0)'" } }
        return try database.integer("SELECT count(*) FROM \(table.name) WHERE \(condition.joined(separator: " OR "))")
    }

    @Test("waits for the outcome of an undecided request before it deletes that; without a daemon it does not wait")
    func undecided() async throws {
        let ledger = try TestLedger(directory.path)
        for seq in 1...2 as ClosedRange<Int64> {
            var request = Fixture.request(seq)
            request.externalID = "anna"
            try await ledger.commit([.request(request), .invocation(Fixture.invocation(seq, outcome: nil))])
        }
        ledger.committer.erase(order("anna", through: 1))
        try await ledger.commit([.update(Fixture.invocation(2, outcome: .handled))])
        // The ledger's thread may take one step with each batch.
        for seq in 3...12 as ClosedRange<Int64> { try await ledger.commit(Fixture.delivery(seq)) }
        #expect(try ledger.reader().story(of: SequenceNumber(1))?.request.externalID == "anna")
        try await ledger.commit([.update(Fixture.invocation(1, outcome: .handled))])
        guard case .erasedRows(let receipt) = try await ledger.report() else { throw Unexpected() }
        #expect(try await ledger.report() == .erased)
        let reader = try ledger.reader()
        #expect(receipt.requests == 1)
        #expect(try reader.story(of: SequenceNumber(1))?.invocations.first?.result?.outcome == .handled)
        #expect(try reader.story(of: SequenceNumber(1))?.request.externalID == nil)

        try await ledger.commit([.request(Fixture.request(13)), .invocation(Fixture.invocation(13, outcome: nil))])
        var alone = order("u1", through: 13)
        alone.takesUndecided = true
        ledger.committer.erase(alone)
        guard case .erasedRows = try await ledger.report() else { throw Unexpected() }
        #expect(try ledger.reader().story(of: SequenceNumber(13)) == nil)
        #expect(try await ledger.report() == .erased)
    }

    @Test("deletes nothing from a device that became the user's after the bound")
    func laterDevice() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(request(1, user: nil, device: "d2", "of-nobody"))
        let known = KnownDevice(
            number: SequenceNumber(1), key: DeviceKey(app: "shop", device: "d2"), platform: .android, externalID: "anna"
        )
        try await ledger.commit([.device(known)] + request(2, user: "anna", device: "d2", "later"))
        ledger.committer.erase(order("anna", through: 1))
        guard case .erasedRows(let receipt) = try await ledger.report() else { throw Unexpected() }
        #expect(try await ledger.report() == .erased)
        #expect(receipt.requests == 0)
        #expect(try ledger.reader().story(of: SequenceNumber(1))?.request.device == "d2")
    }

    private struct Unexpected: Error {}

    @Test("that a reader holds up is reported, and continues when the reader has ended")
    func reader() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(request(1, user: "anna", device: "d1", "first-of-anna"))
        let reader = try ledger.secondConnection()
        try reader.execute("BEGIN; SELECT count(*) FROM requests")
        ledger.committer.erase(order("anna"))
        guard case .erasedRows = try await ledger.report(), case .erasureWaits(let error) = try await ledger.report()
        else {
            Issue.record("it did not wait")
            return
        }
        #expect(error.kind == .busy)
        try await ledger.commit(request(2, user: "ben", device: "d2", "meanwhile"))
        try reader.execute("COMMIT")
        #expect(try await ledger.report() == .erased)
        #expect(!isAnywhere("first-of-anna") && isAnywhere("meanwhile"))
    }

    @Test("that a stop interrupted is completed by the next start, before any read", arguments: [false, true])
    func interrupted(isBegun: Bool) async throws {
        do {
            let ledger = try TestLedger(directory.path)
            // The text is longer than a page: SQLite leaves deleted bytes on free pages, which nothing overwrites.
            let text = String(repeating: "first-of-anna ", count: 6000)
            try await ledger.commit(request(1, user: "anna", device: "d1", text))
            if isBegun {
                let reader = try ledger.secondConnection()
                try reader.execute("BEGIN; SELECT count(*) FROM requests")
                ledger.committer.erase(order("anna"))
                guard case .erasedRows = try await ledger.report() else {
                    Issue.record("no rows were erased")
                    return
                }
                ledger.committer.stop()
            } else {
                ledger.committer.stop()
                try order("anna").write(in: directory.path)
            }
        }
        let next = try TestLedger(directory.path)
        #expect(try next.reader().story(of: SequenceNumber(1))?.request.externalID == nil)
        #expect(try await next.report() == .erased)
        #expect(!isAnywhere("first-of-anna") && access(directory.path + "/erasure", F_OK) != 0)
    }

    @Test("order is read as it was written, with any names; one that was not written to its end is none")
    func orders() throws {
        let order = ErasureOrder(
            person: Person(externalID: "a b\n\u{0}ü", devices: ["", "x y"]), bound: bound)
        try order.write(in: directory.path)
        #expect(try ErasureOrder.left(in: directory.path) == order)
        let path = directory.path + "/erasure"
        let bytes = try #require(readFile(path))
        writeFile(String(decoding: bytes.dropLast(4), as: UTF8.self), to: path)
        #expect(try ErasureOrder.left(in: directory.path) == nil)
        #expect(access(path, F_OK) != 0)
    }
}
