import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Gaps of the daemon in the ledger", .timeLimit(.minutes(30)))
final class GapTests {
    private let directory = TemporaryDirectory()

    private func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

    private func gap(_ begin: Int64, _ end: Int64, _ kind: DaemonGap.Kind = .down) -> DaemonGap {
        DaemonGap(kind, begin: time(begin), end: time(end))
    }

    @Test("are found by a window that overlaps any part of them, also after the clock was set back")
    func window() async throws {
        let ledger = try TestLedger(directory.path)
        let (down, back) = (gap(10, 20), gap(40, 30, .clockStepped))
        try await ledger.commit([.gap(down), .gap(back)])
        let reader = try ledger.reader()
        #expect(try reader.gaps() == [down, back])
        #expect(try reader.gaps(from: time(20), to: time(30)) == [down])
        #expect(try reader.gaps(from: time(21), to: time(30)) == [])
        #expect(try reader.gaps(from: time(35), to: time(36)) == [back])
        #expect(try reader.gaps(from: time(41)) == [] && reader.gaps(to: time(10)) == [])
        #expect(down.length == .milliseconds(10) && back.length == .milliseconds(-10))
    }

    @Test("number at most 4096: the oldest are deleted")
    func bounded() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...4100).map { .gap(gap($0, $0 + 1)) })
        let gaps = try ledger.reader().gaps()
        #expect(gaps.count == 4096 && gaps.first == gap(5, 6) && gaps.last == gap(4100, 4101))
    }

    @Test("are pruned with the requests of their time")
    func pruned() async throws {
        let ledger = try TestLedger(directory.path)
        let kept = [gap(90, 100), gap(100, 10, .clockStepped)]
        try await ledger.commit([.gap(gap(10, 99))] + kept.map { .gap($0) })
        ledger.committer.prune(olderThan: time(100))
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try ledger.reader().gaps() == kept)
    }

    @Test("begin with the last sign of life, or with the last request after it")
    func lastAlive() async throws {
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.reader().lastAlive() == nil)
        try await ledger.commit(Fixture.delivery(1, acceptedAt: 900))
        #expect(try ledger.reader().lastAlive() == nil, "no daemon gave a sign")
        try await ledger.commit([.lifeSign(LifeSign(at: time(500), last: SequenceNumber(1), believed: nil))])
        #expect(try ledger.reader().lastBelieved() == nil)
        #expect(try ledger.reader().lastAlive() == time(500), "the clock was set back after the request")
        try await ledger.commit(Fixture.delivery(2, acceptedAt: 600) + Fixture.delivery(3, acceptedAt: 700))
        #expect(try ledger.reader().lastAlive() == time(700))
        try await ledger.commit([.lifeSign(LifeSign(at: time(800), last: SequenceNumber(3), believed: time(750)))])
        #expect(try ledger.reader().lastAlive() == time(800) && ledger.reader().lastBelieved() == time(750))
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM life") == 1)
    }
}
