import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("A snapshot of a shared log", .timeLimit(.minutes(30)))
struct SnapshotTests: ~Copyable {
    private let engine = MemoryEngine()
    private let directory = TemporaryDirectory()
    private let second = TemporaryDirectory()

    private func ledger(epoch: Int64 = 1) throws -> TestLedger {
        let store = SharedStore(
            identity: try engine.identity(), epoch: epoch, boot: UUID128(high: 7, low: UInt64(epoch)),
            clocks: BootClocks(), writing: engine.session(), reading: engine.session())
        return try TestLedger(directory.path, shared: store)
    }

    /// Fills a ledger with requests, all of them applied.
    private func filled(_ numbers: ClosedRange<Int64> = 1...3) async throws {
        let ledger = try ledger()
        for number in numbers { try await ledger.commit(Fixture.delivery(number)) }
        ledger.committer.stop()
    }

    /// Writes a snapshot, and stops at the pause with this number.
    private func write(
        _ session: MemoryEngine? = nil, stoppingAt stop: Int = .max, onPause: @escaping (Int) -> Void = { _ in }
    ) throws -> Snapshot? {
        var pauses = 0
        return try SnapshotWriter(
            session ?? engine, directory: directory.path, node: "a", rate: 1 << 40,
            pause: { time in
                guard time > .zero else { return false }
                pauses += 1
                onPause(pauses)
                return pauses == stop
            }
        ).write()
    }

    private func fetch(_ session: MemoryEngine? = nil, isStopped: @escaping () -> Bool = { false }) throws -> Bool {
        var fetch = SnapshotFetch(
            from: session ?? engine, into: second.path, of: try engine.identity(), isStopped: isStopped)
        return try fetch.run()
    }

    private func copy() throws -> LedgerCopy { try LedgerCopy(directory: second.path, of: engine.identity()) }

    /// Trims the chain as far as two snapshots allow.
    private func trim() throws {
        engine.clock = Instant(nanoseconds: 601_000_000_000)
        _ = try engine.trim(atMost: 1000)
    }

    @Test("is copied into its file no faster than the rate, and the copying ends when it is stopped")
    func rate() async throws {
        let ledger = try ledger()
        for number in 1...100 { try await ledger.commit(Fixture.delivery(Int64(number), bytes: 64 << 10)) }
        ledger.committer.stop()
        let path = directory.path + "/copy.db"
        let begin = SystemClock.monotonicNanoseconds
        try SnapshotFile.make(ofLedgerIn: directory.path, at: path, rate: 16 << 20) { false }
        let (taken, length) = (SystemClock.monotonicNanoseconds - begin, readFile(path)?.count ?? 0)
        // The pace does not slow the pages that SQLite writes out of its cache at the end.
        #expect(length > 6_400_000 && taken >= 200_000_000, "\(length) bytes in \(taken) ns")
        var questions = 0
        #expect(throws: StoreError.self) {
            try SnapshotFile.make(ofLedgerIn: directory.path, at: path, rate: 1) {
                questions += 1
                return questions > 3
            }
        }
        #expect(!names(in: directory.path).contains("copy.db"))
    }

    @Test("whose copy gives way leaves no file, and the ledger can empty its WAL; the pace hears of the WAL's length")
    func givesWay() async throws {
        let ledger = try ledger()
        for number in 1...20 { try await ledger.commit(Fixture.delivery(Int64(number), bytes: 64 << 10)) }
        ledger.committer.stop()
        let database = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        try database.execute("UPDATE meta SET highest_seq = highest_seq + 1")
        let path = directory.path + "/copy.db"
        var lengths: [Int] = []
        let error = #expect(throws: StoreError.self) {
            try SnapshotFile.make(
                ofLedgerIn: directory.path, at: path, rate: 1,
                pace: { length in
                    lengths.append(length)
                    return lengths.count < 4 ? .unpaced : .givesWay
                }, isStopped: { false })
        }
        #expect(error?.kind == .gaveWay && lengths.count == 4, "\(String(describing: error))")
        #expect(lengths.first.map { $0 > 0 } == true, "\(lengths)")
        #expect(!names(in: directory.path).contains("copy.db"))
        #expect(try database.checkpoint(emptying: true))
    }

    @Test("has the ledger at a batch of the chain, and an empty node starts from it and the batches behind it")
    func starts() async throws {
        try await filled()
        let snapshot = try #require(try write())
        #expect(snapshot.reference == engine.chain[4].reference && snapshot.parts == engine.partCount)
        #expect(names(in: directory.path).allSatisfy { !$0.hasPrefix("snapshot") })
        let again = try #require(try write())
        #expect(again.reference == snapshot.reference)
        let next = try ledger(epoch: 2)
        for number in 4...5 { try await next.commit(Fixture.delivery(Int64(number))) }
        next.committer.stop()
        try trim()
        #expect(engine.chain.first?.reference == snapshot.reference)

        #expect(try fetch())
        let copy = try copy()
        #expect(copy.number == 4)
        var clocks = BootClocks()
        #expect(try copy.catchUp(from: engine, clocks: &clocks) == 3)
        let third = try TestLedger(
            second.path,
            shared: SharedStore(
                identity: try engine.identity(), epoch: 3, boot: UUID128(high: 7, low: 3), clocks: clocks,
                writing: engine.session(), reading: engine.session()))
        #expect(try third.storedNumbers() == [1, 2, 3, 4, 5])
        third.committer.stop()
    }

    @Test("counts only after it was read back, and a damaged one never counts")
    func readBack() async throws {
        try await filled()
        let engine = engine
        let error = #expect(throws: StoreError.self) {
            try write(onPause: { if $0 == 1 { engine.damageParts(0) } })
        }
        #expect(error?.kind == .corrupt)
        #expect(try engine.snapshots().snapshots.isEmpty)
    }

    @Test(
        "that is stopped, or taken over by another node, does not count, and leaves no file", arguments: [true, false])
    func stopped(isTaken: Bool) async throws {
        try await filled()
        let engine = engine
        let written = try write(
            stoppingAt: isTaken ? .max : 1,
            onPause: { _ in
                guard isTaken else { return }
                _ = try? engine.beginSnapshot(
                    UUID128(high: 0, low: 1), by: "b", replacing: engine.snapshots().claim)
            })
        #expect(written == nil)
        #expect(try engine.snapshots().snapshots.isEmpty)
        #expect(names(in: directory.path).allSatisfy { !$0.hasPrefix("snapshot") })
    }

    @Test("is refused for a ledger that does not belong to the chain")
    func forked() async throws {
        try await filled()
        engine.promote(with: 3)
        let error = #expect(throws: StoreError.self) { try write() }
        #expect(error?.kind == .forked)
    }

    @Test("is fetched again after the node was killed, or lost the database, at any step")
    func killed() async throws {
        try await filled()
        for _ in 1...2 { #expect(try write() != nil) }
        try trim()
        let identity = try engine.identity()
        for calls in 0... {
            let session = engine.session()
            session.goAway(after: calls)
            do throws(StoreError) {
                var fetch = SnapshotFetch(from: session, into: second.path, of: identity, isStopped: { false })
                _ = try fetch.run()
                break
            } catch {
                #expect(error.kind == .engineAway)
            }
            #expect(access(second.path + "/ledger.db", F_OK) != 0)
            // The files that a killed process left.
            writeFile("half a ledger", to: second.path + "/ledger.db.fetched")
            writeFile("another ledger's", to: second.path + "/ledger.db-wal")
        }
        #expect(try copy().number == 4)
        #expect(names(in: second.path).allSatisfy { !$0.hasSuffix(".fetched") })
    }

    @Test("is fetched on, part by part, when the database is there again after it went away at any step")
    func fetchedOn() async throws {
        let ledger = try ledger()
        for number in 1...40 { try await ledger.commit(Fixture.delivery(Int64(number), bytes: 64 << 10)) }
        ledger.committer.stop()
        let snapshot = try #require(try write())
        #expect(snapshot.parts > 1)
        let identity = try engine.identity()
        for calls in 0... {
            unlink(second.path + "/ledger.db")
            let session = engine.session()
            session.goAway(after: calls)
            var begins = 0
            var fetch = SnapshotFetch(
                from: session, into: second.path, of: identity, isStopped: { false }, onBegin: { _ in begins += 1 })
            do throws(StoreError) {
                _ = try fetch.run()
                break
            } catch {
                #expect(error.kind == .engineAway)
            }
            session.isAway = false
            session.goAway(after: .max)
            let isFetched = try fetch.run()
            #expect(isFetched && begins == 1, "\(begins) after \(calls) calls")
        }
        #expect(names(in: second.path).allSatisfy { !$0.hasSuffix(".fetched") })
    }

    @Test("of a newer program is skipped: the node takes an older one, or none")
    func newerSchema() async throws {
        try await filled()
        for _ in 1...2 { #expect(try write() != nil) }
        try trim()
        engine.setSchema(99, ofNewest: 0)
        #expect(try fetch())
        #expect(try copy().number == 4)
        engine.setSchema(99, ofNewest: 1)
        unlink(second.path + "/ledger.db")
        let error = #expect(throws: StoreError.self) { try fetch() }
        #expect(error?.kind == .newerSchema)
    }

    @Test("that is damaged is skipped, and a node without a whole one does not start")
    func damaged() async throws {
        try await filled()
        for _ in 1...2 { #expect(try write() != nil) }
        try trim()
        engine.damageParts(0)
        let error = #expect(throws: StoreError.self) { try fetch() }
        #expect(error?.kind == .corrupt)
        #expect(names(in: second.path).isEmpty)
    }

    @Test("is not needed while the chain has its first batch")
    func whole() async throws {
        try await filled()
        #expect(try fetch())
        #expect(names(in: second.path).isEmpty)
    }

    @Test(
        "replaces a copy that is too old, which is set aside; a copy one batch behind the chain's beginning continues")
    func tooOld() async throws {
        let ledger = try ledger()
        for number in 1...3 { try await ledger.commit(Fixture.delivery(Int64(number))) }
        var clocks = BootClocks()
        let old = TemporaryDirectory()
        let near = TemporaryDirectory()
        func follow(_ path: String) throws -> LedgerCopy {
            try LedgerCopy(directory: path, of: engine.identity())
        }
        #expect(try follow(old.path).catchUp(from: engine, clocks: &clocks) == 4)
        try await ledger.commit(Fixture.delivery(4))
        #expect(try follow(near.path).catchUp(from: engine, clocks: &clocks) == 5)
        try await ledger.commit(Fixture.delivery(5))
        ledger.committer.stop()
        for _ in 1...2 { #expect(try write() != nil) }
        try trim()
        #expect(engine.chain.first?.reference.number == 6)
        #expect(try follow(near.path).catchUp(from: engine, clocks: &clocks) == 1)
        let error = #expect(throws: StoreError.self) { try follow(old.path).catchUp(from: engine, clocks: &clocks) }
        #expect(error?.kind == .forked)
        let place = try SetAside.moveCopy(in: old.path, at: WallTime(milliseconds: 5))
        #expect(names(in: place).contains("ledger.db"))
        var fetch = SnapshotFetch(from: engine, into: old.path, of: try engine.identity(), isStopped: { false })
        #expect(try fetch.run())
        #expect(try follow(old.path).number == 6)
    }
}
