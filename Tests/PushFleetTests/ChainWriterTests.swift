import TestSupport
import Testing

@testable import PushModel

@Suite("The fate of a batch that a leader appends")
struct ChainWriterTests {
    private static let away = AppendResult.unknown(EngineProblem(.unreachable, message: "away"))
    private let zero = ChainTail(.start, epoch: 0)
    private let first = ChainTail(BatchReference(number: 1, id: UUID128(high: 0, low: 1)), epoch: 1)
    private let foreign = ChainTail(BatchReference(number: 1, id: UUID128(high: 0, low: 7)), epoch: 2)
    private var writer = ChainWriter(after: .start, epoch: 1)

    init() { _ = writer.begin(id: first.reference.id) }

    @Test("is known at the end of its commit")
    mutating func acknowledged() {
        #expect(writer.pending == first.reference && writer.last == .start)
        #expect(writer.answered(.committed) == .acknowledge)
        #expect(writer.last == first.reference && writer.pending == nil)
        let (second, step) = writer.begin(id: UUID128(high: 0, low: 2))
        #expect(second.number == 2 && step == .append)
    }

    @Test("is asked for when no row was inserted, and when no answer came", arguments: [AppendResult.conflict, away])
    mutating func asked(_ result: AppendResult) {
        #expect(writer.answered(result) == .reconnect)
        #expect(writer.pending == first.reference)
    }

    @Test("is absent: the batch is appended again, with its number and its id")
    mutating func again() {
        _ = writer.answered(Self.away)
        #expect(writer.found(zero) == .append)
        #expect(writer.pending == first.reference && writer.last == .start)
    }

    @Test("is known from a read: the batch is durable only when a commit follows it")
    mutating func readBack() {
        _ = writer.answered(Self.away)
        #expect(writer.found(first) == .confirm)
        #expect(writer.last == .start)
        #expect(writer.answered(.committed) == .acknowledge)
        #expect(writer.last == first.reference)
    }

    @Test("was a commit with a notice: the batch is confirmed, until a confirmation has none")
    mutating func uncertain() {
        #expect(writer.answered(.uncertain("the wait was cancelled")) == .confirm)
        #expect(writer.answered(.uncertain("the wait was cancelled")) == .confirm)
        #expect(writer.pending == first.reference)
        #expect(writer.answered(.committed) == .acknowledge)
    }

    @Test("was a commit with a notice that a promotion lost before its confirmation: the batch is appended again")
    mutating func lostInDoubt() {
        _ = writer.answered(.uncertain("the wait was cancelled"))
        #expect(writer.answered(.conflict) == .reconnect)
        #expect(writer.found(zero) == .append)
    }

    @Test("is fenced by another batch under its number, and by the batches behind that")
    mutating func fenced() {
        _ = writer.answered(.conflict)
        #expect(writer.found(foreign) == .fenced(foreign))
        let later = ChainTail(BatchReference(number: 2, id: foreign.reference.id), epoch: 2)
        #expect(writer.found(later) == .fenced(later))
    }

    @Test("is to be sent again only in a term not below that of the last batch, or it would be refused for ever")
    mutating func laterTerm() {
        let same = ChainTail(.start, epoch: 1)
        let later = ChainTail(.start, epoch: 2)
        #expect(writer.found(same) == .append)
        #expect(writer.found(later) == .fenced(later))
    }

    @Test("is lost if the chain ends before an acknowledged batch; a batch that was only read may vanish")
    mutating func lost() {
        var taker = ChainWriter(after: first.reference, epoch: 1)
        _ = taker.begin(id: UUID128(high: 0, low: 2))
        #expect(taker.found(zero) == .fenced(zero))
        _ = writer.answered(.committed)
        _ = writer.begin(id: UUID128(high: 0, low: 2))
        #expect(writer.found(zero) == .lost(zero))
    }

    @Test(
        "is acknowledged once over an engine whose answers get lost",
        arguments: [
            [MemoryEngine.Failure.unknown], [.committedButUnknown], [.uncertain], [.uncertain, .committedButUnknown],
            [.committedButUnknown, .unknown, .uncertain],
        ])
    mutating func driven(_ failures: [MemoryEngine.Failure]) throws {
        let engine = MemoryEngine()
        for failure in failures { engine.failNext(failure) }
        let batch = ChainBatch(
            reference: first.reference, previous: BatchReference.start.id, epoch: 1, boot: first.reference.id,
            handedOver: Instant(nanoseconds: 0), bytes: [])
        var step = ChainWriter.Step.append
        var steps = 0
        while step != .acknowledge, steps < 20 {
            steps += 1
            switch step {
            case .append: step = writer.answered(engine.append(batch))
            case .confirm: step = writer.answered(engine.confirm(batch.reference))
            case .reconnect: step = writer.found(try engine.tail())
            case .acknowledge, .fenced, .lost: Issue.record("\(step)")
            }
        }
        #expect(step == .acknowledge && engine.chain.count == 2)
    }
}
