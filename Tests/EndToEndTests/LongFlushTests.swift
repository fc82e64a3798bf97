import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("A session start that flushes more than one turn can")
struct LongFlushTests {
    private static let entries = 600
    private static let target = #""platform":"android","app":"shop","device":"phone""#
    private static let start = #"{"op":"session","kind":"start","external_id":"u1",\#(target)}"#

    /// Starts a daemon with waiting entries.
    private func start() throws -> (DaemonOnDisk, Client) {
        let bed = DaemonOnDisk(seed: 11)
        try bed.start()
        let client = try bed.installation.injectClient()
        let line = #"{"op":"log","kind":"custom_event","suite":"standard","name":"read",\#(Self.target)}"#
        for _ in 0..<Self.entries { try client.send(line: line) }
        for _ in 0..<Self.entries { #expect(try client.next().isAccepted) }
        return (bed, client)
    }

    private func check(_ bed: DaemonOnDisk) throws {
        try waitUntil("nothing is pending") {
            try DaemonStatus(of: bed.installation)["custom_data"]?["pending"]?.int64 == 0
        }
        let ledger = try bed.installation.ledger()
        var flushedBy: Set<Int64?> = []
        var count = 0
        try ledger.entries(EntryFilter(states: [.flushed])) { record in
            flushedBy.insert(record.settledBy?.value)
            count += 1
        }
        #expect(count == Self.entries && flushedBy == [Int64(Self.entries + 1)])
        var events: [AnalyticsEvent] = []
        try ledger.events { if $0.kind == .customEvent { events.append($0) } }
        #expect(events.count == Self.entries && Set(events.map(\.id)).count == Self.entries)
        #expect(events.allSatisfy { $0.externalUserID == "u1" && $0.seq.value == Int64(Self.entries + 1) })
        #expect(try bed.stop() == .exited(0))
    }

    @Test("a flush that is longer than a turn continues in the next turns")
    func whole() throws {
        let (bed, client) = try start()
        #expect(try client.ask(Self.start).isAccepted)
        try check(bed)
    }

    @Test("continues after a power cut as soon as the session was on the disk")
    func powerCut() throws {
        for _ in 0..<10 {
            let (bed, client) = try start()
            let cut = bed.disk.kill(.syncs(of: "through "), at: 1, isDone: true)
            try client.send(line: Self.start)
            _ = try bed.waitForEnd()
            #expect(cut.picked == 1)
            cut.end()
            try bed.cutPower()
            try bed.start()
            // A sign of life may have been synced before the session: then the cut came too early and proves nothing.
            guard try bed.installation.ledger().highestSequenceNumber().value > Int64(Self.entries) else { continue }
            return try check(bed)
        }
        Issue.record("the session was never the first that was synced")
    }

    @Test("as a person's order is answered when it is complete", arguments: ["flush", "reset"])
    func order(operation: String) throws {
        let (bed, _) = try start()
        let control = try Client(path: bed.installation.controlSocket)
        let order =
            operation == "flush"
            ? #"{"op":"flush","app":"shop","device":"phone"}"# : #"{"op":"reset","suite":"standard"}"#
        let reply = try control.ask(order)
        #expect(reply[operation == "flush" ? "flushed" : "discarded"]?.int64 == Int64(Self.entries), "\(reply)")
        let state: EntryState = operation == "flush" ? .flushed : .discarded
        var count = 0
        try bed.installation.ledger().entries(EntryFilter(states: [state])) { _ in count += 1 }
        #expect(count == Self.entries)
        #expect(try bed.stop() == .exited(0))
    }
}
