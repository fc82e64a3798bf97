import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import Store

@Suite("Subscriptions in memory and in the ledger", .timeLimit(.minutes(30)))
final class SubscriptionLedgerTests {
    private let directory = TemporaryDirectory()
    private let writer: LedgerWriter
    private var router: Router
    private var seconds: Int64 = 0
    private var random: SeededGenerator

    init() throws {
        writer = try LedgerWriter(directory: directory.path)
        random = SeededGenerator(seed: 1)
        router = try Self.router(writer)
    }

    private static func router(_ writer: LedgerWriter) throws -> Router {
        var table = RoutingTable(routes: [], handlers: [:])
        table.limits.deviceMemory = 40_000
        let reader = try writer.reader()
        return Router(
            boot: UUID128(high: 3, low: 4), table: table,
            tracker: Tracker(stateID: writer.stateID, rules: table.tracking), devices: try reader.knownDevices(),
            lastNumber: try reader.highestSequenceNumber())
    }

    /// Lets the router act, and the ledger apply its rows.
    private func act(readers: Int, _ body: (inout Router, Moment, inout Effects) throws -> Void) throws {
        seconds += 1
        let now = Moment(
            monotonic: Instant(nanoseconds: seconds * 1_000_000_000),
            wall: WallTime(milliseconds: 1_700_000_000_000 + seconds * 1000))
        let rows = RowBuffer()
        rows.readers = readers
        var effects = Effects(rows: rows)
        try body(&router, now, &effects)
        #expect(rows.version <= readers)
        guard !rows.isEmpty else { return }
        try writer.apply([rows], through: writer.position)
    }

    private func check(_ step: Int) throws {
        let known = router.memory.devices.known
        let held = known.all.map(known.whole).sorted { $0.number < $1.number }
        let stored = try writer.reader().knownDevices()
        #expect(held.map(\.number) == stored.map(\.number), "step \(step)")
        for (one, other) in zip(held, stored) {
            #expect(one.key == other.key && one.token == other.token && one.externalID == other.externalID)
            #expect(one.platform == other.platform && one.detail.state == other.detail.state)
            #expect(Set(one.detail.topics) == Set(other.detail.topics), "step \(step)")
        }
        let orphans = try writer.database.integer(
            "SELECT count(*) FROM subscriptions WHERE number NOT IN (SELECT number FROM devices)")
        #expect(orphans == 0)
    }

    @Test(
        "are the same after any requests, evictions, erasures and restarts, in rows of this version and of the former",
        arguments: [UInt64(1), 2, 3])
    func property(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        for step in 1...400 {
            let readers = Bool.random(using: &random) ? RowKind.newestVersion : 2
            let peer = Peer(uid: UInt32.random(in: 1...3, using: &random), gid: 1, pid: 1)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10:
                let tokens = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                    "\"t\(Int.random(in: 0..<80, using: &random))\""
                }
                let kind = Int.random(in: 0..<3, using: &random) == 0 ? "unsubscribe" : "subscribe"
                let line =
                    #"{"op":"topic","kind":"\#(kind)","project":"p\#(step % 2)","#
                    + #""topic":"t\#(Int.random(in: 0..<8, using: &random))%\\\"","unknown":"register","#
                    + #""tokens":[\#(tokens.joined(separator: ","))]}"#
                try submit(line, peer, readers)
            case 10..<13:
                let number = Int.random(in: 0..<80, using: &random)
                try submit(
                    #"{"op":"token","kind":"registered","app":"shop","platform":"android","device":"d\#(number)","#
                        + #""external_id":"u\#(number % 5)","token":"t\#(number)"}"#, peer, readers)
            case 13..<15:
                let number = Int.random(in: 0..<80, using: &random)
                try submit(#"{"op":"device","app":"p0","device":"t\#(number)","locked":true}"#, peer, readers)
            case 15..<17:
                let number = Int.random(in: 0..<80, using: &random)
                try submit(
                    #"{"op":"session","kind":"start","app":"p1","device":"t\#(number)","external_id":"u\#(number % 5)"}"#,
                    peer, readers)
            case 17..<18: try erase("u\(Int.random(in: 0..<5, using: &random))")
            default: router = try Self.router(writer)
            }
            try check(step)
        }
    }

    private func submit(_ line: String, _ peer: Peer, _ readers: Int) throws {
        let request = try Request(line: Array(line.utf8))
        try act(readers: readers) { router, now, effects in
            _ = try router.submit(request, from: peer, at: now, effects: &effects)
        }
    }

    private func erase(_ user: String) throws {
        let (person, bound) = router.bound(of: Person(externalID: user))
        try router.forget(person, through: bound)
        _ = try writer.erase(ErasureOrder(person: person, bound: bound, takesUndecided: true))
    }
}
