import Testing

@testable import PushModel

@Suite("The version of a leader's batches")
struct VersionGateTests {
    @Test("is the highest that all copies and the program read")
    func highest() {
        var gate = VersionGate(after: 1, own: 3)
        #expect(gate.next(copies: 1, rows: 1) == 1)
        #expect(gate.next(copies: 2, rows: 1) == 2)
        #expect(gate.next(copies: 9, rows: 1) == 3)
    }

    @Test("stays while the copies' versions are unknown")
    func unknown() {
        var gate = VersionGate(after: 2, own: 3)
        #expect(gate.next(copies: nil, rows: 1) == 2)
    }

    @Test("never falls: neither for a copy of an older program, nor for an older leader")
    func neverFalls() {
        var gate = VersionGate(after: 1, own: 3)
        #expect(gate.next(copies: 3, rows: 1) == 3)
        #expect(gate.next(copies: 1, rows: 1) == 3)
        var older = VersionGate(after: 3, own: 2)
        #expect(older.next(copies: 1, rows: 1) == 3)
    }

    @Test("is known before the batch, so that a writer of rows leaves out what a copy does not read")
    func ahead() {
        let gate = VersionGate(after: 2, own: 3)
        #expect(gate.version(copies: nil) == 2 && gate.version(copies: 1) == 2)
        #expect(gate.version(copies: 2) == 2 && gate.version(copies: 3) == 3 && gate.version(copies: 9) == 3)
        let rows = RowBuffer()
        #expect(rows.takesSubscriptions)
        rows.readers = 2
        #expect(!rows.takesSubscriptions)
    }

    @Test("is at least the one that its rows need: no reader misreads them")
    func rows() {
        var gate = VersionGate(after: 1, own: 2)
        #expect(gate.next(copies: 1, rows: 2) == 2)
    }

    @Test("is that of the newest kind of row, which each kind declares")
    func kinds() {
        #expect(RowKind.allCases.allSatisfy { 1...ChainBatch.currentVersion ~= $0.since })
        #expect(RowBuffer().version == 1)
    }
}
