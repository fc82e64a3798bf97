import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("The lookup")
struct LookupTests {
    @Test("answers every question in order, one result for each item in order")
    func answers() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a") + Fixture.delivery(2, id: "b"))
        let (answers, continuation) = AsyncStream.makeStream(of: Lookup.Answer.self)
        let lookup = Lookup(directory: directory.path) { continuation.yield($0) }
        defer { lookup.stop() }
        var next = answers.makeAsyncIterator()

        let keys: [(String, UInt32)] = [("b", 1000), ("x", 1000), ("a", 1000), ("a", 1)]
        lookup.submit(keys.map { .request(.init(uid: $1, id: $0)) }, token: 7)
        lookup.submit([], token: 8)
        let first = try #require(await next.next())
        #expect(first.token == 7)
        #expect(try first.result.get().map { $0?.request.seq.value } == [2, nil, 1, nil])
        #expect(try first.result.get()[0]?.invocations == [Fixture.invocation(2)])
        let second = try #require(await next.next())
        #expect(second.token == 8)
        #expect(try second.result.get().isEmpty)

        // What was committed after the connection was opened is found too.
        try await ledger.commit(Fixture.delivery(3, id: "x"))
        lookup.submit([.request(.init(uid: 1000, id: "x"))], token: 9)
        #expect(try #require(await next.next()).result.get().map { $0?.request.seq.value } == [3])
    }

    @Test("answers for ids and for what interactions name in one question")
    func mixed() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a") + Fixture.delivery(2))
        let (answers, continuation) = AsyncStream.makeStream(of: Lookup.Answer.self)
        let lookup = Lookup(directory: directory.path) { continuation.yield($0) }
        defer { lookup.stop() }
        var next = answers.makeAsyncIterator()
        let named: [DeliveryReference.Name] = [.message("m2"), .seq(SequenceNumber(2)), .message("m3")]
        lookup.submit(
            [.request(.init(uid: 1000, id: "a"))] + named.map { .delivery(.init($0, app: nil, device: nil)) }, token: 1)
        let answer = try #require(await next.next())
        #expect(try answer.result.get().map { $0?.request.seq.value } == [1, 2, 2, nil])
        #expect(try answer.result.get()[1]?.invocations == [Fixture.invocation(2)])
    }

    @Test("starts no thread before the first question, and says what keeps it from the ledger")
    func lazy() async throws {
        let directory = TemporaryDirectory()
        let (answers, continuation) = AsyncStream.makeStream(of: Lookup.Answer.self)
        // There is no ledger yet, so opening it here would fail.
        let lookup = Lookup(directory: directory.path) { continuation.yield($0) }
        defer { lookup.stop() }
        var next = answers.makeAsyncIterator()
        lookup.submit([.request(.init(uid: 1, id: "a"))], token: 1)
        let answer = try #require(await next.next())
        let error = #expect(throws: StoreError.self) { try answer.result.get() }
        #expect(error?.kind == .missing)

        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a"))
        lookup.submit([.request(.init(uid: 1000, id: "a"))], token: 2)
        #expect(try #require(await next.next()).result.get().map { $0?.request.seq.value } == [1])
    }
}
