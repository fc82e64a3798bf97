import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("A log that several machines share", .timeLimit(.minutes(30)))
struct SharedLogTests: ~Copyable {
    private let engine = MemoryEngine()
    private let directory = TemporaryDirectory()

    private func store(epoch: Int64, _ writing: MemoryEngine? = nil) -> SharedStore {
        SharedStore(
            identity: ShardIdentity(fleet: UUID128(high: 1, low: 1), state: UUID128(high: 2, low: 2)), epoch: epoch,
            boot: UUID128(high: 7, low: UInt64(epoch)), clocks: BootClocks(), writing: writing ?? engine.session(),
            reading: engine.session())
    }

    @Test("is followed by copies, and one of them appends behind its last batch with the same ids")
    func takesOver() async throws {
        let second = TemporaryDirectory()
        let first = try TestLedger(directory.path, shared: store(epoch: 1))
        for number in 1...3 { try await first.commit(Fixture.delivery(Int64(number))) }
        let copy = try LedgerCopy(directory: second.path, of: engine.identity())
        var clocks = BootClocks()
        #expect(try copy.catchUp(from: engine, clocks: &clocks) == 4)
        #expect(try copy.catchUp(from: engine, clocks: &clocks) == 0)
        first.committer.stop()

        let next = try TestLedger(second.path, shared: store(epoch: 2))
        try await next.commit(Fixture.delivery(4))
        #expect(try next.storedNumbers() == [1, 2, 3, 4])
        #expect(try next.reader().stateIdentity == UUID128(high: 2, low: 2))
        #expect(engine.chain.map(\.epoch) == [0, 1, 1, 1, 1, 2, 2])
    }

    @Test("begins a term with a batch without rows: the former leader can append nothing behind it")
    func fences() async throws {
        let second = TemporaryDirectory()
        let first = try TestLedger(directory.path, shared: store(epoch: 1))
        try await first.commit(Fixture.delivery(1))
        let next = try TestLedger(second.path, shared: store(epoch: 2))
        let error = #expect(throws: StoreError.self) { try first.write(Fixture.delivery(2)) }
        #expect(error?.kind == .fenced && engine.chain.count == 4)
        next.committer.stop()
    }

    @Test("refuses a term when a later one has begun")
    func laterTerm() throws {
        let second = TemporaryDirectory()
        let later = try TestLedger(second.path, shared: store(epoch: 3))
        let error = #expect(throws: StoreError.self) { try TestLedger(directory.path, shared: store(epoch: 2)) }
        #expect(error?.kind == .fenced)
        later.committer.stop()
    }

    @Test("has the wall clock of its store, not the machine's")
    func wall() async throws {
        let store = SharedStore(
            identity: try engine.identity(), epoch: 1, boot: UUID128(high: 7, low: 1), clocks: BootClocks(),
            writing: engine.session(), reading: engine.session(), wall: { WallTime(milliseconds: 42) })
        let ledger = try TestLedger(directory.path, shared: store)
        try await ledger.commit(Fixture.delivery(1))
        let times = engine.chain.dropFirst().map { batch in
            batch.bytes.withUnsafeBytes { BatchHeader($0)?.writtenAt.milliseconds }
        }
        #expect(times == [42, 42])
        ledger.committer.stop()
    }

    @Test("is written in the version that all copies read, which never falls")
    func versions() async throws {
        let before = ChainBatch.currentVersion
        let store = SharedStore(
            identity: try engine.identity(), epoch: 1, boot: UUID128(high: 7, low: 1), clocks: BootClocks(),
            writing: engine.session(), reading: engine.session(), version: before + 1)
        let ledger = try TestLedger(directory.path, shared: store)
        let readers = [before, nil, before]
        for (number, reader) in readers.enumerated() {
            store.learn(LeaseRow(owner: nil, epoch: 1, renewals: 0, leastReader: reader))
            try await ledger.commit(Fixture.delivery(Int64(number + 1)))
        }
        #expect(engine.chain.map(\.version) == [before, before, before, before + 1, before + 1])
    }

    @Test("asks for the fate of a batch in doubt, and confirms it, before it is acknowledged")
    func asks() async throws {
        let session = engine.session()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1, session))
        session.failNext(.unknown)
        try await ledger.commit(Fixture.delivery(1))
        session.failNext(.committedButUnknown)
        try await ledger.commit(Fixture.delivery(2))
        session.failNext(.uncertain)
        try await ledger.commit(Fixture.delivery(3))
        #expect(try ledger.storedNumbers() == [1, 2, 3])
        #expect(engine.chain.map(\.reference.number) == [0, 1, 2, 3, 4])
    }

    @Test("keeps the bytes of a batch while the engine is away")
    func keepsBytes() async throws {
        let session = engine.session()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1, session))
        session.failNext(.committedButUnknown)
        session.isAway = true
        let number = ledger.submit(Fixture.delivery(1))
        guard case .stalled(let error) = try await ledger.report() else {
            Issue.record("the log does not say that it waits")
            return
        }
        #expect(error.kind == .engineAway)
        session.isAway = false
        try await ledger.durable(number)
        #expect(engine.chain.count == 3)
    }

    @Test("begins a term with an engine that does not answer for a while")
    func beginsPatiently() throws {
        let session = engine.session()
        session.isAway = true
        var tries = 0
        let opened = try SharedLog.open(
            try LedgerWriter(directory: directory.path), store(epoch: 1, session), limit: 1 << 20
        ) {
            tries += 1
            session.isAway = tries < 3
        }
        #expect(tries == 3 && opened.log.position.number == 1 && engine.chain.count == 2)
    }

    @Test("reports that no standby has a batch when its commit hangs twice while the engine answers questions")
    func endsNoCommit() async throws {
        let session = engine.session()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1, session))
        (session.endsNoCommit, engine.hasNoStandby) = (true, true)
        let number = ledger.submit(Fixture.delivery(1))
        guard case .stalled(let error) = try await ledger.report() else {
            Issue.record("the log does not say that it waits")
            return
        }
        #expect(error.kind == .unprotected && error.message.hasSuffix("a commit hangs: the standby is away"))
        // A change of the reason for the wait is reported too.
        session.isAway = true
        guard case .stalled(let other) = try await ledger.report() else {
            Issue.record("the log does not say that the engine is away now")
            return
        }
        #expect(other.kind == .engineAway)
        (session.endsNoCommit, session.isAway) = (false, false)
        try await ledger.durable(number)
        #expect(engine.chain.count == 3)
    }

    @Test("does not blame a standby for a commit that hangs for another reason")
    func hangsForAnotherReason() async throws {
        let session = engine.session()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1, session))
        session.endsNoCommit = true
        let number = ledger.submit(Fixture.delivery(1))
        guard case .stalled(let slow) = try await ledger.report() else {
            Issue.record("the log does not say that it waits")
            return
        }
        #expect(slow.kind == .engineAway && slow.message.contains("takes longer than its time limit"))
        session.endsNoCommit = false
        try await ledger.durable(number)
    }

    @Test("waits for a right or a table that the database lacks for a while, and says which")
    func lacks() async throws {
        let session = engine.session()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1, session))
        session.lacks = "permission denied for table push_batches"
        let number = ledger.submit(Fixture.delivery(1))
        guard case .stalled(let error) = try await ledger.report() else {
            Issue.record("the log does not say that it waits")
            return
        }
        #expect(
            error.kind == .engineAway && error.message.contains("permission denied for table push_batches (SQLSTATE"))
        session.lacks = nil
        try await ledger.durable(number)
        #expect(engine.chain.count == 3)
    }

    @Test("acknowledges no batch while no standby protects it, and reports that")
    func unprotected() async throws {
        let session = engine.session()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1, session))
        session.failNext(.uncertain, .uncertain)
        let number = ledger.submit(Fixture.delivery(1))
        guard case .stalled(let error) = try await ledger.report() else {
            Issue.record("the log does not say that it waits")
            return
        }
        #expect(error.kind == .unprotected)
        try await ledger.durable(number)
    }

    @Test("that lost an acknowledged batch ends its leader, and a copy with that batch is forked")
    func lost() async throws {
        let second = TemporaryDirectory()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1))
        try await ledger.commit(Fixture.delivery(1))
        let copy = try LedgerCopy(directory: second.path, of: engine.identity())
        var clocks = BootClocks()
        #expect(try copy.catchUp(from: engine, clocks: &clocks) == 2)
        engine.promote(with: 1)
        let error = #expect(throws: StoreError.self) { try ledger.write(Fixture.delivery(2)) }
        #expect(error?.kind == .forked)
        #expect(throws: StoreError.self) { try copy.catchUp(from: engine, clocks: &clocks) }
    }

    @Test("refuses the ledger of one machine, and leaves it unchanged")
    func otherLedger() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        ledger.committer.stop()
        let error = #expect(throws: StoreError.self) {
            try LedgerCopy(directory: directory.path, of: engine.identity())
        }
        #expect(error?.kind == .otherFleet(led: true))
        #expect(try TestLedger(directory.path).storedNumbers() == [1])
    }

    @Test("compares itself with a copy after a restart, by the checksum that the ledger stores")
    func comparesAfterRestart() async throws {
        let second = TemporaryDirectory()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1))
        try await ledger.commit(Fixture.delivery(1))
        ledger.committer.stop()
        var clocks = BootClocks()
        #expect(
            try LedgerCopy(directory: second.path, of: engine.identity()).catchUp(from: engine, clocks: &clocks) == 2)
        engine.promote(with: 1)
        let other = try TestLedger(TemporaryDirectory().path, shared: store(epoch: 2))
        other.committer.stop()
        let error = #expect(throws: StoreError.self) {
            try LedgerCopy(directory: second.path, of: engine.identity()).catchUp(from: engine, clocks: &clocks)
        }
        #expect(error?.kind == .forked)
    }

    @Test("stores the cursor of the last event with each batch, and a copy with another cursor is forked")
    func countsAlike() async throws {
        let second = TemporaryDirectory()
        let third = TemporaryDirectory()
        let ledger = try TestLedger(directory.path, shared: store(epoch: 1))
        for number in 1...2 { try await ledger.commit(Fixture.delivery(Int64(number))) }
        ledger.committer.stop()
        let next = try TestLedger(directory.path, shared: store(epoch: 2))
        try await next.commit(Fixture.delivery(3))
        #expect(engine.chain.map(\.lastCursor) == [nil, 0, 1, 2, 2, 3])
        let copy = try LedgerCopy(directory: second.path, of: engine.identity())
        var clocks = BootClocks()
        #expect(try copy.catchUp(from: engine, clocks: &clocks) == 5)

        // A ledger that lost an event is found at its next batch, and again at its next start.
        let drifted = try LedgerCopy(directory: third.path, of: engine.identity())
        try drifted.writer.skipNumbers(1)
        let error = #expect(throws: StoreError.self) { try drifted.catchUp(from: engine, clocks: &clocks) }
        #expect(error?.kind == .forked)
        let again = #expect(throws: StoreError.self) {
            try LedgerCopy(directory: third.path, of: engine.identity()).catchUp(from: engine, clocks: &clocks)
        }
        #expect(again?.kind == .forked)
    }

    @Test("stores the producers by name: a repeat is recognized after a takeover, whatever the uid is there")
    func producers() async throws {
        let second = TemporaryDirectory()
        var numbers = ProducerNumbers([])
        let first = try TestLedger(directory.path, shared: store(epoch: 1))
        let added = numbers.add("alice", user: 1001)
        let alice = try #require(added)
        try await first.commit([
            .producer(alice), .request(Fixture.request(1, id: "a", uid: alice.number)),
            .invocation(Fixture.invocation(1)),
        ])
        first.committer.stop()

        let next = try TestLedger(second.path, shared: store(epoch: 2))
        numbers = ProducerNumbers(try next.reader().producers())
        let number = try #require(numbers["alice"])
        #expect(try next.reader().find(uid: number, id: "a")?.request.seq == SequenceNumber(1))
        // On this machine 1001 is another user, whose id "a" is another request.
        let other = numbers.add("bob", user: 1001)
        let bob = try #require(other)
        #expect(try next.reader().find(uid: bob.number, id: "a") == nil)
        try await next.commit([
            .producer(bob), .request(Fixture.request(2, id: "a", uid: bob.number)), .invocation(Fixture.invocation(2)),
        ])
        #expect(try next.storedNumbers() == [1, 2])
        #expect(try next.reader().producer(bob.number) == "bob")
        #expect(try next.reader().producers() == [alice, bob])
    }
}
