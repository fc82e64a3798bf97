import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_forward

@Suite("The daemon's connection")
struct ConnectionTests {
    private static let settings: ForwardingSettings = {
        var settings = ForwardingSettings()
        settings.batchSize = 1
        settings.connections = 1
        return settings
    }()

    @Test("repeats a settlement whose reply was lost, before any claim")
    func repeats() {
        var bench = Bench(Self.settings)
        _ = bench.start(events(1...2))
        #expect(bench.answer(1, 201, Bench.success).settled == ["1 sent"])
        #expect(bench.handle(.disconnected) == [])
        // The forwarder keeps an answer that comes without a connection and settles it after the next `connected`.
        #expect(bench.answer(2, 201, Bench.success).settled == [])
        let effects = bench.handle(.connected)
        #expect(effects.settled == ["1 sent", "2 sent"])
        guard case .settle? = effects.first, case .claim(_, holding: [])? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        _ = bench.handle(.settled)
        _ = bench.handle(.disconnected)
        #expect(bench.handle(.connected).settled == [])
    }

    @Test("lists the held entries in its first claim")
    func holding() {
        var bench = Bench(Self.settings)
        _ = bench.start(events(1...2))
        _ = bench.handle(.disconnected)
        // One entry is in a request. The other waited, and is the daemon's again.
        #expect(bench.handle(.connected).claims.map(\.holding) == [[EntryNumber(1)]])
        #expect(bench.handle(.claimed(events(3...3), nil)).claims.map(\.holding) == [nil])
        #expect(bench.answer(1, 201, Bench.success).sent.map(\.body).joined().contains(#""n3""#))
    }

    @Test("lets no entry leave before the daemon has confirmed its departure")
    func departure() {
        var bench = Bench(Self.settings)
        bench.confirmsDepartures = false
        let effects = bench.start(events(1...2))
        #expect(effects.departures == [[1]])
        #expect(effects.sent.isEmpty)
        #expect(bench.forwarder.requestsUnderway == 0)
        // The connection has room for one request: the next is announced after the first answer.
        #expect(bench.handle(.departed([EntryNumber(1)])).sent.map(\.request) == [1])
        #expect(bench.answer(1, 201, Bench.success).departures == [[2]])
    }

    @Test("an entry whose time to leave has passed waits for a new confirmation, and is no failure of the endpoint")
    func expiry() throws {
        var bench = Bench(Self.settings)
        bench.confirmsDepartures = false
        #expect(bench.start(events(1...1)).departures == [[1]])
        let end = Instant(nanoseconds: 3_000_000_000)
        let effects = bench.handle(.departed([EntryNumber(1)], until: end))
        guard case .send(1, _, until: end)? = effects.first else {
            Issue.record("the end is not told: \(effects)")
            return
        }
        // The machine was suspended before the first byte left.
        let expired = bench.handle(.answered(request: 1, .expired))
        #expect(expired.departures == [[1]] && expired.sent.isEmpty && expired.settled.isEmpty)
        #expect(bench.forwarder.state.failures == 0)
    }

    @Test("keeps an entry that a person discarded meanwhile from leaving")
    func discardedMeanwhile() {
        var settings = Self.settings
        settings.batchSize = 2
        var bench = Bench(settings)
        bench.confirmsDepartures = false
        #expect(bench.start(events(1...2)).departures == [[1, 2]])
        let sent = bench.handle(.departed([EntryNumber(2)])).sent
        #expect(sent.count == 1)
        #expect(sent.first?.body.contains(#""n1""#) == false)
        #expect(bench.answer(1, 201, Bench.success).settled == ["2 sent"])
    }

    @Test("releases announced entries when it breaks")
    func brokenDeparture() {
        var bench = Bench(Self.settings)
        bench.confirmsDepartures = false
        _ = bench.start(events(1...1))
        #expect(bench.handle(.disconnected).sent.isEmpty)
        #expect(bench.pass(.seconds(60)) == [])
        let effects = bench.handle(.connected)
        #expect(effects.settled == ["1 queued"])
        #expect(effects.claims.map(\.holding) == [[]])
    }

    @Test("releases entries that the daemon confirms after sending was stopped")
    func lateDeparture() {
        var settings = Self.settings
        settings.connections = 2
        var bench = Bench(settings)
        bench.confirmsDepartures = false
        #expect(bench.start(events(1...2)).departures == [[1], [2]])
        #expect(bench.handle(.departed([EntryNumber(1)])).sent.count == 1)
        #expect(bench.answer(1, 401).settled.count == 1)
        let effects = bench.handle(.departed([EntryNumber(2)]))
        #expect(effects.sent.isEmpty)
        #expect(effects.settled.count == 1)
    }

    @Test("settles an entry that comes back only once")
    func comesBack() {
        var bench = Bench(Self.settings)
        _ = bench.start(events(1...1))
        #expect(bench.answer(1, 503).settled.count == 1)
        _ = bench.handle(.reconfigured(Self.settings))
        #expect(bench.startAgain(events(1...1)).sent.map(\.request) == [2])
        _ = bench.handle(.disconnected)
        #expect(bench.handle(.connected).settled == [])
    }

    @Test("releases the entries of a claim from before a wait: earlier entries may be queued again")
    func staleClaim() {
        var bench = Bench(Self.settings)
        #expect(bench.start(events(1...1)).claims.count == 1)
        _ = bench.answer(1, 503)
        _ = bench.handle(.reconfigured(Self.settings))
        let effects = bench.handle(.claimed([entry(2, user: "u1")], nil))
        #expect(effects.settled == ["2 queued"])
        #expect(effects.sent.isEmpty)
        #expect(effects.claims.count == 1)
        #expect(bench.handle(.claimed([entry(1, user: "u1")], nil)).sent.count == 1)
    }

    @Test("reports the sending state when the daemon does not know it, and after each reconnect")
    func reportsAgain() {
        var bench = Bench(Self.settings)
        #expect(bench.handle(.connected).reported.isEmpty)
        _ = bench.handle(.disconnected)
        #expect(bench.handle(.connected).reported.isEmpty)
        #expect(bench.handle(.claimed([], nil)).reported.map(\.phase) == [.sending])
        _ = bench.handle(.disconnected)
        #expect(bench.handle(.connected).reported.map(\.phase) == [.sending])
    }

    @Test("releases waiting entries at a stop, which ends once all replies came")
    func draining() {
        var bench = Bench(Self.settings)
        _ = bench.start(events(1...2))
        let effects = bench.handle(.draining)
        #expect(effects.settled == ["2 queued"])
        #expect(!effects.contains(.finish))
        #expect(bench.handle(.settled) == [])
        let last = bench.answer(1, 201, Bench.success)
        #expect(last.settled == ["1 sent"])
        #expect(!last.contains(.finish))
        #expect(bench.handle(.settled) == [.finish])
        #expect(bench.handle(.clock) == [])
    }

    @Test("allows a stop at once without entries")
    func idle() {
        var bench = Bench(Self.settings)
        _ = bench.handle(.connected)
        #expect(bench.handle(.draining) == [.finish])
    }

    @Test("logs each reason for the daemon's absence once, until the daemon has answered again")
    func outage() {
        var outage = DaemonOutage()
        let isNews = outage.end()
        let areSaid = ["closed", "refuses", "closed", "refuses"].map { outage.begin($0) }
        let areEnds = [outage.end(), outage.end()]
        let isSaidAgain = outage.begin("refuses")
        #expect(!isNews)
        #expect(areSaid == [true, true, false, false])
        #expect(areEnds == [true, false])
        #expect(isSaidAgain)
    }

    @Test("settles at most a hundred entries in a request")
    func parts() {
        var settings = ForwardingSettings()
        settings.connections = 4
        var bench = Bench(settings)
        _ = bench.start(events(1...300))
        let effects = bench.answer(1, 401)
        let parts = effects.compactMap { if case .settle(let part) = $0 { part.count } else { nil } }
        #expect(parts == [75])
        var more = Bench(settings)
        let attributes = (1...75).map { entry($0, user: "a\($0)", kind: .customAttributes, data: #"{"a":1}"#) }
        _ = more.start(attributes + events(76...150))
        let all = more.answer(1, 201, Bench.success)
        #expect(all.compactMap { if case .settle(let part) = $0 { part.count } else { nil } } == [100, 50])
    }
}
