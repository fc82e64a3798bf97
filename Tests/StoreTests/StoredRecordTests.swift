import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A stored record", .timeLimit(.minutes(30)))
final class StoredRecordTests {
    private let directory = TemporaryDirectory()
    private let writer: LedgerWriter
    /// The tables of the tested records.
    private var tried: Set<String> = ["attributes"]

    init() throws { writer = try LedgerWriter(directory: directory.path) }

    /// Writes records to the log and reads them back, then to their table and back.
    private func roundTrip<Record: StoredRecord & Equatable>(_ records: [Record]) throws {
        let table = Record.table
        tried.insert(table.name)
        let database = Database(sharing: writer.database)
        let texts = try SharedTexts(database)
        try texts.begin()
        var insert = try RowStatement(table.insertion(), of: table, database, texts: texts)
        // A tracked delivery stores its number in its receipt. The receipt's cursor is the same number here.
        let isTracked = table.name == TrackedRow.table.name
        var select = try database.prepare(
            "SELECT \(isTracked ? "event, " : "")\(table.values()) FROM \(table.source)")
        // The second time around, the texts that rows share have numbers.
        for record in records + records {
            let buffer = RowBuffer(headroom: 0)
            buffer.append(.request, record)
            var reader = RowReader(buffer.rows)
            var (values, count) = (try #require(try reader.next()?.values), 0)
            var row = values
            #expect(try Record(reading: &row) == record && row.isAtEnd)
            row = values
            while !row.isAtEnd {
                try row.skip(1)
                count += 1
            }
            #expect(count == table.columns.count + (isTracked ? 1 : 0), "\(table.name)")
            try database.execute("DELETE FROM \(table.rows)")
            let key = isTracked ? try values.integer() : table.firstParameter == 2 ? 1 : nil
            try insert.run(values, key: key)
            #expect(try select.step())
            let found: Record = try select.value()
            #expect(found == record)
            #expect(try !select.step())
            select.reset()
        }
    }

    @Test("with a list has each of its numbers, however many there are", arguments: 0...3)
    func lists(count: Int) throws {
        let topic = try #require(TopicName(project: "p", topic: "news"))
        let numbers = (0..<count).map { SequenceNumber(1 << (Int64($0) * 20) + 5) }
        let change = SubscriptionChange(topic: topic, since: count == 1 ? nil : 17, devices: numbers)
        let buffer = RowBuffer(headroom: 0)
        buffer.append(.request, change)
        var reader = RowReader(buffer.rows)
        var row = try #require(try reader.next()?.values)
        #expect(try SubscriptionChange(reading: &row) == change && row.isAtEnd)
    }

    @Test("is read from the log and from the ledger as it was written")
    func every() throws {
        try roundTrip(Whole.requests)
        try roundTrip(Whole.invocations)
        try roundTrip(Whole.attempts)
        try roundTrip(Whole.deadLetters)
        try roundTrip(Whole.events)
        try roundTrip(Whole.tracked)
        try roundTrip(Whole.interactions)
        try roundTrip(Whole.pendingStarts)
        try roundTrip(Whole.held)
        try roundTrip(Whole.devices.map { $0.withoutTopics })
        try roundTrip(Whole.subscriptions)
        try roundTrip(Whole.fanOuts)
        try roundTrip(Whole.sessions)
        try roundTrip(Whole.starts)
        try roundTrip(Whole.entries)
        try roundTrip(Whole.sending)
        try roundTrip(Whole.gaps)
        try roundTrip(Whole.lifeSigns)
        try roundTrip(Whole.producers)
        try roundTrip(Whole.configurations)
        try roundTrip(Whole.acts)
        #expect(tried == Set(LedgerTable.all.map(\.name)))
    }

    @Test("of an entry has its destination, each in its form")
    func destinations() throws {
        let destinations: [EntryDestination] = [
            .stored(suite: "suite", brazeID: nil), .stored(suite: "suite", brazeID: "braze"),
            .sent(.externalID("user")), .sent(.brazeID("braze")), .sent(.alias(name: "name", label: "label")),
        ]
        try roundTrip(
            destinations.map { destination in
                var record = Whole.entries[0]
                record.entry.destination = destination
                return record
            })
    }

    @Test("from a log without the newest columns has NULL there, or the table's default")
    func shorter() throws {
        var request = Whole.requests[0]
        let buffer = RowBuffer()
        buffer.append(.request, request)
        let rows = RowBuffer()
        var reader = RowReader(buffer.rows)
        var values = try #require(try reader.next()?.values)
        rows.append(.request) { row in
            for column in AcceptedRequest.table.columns.prefix(while: { $0.name != "tracked" }) {
                switch try? values.next() {
                case .integer(let value): row.integer(value)
                case .text(let text): row.text(String(decoding: text, as: UTF8.self))
                case .bytes(let bytes): row.bytes(Array(bytes))
                case .null, nil: Issue.record("\(column.name) has nothing")
                }
            }
        }
        try writer.apply([rows], through: writer.position)
        (request.isTracked, request.transport, request.originalPriority) = (false, nil, nil)
        (request.deliveredPriority, request.replayOf) = (nil, nil)
        #expect(try LedgerReader(directory: directory.path).story(of: request.seq)?.request == request)
    }
}
