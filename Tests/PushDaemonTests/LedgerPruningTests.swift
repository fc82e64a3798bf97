import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import Store

@Suite("Pruning by size", .timeLimit(.minutes(30)))
final class LedgerPruningTests {
    private static let now = WallTime(milliseconds: 1_795_230_480_000)
    private let directory = TemporaryDirectory()
    private let reports = Monitor<[StoreReport]>([])

    private func next<Value: Sendable>(_ find: (StoreReport) -> Value?) throws -> Value {
        let found = reports.wait(atMost: .seconds(60)) { reports in reports.lazy.compactMap(find).first }
        reports.withLock { $0 = [] }
        return try #require(found)
    }

    private func commit(
        _ numbers: ClosedRange<Int64>, inBatch number: UInt64, isInFlight: Bool, _ committer: Committer
    ) throws {
        let rows = committer.takeBuffer()
        for seq in numbers {
            let time = WallTime(milliseconds: Self.now.milliseconds + seq * 60_000)
            let request = AcceptedRequest(
                seq: SequenceNumber(seq), operation: .deliver, id: nil, peer: Peer(uid: 1, gid: 1, pid: 1),
                acceptedAt: Moment(monotonic: Instant(nanoseconds: 1), wall: time),
                boot: UUID128(high: 0, low: 0), mode: .device, platform: .android, app: nil, device: nil,
                externalID: nil, messageID: nil, body: [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 18))
            rows.append(.request(request))
            guard isInFlight else { continue }
            rows.append(
                .invocation(
                    InvocationRecord(
                        id: InvocationID(seq: request.seq, n: 0), callback: .onMessageReceived, provider: nil,
                        route: "all", handler: "h", budget: .seconds(9), deadline: nil, started: true, result: nil)))
        }
        let batch = CommitBatch(number: number, rows: rows, lastSequence: SequenceNumber(numbers.upperBound))
        #expect(try committer.commit(batch) != nil)
        committer.expedite(through: number)
        try next { if case .applied(number) = $0 { () } else { nil } }
        // The ledger's thread publishes the size after the batch.
        while committer.status.ledgerUsed < Int(numbers.upperBound) << 18 { sched_yield() }
    }

    @Test("continues with new batches when the ledger stays too large, and reports what fills it")
    func stuck() throws {
        let reports = reports
        let committer = try Committer(directory: StateDirectory(path: directory.path)) { report in
            reports.update { $0.append(report) }
        }
        defer { committer.stop() }
        let log = open(directory.path + "/journal.txt", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let journal = try JournalWriter(destination: .logfmt(descriptor: log))
        let now = Self.now
        let clock = ClockSteps(wall: now, boot: 0, lastAlive: nil, isSynchronised: { nil })
        let pruning = LedgerPruning(committer, journal: journal, clock: clock)
        var settings = StoreSettings()
        settings.sizeMax = 4 << 20
        settings.retention = .seconds(3650 * 86_400)

        func check() throws {
            pruning.check(settings, at: now, boot: 0)
            let (bySize, remains) = try next { report -> (Int, LedgerRemains?)? in
                if case .pruned(_, _, _, let bySize, let remains) = report { (bySize, remains) } else { nil }
            }
            pruning.pruned(requests: 0, deadLetters: 0, bySize: 0)
            pruning.prunedBySize(requests: bySize, remains: remains, at: 1)
        }
        try commit(1...30, inBatch: 1, isInFlight: true, committer)
        try check()
        #expect(pruning.bySize == 0)
        pruning.check(settings, at: now, boot: 0)
        try commit(31...40, inBatch: 2, isInFlight: false, committer)
        try check()
        #expect(pruning.bySize > 0, "it takes out what came since")
        #expect(journal.stop(timeoutMilliseconds: -1))
        let told = String(decoding: readFile(directory.path + "/journal.txt") ?? [], as: UTF8.self)
        #expect(told.contains("nothing more can be deleted; it has 0 dead letters (0 bytes), 30 invocations in flight"))
    }
}
