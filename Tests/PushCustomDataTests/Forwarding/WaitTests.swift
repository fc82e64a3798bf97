import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_forward

@Suite("Waits and stops")
struct WaitTests {
    private static let epoch = WallTime(milliseconds: 1_795_251_600_000)

    /// A bench with request 1 in flight, with event 1; event 2, of another user, waits.
    private func underway() -> Bench {
        var settings = ForwardingSettings()
        settings.batchSize = 1
        settings.connections = 1
        var bench = Bench(settings)
        _ = bench.start(events(1...2))
        return bench
    }

    @Test("429: waits until X-RateLimit-Reset; no entry counts as failed")
    func rateLimited() throws {
        var bench = underway()
        let effects = bench.answer(1, 429, reset: "1795251630")
        #expect(effects.settled == ["1 queued: the endpoint answered 429: too many requests", "2 queued: \(reason)"])
        let state = try #require(effects.reported.first)
        #expect(state.phase == .waiting)
        #expect(state.failures == 0)
        #expect(state.until == WallTime(milliseconds: 1_795_251_630_000))
        #expect(effects.claims.isEmpty)
        let (span, later) = try bench.passUntilDue()
        #expect(span == .seconds(30))
        #expect(later.reported.map(\.phase) == [.sending])
    }

    private let reason = "the endpoint answered 429: too many requests"

    @Test("a refused reload is reported while sending goes on, also by the next run, until a reload is taken")
    func refusedReload() {
        var bench = Bench()
        _ = bench.start([])
        let reason = "the last reload was refused, the previous settings and key stay in force: no key"
        let reported = bench.handle(.refused("no key")).reported
        #expect(reported.map(\.phase) == [.sending] && reported.map(\.reason) == [reason])
        #expect(bench.handle(.refused("no key")).reported == [])
        #expect(bench.handle(.reconfigured(ForwardingSettings())).reported.map(\.reason) == [nil])
        var next = Bench()
        #expect(next.start([], past: reported.first).reported.map(\.reason) == [nil], "a start read it anew")
    }

    @Test(
        "429 with a reset that is missing, no number, or in the past counts as a failure",
        arguments: [
            nil, "soon", "1795251599", "-9223372036854775808",
        ])
    func uselessReset(reset: String?) {
        var bench = underway()
        let state = bench.answer(1, 429, reset: reset).reported.first
        #expect(state?.phase == .waiting)
        #expect(state?.failures == 1)
    }

    @Test(
        "a wait is at most an hour, whatever the endpoint asks for", arguments: ["99999999999", "9223372036854775807"])
    func farReset(reset: String) {
        var bench = underway()
        #expect(bench.answer(1, 429, reset: reset).reported.first?.until == WallTime(milliseconds: 1_795_255_200_000))
    }

    @Test("the longest wait doubles with each failure up to a day, and the wait is a random part of it")
    func backoff() throws {
        var bench = underway()
        var waits: [Duration] = []
        for failures in 1...30 {
            let state = try #require(bench.answer(failures, 503).reported.first)
            #expect(state.failures == failures)
            let ceiling = min(Duration.seconds(1 << (failures - 1)), .seconds(86_400))
            let wait = try #require(bench.forwarder.nextDue) - bench.now.monotonic
            #expect(wait <= ceiling)
            waits.append(wait)
            _ = try bench.passUntilDue()
            _ = bench.startAgain(events(1...2))
        }
        #expect(try #require(waits.max()) > .seconds(40_000))
        #expect(Set(waits).count > 20)
    }

    @Test("after failures one request probes, and a success ends them")
    func halfOpen() throws {
        var settings = ForwardingSettings()
        settings.batchSize = 1
        settings.connections = 2
        var bench = Bench(settings)
        _ = bench.start(events(1...2))
        _ = bench.answer(1, 503)
        // The request left before the wait began, so its answer counts as no second failure.
        #expect(bench.answer(2, 503).reported.isEmpty)
        #expect(bench.forwarder.state.failures == 1)
        _ = try bench.passUntilDue()
        #expect(bench.startAgain(events(1...2)).sent.map(\.request) == [3])
        let effects = bench.answer(3, 201, Bench.success)
        #expect(effects.reported.map(\.failures) == [0])
        #expect(effects.sent.map(\.request) == [4])
    }

    @Test("entries of a claim during a wait are released at once")
    func lateClaim() {
        var bench = underway()
        _ = bench.answer(1, 401)
        let effects = bench.handle(.claimed(events(3...3), nil))
        #expect(effects.settled.count == 1)
        #expect(effects.settled[0].hasPrefix("3 queued: the endpoint answered 401"))
        #expect(effects.claims.isEmpty)
    }

    @Test("a stop ends with a reload")
    func reload() {
        var bench = underway()
        #expect(bench.answer(1, 401).reported.map(\.phase) == [.stopped])
        #expect(bench.pass(.seconds(1_000_000)) == [])
        let effects = bench.handle(.reconfigured(ForwardingSettings()))
        #expect(effects.reported.map(\.phase) == [.sending])
        // The claim from before the stop ends first.
        #expect(effects.claims.isEmpty)
        #expect(bench.handle(.claimed([], nil)).claims.map(\.limit) == [450])
    }

    @Test(
        "a wait that the endpoint asked for outlasts a reload, unless the reload changes the endpoint",
        arguments: [false, true])
    func reloadWithinAskedWait(isElsewhere: Bool) throws {
        var bench = underway()
        _ = bench.answer(1, 429, reset: "1795251630")
        var settings = bench.forwarder.settings
        if isElsewhere { settings.endpoint = "https://elsewhere/users/track" }
        let effects = bench.handle(.reconfigured(settings))
        #expect(effects.reported.map(\.phase) == (isElsewhere ? [.sending] : []))
        guard !isElsewhere else { return }
        #expect(bench.forwarder.state.phase == .waiting)
        let (span, later) = try bench.passUntilDue()
        #expect(span == .seconds(30))
        #expect(later.reported.map(\.phase) == [.sending])
    }

    @Test("a reload ends a wait after failures, even one of an earlier run", arguments: [0, 3])
    func reloadWithinWait(failures: Int) {
        var bench = underway()
        _ = bench.answer(1, 503)
        #expect(bench.handle(.reconfigured(ForwardingSettings())).reported.map(\.failures) == [0])

        var later = Bench()
        let past = SendingState(
            phase: .waiting, reason: "wait", failures: failures, until: WallTime(milliseconds: 1_795_251_610_000),
            since: Self.epoch)
        _ = later.start([], past: past)
        _ = later.handle(.reconfigured(ForwardingSettings()))
        // Without a failure the endpoint had asked for the wait.
        #expect(later.forwarder.state.phase == (failures == 0 ? .waiting : .sending))
    }

    @Test("a wait survives a restart of the forwarder, with its failures")
    func waitOutlives() throws {
        var bench = Bench()
        let past = SendingState(
            phase: .waiting, reason: "503", failures: 4, until: WallTime(milliseconds: 1_795_251_610_000),
            since: WallTime(milliseconds: 1_795_251_500_000))
        let effects = bench.start(events(1...75), past: past)
        #expect(effects.sent.isEmpty)
        #expect(effects.settled.count == 75)
        let (span, later) = try bench.passUntilDue()
        #expect(span == .seconds(10))
        #expect(later.claims.count == 1)
        _ = bench.handle(.claimed(events(1...75), nil))
        #expect(bench.answer(1, 503).reported.first?.failures == 5)
    }

    @Test("a stop does not survive a restart: that is how people end it")
    func stopDoesNotOutlive() {
        var bench = Bench()
        let past = SendingState(phase: .stopped, reason: "401", since: Self.epoch)
        let effects = bench.start(events(1...75), past: past)
        #expect(effects.sent.count == 1)
        #expect(effects.reported.map(\.phase) == [.sending])
    }
}
