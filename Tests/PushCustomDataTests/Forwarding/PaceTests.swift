import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_forward

@Suite("Pace")
struct PaceTests {
    @Test("the first entry of a request waits Flush= for others; a full request leaves at once")
    func flush() throws {
        var bench = Bench()
        #expect(bench.start(events(1...74)).sent.isEmpty)
        let (span, effects) = try bench.passUntilDue()
        #expect(span == .seconds(1))
        #expect(effects.sent.count == 1)

        var full = Bench()
        #expect(full.start(events(1...75)).sent.count == 1)
        #expect(full.forwarder.nextDue == nil)
    }

    @Test("entries of a user wait for the answer to the user's earlier ones; others overtake them")
    func orderPerUser() throws {
        var settings = ForwardingSettings()
        settings.batchSize = 2
        var bench = Bench(settings)
        let effects = bench.start([entry(1, user: "a"), entry(2, user: "a"), entry(3, user: "a"), entry(4, user: "b")])
        #expect(try effects.sent.map { try names(in: $0.body) } == [["n1", "n2"]])
        let later = bench.pass(.seconds(1))
        #expect(try later.sent.map { try names(in: $0.body) } == [["n4"]])
        let last = bench.answer(1, 201, Bench.success)
        #expect(try last.sent.map { try names(in: $0.body) } == [["n3"]])
    }

    @Test("at most Connections= requests are in flight")
    func connections() {
        var settings = ForwardingSettings()
        settings.batchSize = 1
        settings.connections = 3
        var bench = Bench(settings)
        #expect(bench.start(events(1...8)).sent.count == 3)
        #expect(bench.answer(2, 201, Bench.success).sent.count == 1)
    }

    @Test("in any span of RateInterval= at most RateLimit= requests leave")
    func rate() throws {
        var settings = ForwardingSettings()
        settings.batchSize = 1
        settings.connections = 10
        settings.rateLimit = 2
        settings.rateInterval = .seconds(3)
        var bench = Bench(settings)
        #expect(bench.start(events(1...1)).sent.count == 1)
        _ = bench.pass(.seconds(2))
        #expect(bench.handle(.claimed(events(2...5), nil)).sent.count == 1)
        let (first, one) = try bench.passUntilDue()
        #expect(first == .seconds(1))
        #expect(one.sent.count == 1)
        let (second, another) = try bench.passUntilDue()
        #expect(second == .seconds(2))
        #expect(another.sent.count == 1)
    }

    @Test("the forwarder holds at most the entries in flight and one further request")
    func capacity() throws {
        var bench = Bench()
        let first = try #require(bench.handle(.connected).claims.first)
        #expect(first.limit == 450)
        #expect(first.holding == [])
        let second = try #require(bench.handle(.claimed(events(1...440), nil)).claims.first)
        #expect(second.limit == 10)
        #expect(second.holding == nil)
        #expect(bench.handle(.claimed(events(441...450), nil)).claims.isEmpty)
        #expect(bench.answer(1, 201, Bench.success).claims.first?.limit == 75)
    }

    @Test("10,000 queued events leave in 134 requests, over two connections")
    func fewest() throws {
        var bench = Bench()
        var queue = events(1...10_000)[...]
        var effects = bench.handle(.connected)
        var requests = 0
        var rounds = 0
        while rounds < 20_000,
            !(queue.isEmpty && bench.forwarder.requestsUnderway == 0 && bench.forwarder.nextDue == nil)
        {
            rounds += 1
            var next: [ForwarderEffect] = []
            for effect in effects {
                switch effect {
                case .claim(let limit, _) where !queue.isEmpty:
                    next += bench.handle(.claimed(Array(queue.prefix(limit)), nil))
                    queue = queue.dropFirst(limit)
                case .send(let request, _, _):
                    requests += 1
                    next += bench.answer(request, 201, Bench.success)
                case .settle: next += bench.handle(.settled)
                default: break
                }
            }
            if next.isEmpty, bench.forwarder.nextDue != nil { next = try bench.passUntilDue().1 }
            effects = next
        }
        #expect(requests == 134)
    }
}
