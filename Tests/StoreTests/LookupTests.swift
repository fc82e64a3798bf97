import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The lookup", .timeLimit(.minutes(30)))
struct LookupTests {
    /// A lookup for one test.
    private final class TestLookup {
        private let lookup: Lookup

        init(_ path: String) { lookup = Lookup(directory: path) }

        deinit { lookup.stop() }

        func ask<Answer>(_ question: Lookup.Question<Answer>) async throws -> Answer {
            try await withCheckedContinuation { waiting in
                lookup.ask(question) { answer, _ in waiting.resume(returning: answer) }
            }.get()
        }

        func request(_ id: String, uid: UInt32 = 1000) async throws -> RequestStory? {
            try await ask(.request(.init(account: Account(uid: uid), id: id)))
        }

        func delivery(_ name: DeliveryReference.Name) async throws -> Int64? {
            try await ask(.delivery(.init(name, app: nil, device: nil)))?.request.seq.value
        }
    }

    @Test("finds requests by their producers' ids, also those committed after the first question")
    func answers() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a") + Fixture.delivery(2, id: "b"))
        let lookup = TestLookup(directory.path)
        let second = try #require(try await lookup.request("b"))
        #expect(second.request.seq.value == 2)
        #expect(second.invocations == [Fixture.invocation(2)])
        #expect(try await lookup.request("x") == nil)
        #expect(try await lookup.request("a")?.request.seq.value == 1)
        #expect(try await lookup.request("a", uid: 1) == nil)
        try await ledger.commit(Fixture.delivery(3, id: "x"))
        #expect(try await lookup.request("x")?.request.seq.value == 3)
    }

    @Test("finds the deliveries that interactions name")
    func deliveries() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a") + Fixture.delivery(2))
        let lookup = TestLookup(directory.path)
        #expect(try await lookup.delivery(.message("m2")) == 2)
        #expect(try await lookup.delivery(.seq(SequenceNumber(1))) == 1)
        #expect(try await lookup.delivery(.message("m3")) == nil)
    }

    @Test("returns all ids of the ledger, page by page, each once")
    func identifiers() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        // More than two pages; some requests have no id, and two users have the same ones.
        let requests = (1...9000).map { number in
            let id = number % 10 == 0 ? nil : "id-\(number % 4500)"
            return LedgerRecord.request(
                Fixture.request(Int64(number), id: id, uid: number > 4500 ? 1001 : 1000))
        }
        try await ledger.commit(requests)
        let lookup = TestLookup(directory.path)
        var hashes: [UInt64] = []
        var last: Lookup.Key?
        var pages = 0
        repeat {
            let page = try await lookup.ask(.identifiers(after: last))
            hashes += page.hashes
            last = page.last
            pages += 1
        } while last != nil
        #expect(pages == 2)
        let expected = (1...9000).filter { $0 % 10 != 0 }.map { number in
            Lookup.Key(account: Account(uid: number > 4500 ? 1001 : 1000), id: "id-\(number % 4500)").hash
        }
        #expect(hashes.count == 8100)
        #expect(Set(hashes) == Set(expected))
    }

    @Test("starts no thread before the first question, and reports why it cannot open the ledger")
    func lazy() async throws {
        let directory = TemporaryDirectory()
        // There is no ledger yet, so opening it here would fail.
        let lookup = TestLookup(directory.path)
        let error = await #expect(throws: StoreError.self) { try await lookup.request("a") }
        #expect(error?.kind == .missing)

        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a"))
        #expect(try await lookup.request("a")?.request.seq.value == 1)
    }
}
