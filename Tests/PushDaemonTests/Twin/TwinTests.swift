import Glibc
import TestSupport
import Testing

@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews

/// The simulator is the reference for the daemon: both run the same day, and write equal rows.
@Suite("The daemon and the simulator", .serialized)
struct TwinTests {
    @Test("decide alike on a flush that is too much for one turn, though the daemon is killed in it")
    func longFlush() throws {
        let twin = try Twin(events: Self.longFlush, seed: 1)
        var flushed = 0
        #expect(try twin.run { rows in flushed = rows.count { $0.contains("state='flushed'") } } == nil)
        #expect(flushed == 601, "the last one is flushed by the second session")
    }

    /// A device logs many entries, its user's session starts, and the daemon dies twice before all entries are flushed.
    private static var longFlush: [RandomDay.Event] {
        let start: Int64 = 1_700_000_000_000
        func request(_ time: Int64, _ members: String) -> RandomDay.Event {
            let line = #"{"at":\#(start + time),"app":"shop","device":"a",\#(members)}"#
            return .request(at: WallTime(milliseconds: start + time), line: line, script: "{}")
        }
        let log = #""op":"log","kind":"custom_event","suite":"standard","name":"e""#
        var events = (1...600).map { request(Int64($0), log) }
        events.append(request(700, #""op":"session","kind":"start","external_id":"u1""#))
        for time in [700, 900] as [Int64] {
            events.append(
                .crash(
                    at: WallTime(milliseconds: start + time), downtime: 200, reboots: time == 900, lost: .nothing))
        }
        events.append(request(1100, log))
        events.append(request(1100, #""op":"session","kind":"start","external_id":"u2""#))
        return events
    }

    /// The number of requests; `PUSHROUTERD_TWIN_REQUESTS=10000 PUSHROUTERD_TWIN_SEED=7` changes it.
    private static let requests = number("PUSHROUTERD_TWIN_REQUESTS") ?? 1000
    private static let seed = number("PUSHROUTERD_TWIN_SEED") ?? 1
    private static let requestsOfDay = 250

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    @Test("decide alike on random days, though the daemon is killed many times", .timeLimit(.minutes(30)))
    func days() throws {
        var missing: Set = [
            "outcome='handled'", "outcome='failed'", "outcome='timed_out'", "outcome='handed_to_tracker'",
            "outcome='shown_by_system'", "outcome='not_woken'", "outcome='swallowed'", "outcome='duplicate'",
            "outcome='sdk_not_ready'", "outcome='unrouted'", "daemon_crashed", "daemon_down", "verdict='opened'",
            "verdict='unattributed'", "verdict='dismissed'", "verdict='unmatched'", ".InfluencedOpen'", "entries: ",
            "no place at its handler", "breaker_open",
        ]
        for day in 0..<max(1, Self.requests / Self.requestsOfDay) {
            let seed = UInt64(Self.seed + day)
            let twin = try Twin(seed: seed, requests: Self.requestsOfDay)
            let difference = try twin.run { rows in
                missing = missing.filter { text in !rows.contains { $0.contains(text) } }
            }
            #expect(difference == nil, "PUSHROUTERD_TWIN_SEED=\(seed) PUSHROUTERD_TWIN_REQUESTS=\(Self.requestsOfDay)")
            guard difference == nil else { return }
        }
        // Days without these events would show little.
        if Self.requests >= 1000 { #expect(missing == [], "no day had this") }
    }
}

/// One day on both sides.
private struct Twin {
    private let events: [RandomDay.Event]
    private let settings: Settings
    private let surroundings: TwinSurroundings

    init(seed: UInt64, requests: Int) throws {
        try self.init(events: RandomDay(seed: seed, requests: requests).events, seed: seed)
    }

    /// - Parameter seed: the variant of the configuration.
    init(events: [RandomDay.Event], seed: UInt64) throws {
        self.events = events
        settings = try Settings(twin: seed)
        surroundings = try TwinSurroundings()
    }

    /// - Parameter inspect: gets all rows of the daemon.
    /// - Returns: the first rows that differ; `nil` when none does.
    func run(_ inspect: ([String]) -> Void) throws -> String? {
        let start = WallTime(milliseconds: 1_700_000_000_000)
        let clock = TwinClock(start)
        let scripts = TwinScripts()
        var boot = UUID128(high: 0, low: 0)
        var directory = TemporaryDirectory()
        func begin(in path: String) throws -> TwinDaemon {
            try TwinDaemon(
                directory: path, settings: settings, boot: boot, clock: clock, scripts: scripts,
                surroundings: surroundings)
        }
        var daemon = try begin(in: directory.path)
        var simulator = Simulator(
            table: settings.routing, tracker: Tracker(stateID: daemon.stateID, rules: settings.routing.tracking),
            keepsRecords: true)
        func advance(while mayPass: (WallTime) -> Bool) throws {
            while let due = daemon.nextDue, mayPass(due) {
                clock.time = max(due, clock.time)
                try daemon.takeDue()
            }
        }
        for event in events {
            switch event {
            case .request(let at, let line, let script):
                _ = simulator.take(Array((line.dropLast() + #","script":\#(script)}"#).utf8), number: 1)
                try advance { $0 < at }
                clock.time = at
                scripts.byRequest[daemon.nextNumber] = try Script(script: script)
                try daemon.take(Array(line.utf8))
            case .crash(let at, let downtime, let reboots, let lost):
                let crash = #"{"at":\#(at.milliseconds),"crash":{"down_ms":\#(downtime),"reboot":\#(reboots)}}"#
                _ = simulator.take(Array(crash.utf8), number: 1)
                try advance { $0 < at }
                clock.time = at
                switch lost {
                case .nothing: break
                case .request(let line): daemon.takeWithoutCommit(Array(line.utf8))
                case .due: daemon.takeDueWithoutCommit()
                }
                let copy = TemporaryDirectory()
                try LedgerDump.copyState(from: directory.path, to: copy.path)
                daemon.abandon()
                directory = copy
                clock.time = WallTime(milliseconds: at.milliseconds + downtime)
                if reboots { boot.low += 1 }
                daemon = try begin(in: directory.path)
            }
        }
        _ = simulator.finish()
        try advance { _ in true }
        daemon.abandon()
        let reference = TemporaryDirectory()
        try LedgerDump.write(simulator.records, to: reference.path)
        let rows = try LedgerDump.rows(of: directory.path)
        inspect(rows)
        return Self.difference(rows, try LedgerDump.rows(of: reference.path))
    }

    private static func difference(_ daemon: [String], _ simulator: [String]) -> String? {
        let (ours, theirs) = (Set(daemon), Set(simulator))
        let lines =
            daemon.filter { !theirs.contains($0) }.prefix(6).map { "daemon:    \($0)\n" }
            + simulator.filter { !ours.contains($0) }.prefix(6).map { "simulator: \($0)\n" }
        guard lines.isEmpty, daemon.count == simulator.count else {
            return "\(daemon.count) rows and \(simulator.count):\n" + lines.joined()
        }
        return nil
    }
}

extension Script {
    fileprivate init(script: String) throws {
        try self.init(JSONDocument(scanning: Array(script.utf8)).root)
    }
}

extension Settings {
    private struct Unusable: Error {
        var diagnostics: [String]
    }

    /// A configuration with all relevant settings, in one of its variants.
    fileprivate init(twin seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func file(_ name: String, _ text: String) -> ConfigurationFile {
            ConfigurationFile(path: name, bytes: Array(text.utf8))
        }
        func one<Value>(of values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        let main = """
            [Dispatch]
            Mode=\(one(of: ["device", "relay"]))
            HandlersMax=\(one(of: ["1", "3", "64"]))
            PayloadMemoryMax=\(one(of: ["0", "2K", "32M"]))
            DismissActionCategories=registered
            PresentationOptions=\(one(of: ["", "none", "banner"]))
            [Tracker]
            IosForeground=\(one(of: ["yes", "no"]))
            [UsersTrack]
            Endpoint=https://rest.example.com

            """
        var routes = [
            file("10-orders.route", "[Match]\nData=order_id\n[Route]\nHandler=orders\nDeadline=4s\n"),
            file("20-crm.route", "[Match]\nApp=shop\n[Route]\nHandler=crm\n"),
            file("90-rest.route", "[Match]\n[Route]\nHandler=rest\n"),
        ]
        if one(of: [true, false]) {
            routes.append(file("50-watch.route", "[Match]\n[Route]\nHandler=watch\nObserve=yes\n"))
            routes.append(
                file("51-watch.route", "[Match]\nKeyValue=order_id\n[Route]\nHandler=watch\nObserve=yes\nDeadline=1s\n")
            )
        }
        let handlers = ["orders", "crm", "rest", "watch"].map { name in
            let idempotent = one(of: ["yes", "no"])
            // The handlers of most days have no limits.
            let limits = one(of: ["", "", "MaxConcurrent=1\nQueue=\(one(of: ["0", "1", "5"]))\n"])
            let pause = one(of: ["1s", "10s"])
            let breaker = one(of: ["", "Breaker=\(one(of: ["1", "2"])) in 1min\nBreakerPause=\(pause)\n"])
            return file(
                "\(name).handler",
                "[Handler]\nType=exec\nExec=/usr/bin/\(name)\nIdempotent=\(idempotent)\n\(limits)\(breaker)")
        }
        var tracks: [ConfigurationFile] = []
        if one(of: [true, false]) {
            let occasions = one(of: ["opened action", "dismissed", "received opened action dismissed"])
            let text = """
                [Match]
                Provider=braze
                [Track]
                On=\(occasions)
                [Identifier]
                KeyValue=braze_id
                [Event]
                Name=push
                Property=campaign string campaign_id
                Property=button string action

                """
            tracks.append(file("50-push.track", text))
        }
        let loaded = Settings.load(
            ConfigurationSources(
                main: [file("pushrouterd.conf", main)], handlers: handlers, routes: routes, tracks: tracks))
        guard let settings = loaded.settings else { throw Unusable(diagnostics: loaded.diagnostics.map { "\($0)" }) }
        self = settings
    }
}
