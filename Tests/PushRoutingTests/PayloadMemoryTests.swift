import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Payloads that the router releases")
struct PayloadMemoryTests {
    private let second: Duration = .seconds(1)
    /// The bytes counted for the line and the payload of a delivery of nine bytes.
    private let size = 9 + JSONDocument(test: #"{"k":"v"}"#).memorySize + Invocation.memorySizeOfContent

    @Test("a waiting invocation is small beside its payload: fields of attempts and results are behind references")
    func invocationSize() { #expect(MemoryLayout<Invocation>.size <= 312) }

    @Test("an invocation that waits in a lane keeps its payload while there is room for payloads; later ones do not")
    func room() throws {
        var bench = Bench(.testing(payloadMemory: 2 * size))
        for _ in 1...4 { try bench.submit(.deliver(to: "phone")) }
        #expect(bench.loads == 0)
        bench.finished(1)
        #expect(bench.loads == 0)
        bench.finished(2)
        bench.finished(3)
        #expect(bench.loads == 2)
        #expect(bench.runs[.init(4)]?.subject.payload?.rawBytes.elementsEqual(#"{"k":"v"}"#.utf8) == true)
    }

    @Test("an invocation that ends frees its room")
    func freed() throws {
        var bench = Bench(.testing(payloadMemory: 2 * size))
        for _ in 1...2 { try bench.submit(.deliver(to: "phone")) }
        for number in 1...2 { bench.finished(Int64(number)) }
        for _ in 3...4 { try bench.submit(.deliver(to: "phone")) }
        for number in 3...4 { bench.finished(Int64(number)) }
        #expect(bench.loads == 0)
    }

    @Test("the router chooses the route by the released payload, and after it was declined the next matching one")
    func routes() throws {
        let table = RoutingTable.testing(
            routes: [.key("a", to: "crm"), .key("k", to: "again"), .key("b", to: "crm"), .all(to: "last")],
            handlers: [.exec("crm"), .exec("again"), .exec("last")], payloadMemory: 0)
        var bench = Bench(table)
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(#"{"k":"v","b":"v"}"#, to: "phone"))
        #expect(bench.finished(1).last == "start 2.0 again")
        #expect(bench.finished(2, 0, .declined).last == "start 2.0 crm")
        #expect(bench.finished(2, 0, .declined).last == "start 2.0 last")
        #expect(bench.runs[.init(2)]?.subject.payload?["b"]?.string == "v")
        #expect(bench.finished(2, 0, .declined).last == "end 2.0 unrouted")
    }

    @Test("rows, ends and starts equal those of a router that keeps every payload")
    func same() throws {
        func story(_ payloadMemory: Int) throws -> [String] {
            var bench = Bench(
                .testing(.relay, handlers: [.exec("crm", idempotent: true)], payloadMemory: payloadMemory))
            var lines: [String] = []
            for number in 1...6 {
                lines += try bench.submit(.deliver(number % 2 == 0 ? Payload.braze() : #"{"k":"v"}"#, to: "phone"))
            }
            lines += bench.finished(1, 0, .retry(after: second))
            bench.at(second)
            lines += bench.clock()
            lines += bench.finished(1)
            lines += bench.crash()
            lines += bench.finished(3)
            bench.at(.seconds(9))
            return lines + bench.clock()
        }
        #expect(try story(0) == story(.max))
    }

    @Test("recovery loads no payload, unless a decision needs it")
    func recovered() throws {
        var plain = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try plain.submit(.deliver())
        #expect(plain.crash() == ["start 1.0 crm"])
        #expect(plain.loads == 1)
        var keyed = Bench(.testing(routes: [.key("k", to: "crm")], handlers: [.exec("crm", idempotent: true)]))
        try keyed.submit(.deliver())
        #expect(keyed.crash() == ["start 1.0 crm"])
        #expect(keyed.loads == 0)
    }

    @Test("the payload of a delivery that a tap loads counts as well")
    func past() throws {
        var bench = Bench(.testing(places: 1, payloadMemory: 10_000))
        let text = String(repeating: "x", count: 9_000)
        try bench.submit(.deliver(#"{"aps":{"alert":"A","content-available":1},"text":"\#(text)"}"#, platform: .ios))
        let (accepted, request) = try #require(bench.ledger.requests[SequenceNumber(1)])
        guard case .deliver(let deliver) = request.action else { return }
        let past = PastDelivery(accepted: accepted, provider: nil, request: deliver)
        let before = bench.router.payloadBytes
        try bench.submit(.open(seq: 1), past: past)
        #expect(bench.router.payloadBytes == before, "there is no room for another copy")
        bench.finished(1)
        #expect(bench.loads == 1)
        #expect(bench.runs[.init(2)]?.subject.payload?["text"]?.string == text)
    }

    @Test("recovery keeps no more payloads than there is room for")
    func recoveredInParts() throws {
        let table = RoutingTable.testing(
            routes: [.key("k", to: "crm")], handlers: [.exec("crm", idempotent: true)], payloadMemory: 2 * size)
        var bench = Bench(table)
        for _ in 1...6 { try bench.submit(.deliver()) }
        var router = Router(boot: bench.boot, table: table, tracker: bench.router.memory.tracker)
        var effects = Effects()
        router.recover(bench.ledger.unfinished, at: bench.now, effects: &effects)
        let kept = (1...6).filter { router.invocations[.init(Int64($0))]?.subject != nil }
        #expect(kept == [1, 2])
    }

    @Test("a delivery whose payload cannot be read again fails, and the next one gets its turn")
    func unreadable() throws {
        var bench = Bench(.testing(payloadMemory: 0))
        for _ in 1...2 { try bench.submit(.deliver(to: "phone")) }
        bench.handle(.failedToStart(.init(1), reason: "its payload cannot be read again"))
        #expect(bench.outcome(1) == .failed)
        #expect(bench.runs[.init(2)] != nil)
    }

    @Test("the memory of unfinished invocations without payloads is bounded, for each peer and in all, by callback")
    func invocations() throws {
        let watch = Route(name: "10-watch", match: RouteMatch(), handler: "watch", observes: true)
        var bench = Bench(
            .testing(
                routes: [watch, .all(to: "crm")], handlers: [.exec("crm"), .exec("watch")], observers: 8,
                invocationMemory: 5500, invocationMemoryPerPeer: 3600))
        for _ in 1...2 { try bench.submit(.deliver(), uid: 7) }
        #expect(bench.router.invocationBytes == 4 * 904)
        #expect(
            throws: Refusal.overloaded(
                message: "the requests of uid 7 in flight take 3616 bytes of memory, the limit",
                retryAfter: second)
        ) { try bench.submit(.deliver(), uid: 7) }
        // The texts of a request count as well: its app and its device.
        try bench.submit(.deliver(to: String(repeating: "p", count: 100)), uid: 8)
        #expect(bench.router.invocationBytes == 4 * 904 + 2 * 1004)
        #expect(
            throws: Refusal.overloaded(
                message: "the requests in flight take 5624 bytes of memory, the limit", retryAfter: second)
        ) { try bench.submit(.deliver(), uid: 9) }
        for seq in 1...3 as ClosedRange<Int64> {
            for n in 0...1 { bench.finished(seq, n) }
            #expect(bench.router.invocationBytes == (seq == 1 ? 3816 : seq == 2 ? 2008 : 0))
        }
    }

    @Test("the bytes of unfinished requests are bounded, for each peer and in all")
    func bytes() throws {
        var bench = Bench(.testing(bytes: 27, bytesPerPeer: 18))
        try bench.submit(.deliver(), uid: 7)
        try bench.submit(.deliver(), uid: 7)
        #expect(
            throws: Refusal.overloaded(
                message: "the requests of uid 7 in flight would have 27 bytes, more than the limit", retryAfter: second
            )
        ) { try bench.submit(.deliver(), uid: 7) }
        try bench.submit(.deliver(), uid: 8)
        #expect(
            throws: Refusal.overloaded(
                message: "the requests in flight would have 36 bytes, more than the limit", retryAfter: second)
        ) { try bench.submit(.deliver(), uid: 9) }
        bench.finished(1)
        try bench.submit(.deliver(), uid: 7)
        // Recovery after a crash ends the started invocations, and their bytes count no longer.
        bench.crash()
        #expect(bench.router.usage.bytes == 0)
    }

    @Test("recovered requests count with their bytes")
    func recoveredBytes() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)], bytes: 20))
        try bench.submit(.deliver())
        bench.crash()
        #expect(bench.router.usage.bytes == 9)
        bench.finished(1)
        #expect(bench.router.usage.bytes == 0)
    }
}
