import TestSupport
import Testing

@testable import PushModel

@Suite("A node's copy of a shard")
struct CopyCheckTests {
    private static func batch(_ number: UInt64, id: UInt64, after previous: UInt64) -> ChainBatch {
        ChainBatch(
            reference: BatchReference(number: number, id: UUID128(high: 0, low: id)),
            previous: UUID128(high: 0, low: previous), epoch: 1, boot: UUID128(high: 9, low: 9),
            handedOver: Instant(nanoseconds: 0), bytes: [])
    }

    private let engine = MemoryEngine()
    private let one = batch(1, id: 11, after: 0)
    private let two = batch(2, id: 22, after: 11)

    private func check(_ last: BatchReference) throws -> CopyCheck {
        CopyCheck(last: last, batches: try engine.batches(from: last.number, atMost: 10))
    }

    @Test("that ends at the chain's end, or earlier, gets the next batches")
    func follows() throws {
        #expect(try check(.start) == .follows([]))
        for batch in [one, two] { #expect(engine.append(batch) == .committed) }
        #expect(try check(.start) == .follows([one, two].map { StoredBatch(batch: $0, age: .zero) }))
        #expect(try check(one.reference) == .follows([StoredBatch(batch: two, age: .zero)]))
        #expect(try check(two.reference) == .follows([]))
    }

    @Test("that is ahead of the chain does not belong to it")
    func ahead() throws {
        for batch in [one, two] { #expect(engine.append(batch) == .committed) }
        engine.promote(with: 1)
        #expect(try check(two.reference) == .ahead)
    }

    @Test("that has another batch under a number does not belong to the chain, however long the chain is")
    func another() throws {
        for batch in [one, two] { #expect(engine.append(batch) == .committed) }
        engine.promote(with: 1)
        let other = Self.batch(2, id: 33, after: 11)
        for batch in [other, Self.batch(3, id: 44, after: 33)] { #expect(engine.append(batch) == .committed) }
        #expect(try check(two.reference) == .another(other.reference))
    }

    @Test("continues behind deleted batches only if the first one left names its last one")
    func trimmed() {
        let left = [StoredBatch(batch: two, age: .zero)]
        #expect(CopyCheck(last: one.reference, batches: left) == .follows(left))
        let fork = BatchReference(number: 1, id: UUID128(high: 0, low: 12))
        #expect(CopyCheck(last: fork, batches: left) == .another(two.reference))
        #expect(CopyCheck(last: .start, batches: left) == .trimmed(two.reference))
    }
}
