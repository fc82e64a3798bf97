import TestSupport
import Testing

@testable import PushDaemon

@Suite("The filter of ids")
struct IdentifierFilterTests {
    @Test("recognizes every added id, and mistakes few others for known", arguments: [100, 10_000, 200_000])
    func filter(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let filter = IdentifierFilter()
        let added = (0..<count).map { _ in UInt64.random(in: .min ... .max, using: &random) }
        for hash in added { filter.insert(hash) }
        #expect(added.allSatisfy(filter.mayContain))
        let others = (0..<20_000).count { _ in filter.mayContain(.random(in: .min ... .max, using: &random)) }
        #expect(others < 20_000 / 150, "\(others) of 20,000")
        #expect(filter.count == count && !filter.isCrowded)
    }

    @Test("stays useful with more than twice as many ids as it has bits for")
    func large() {
        var random = SeededGenerator(seed: 7)
        let filter = IdentifierFilter()
        for _ in 0..<5_000_000 { filter.insert(.random(in: .min ... .max, using: &random)) }
        let others = (0..<20_000).count { _ in filter.mayContain(.random(in: .min ... .max, using: &random)) }
        #expect(others < 20_000 / 10, "\(others) of 20,000")
        #expect(!filter.isCrowded)
    }
}

@Suite("Known ids")
struct IdentifierIndexTests {
    private func isNew(_ membership: IdentifierIndex.Membership) -> Bool {
        if case .new = membership { true } else { false }
    }

    private func batch(_ membership: IdentifierIndex.Membership) -> UInt64? {
        if case .pending(let batch) = membership { batch } else { nil }
    }

    private func isUnclear(_ membership: IdentifierIndex.Membership) -> Bool {
        if case .unclear = membership { true } else { false }
    }

    @Test("of a batch that is durable and not applied are found with that batch, not with the one before")
    func exactBatch() {
        var index = IdentifierIndex()
        index.beginBuilding()
        index.finishBuilding()
        index.accept(first, inBatch: 5)
        index.accept(second, inBatch: 6)
        index.applied(through: 4)
        #expect(batch(index.membership(of: first)) == 5 && batch(index.membership(of: second)) == 6)
        index.applied(through: 5)
        #expect(isUnclear(index.membership(of: first)), "the ledger has it, and is to be asked")
        #expect(batch(index.membership(of: second)) == 6)
        index.applied(through: 6)
        #expect(isUnclear(index.membership(of: second)))
    }

    @Test("that also came with a later batch stay known until that one is applied")
    func laterBatch() {
        var index = IdentifierIndex()
        index.beginBuilding()
        index.finishBuilding()
        index.accept(first, inBatch: 5)
        index.accept(first, inBatch: 7)
        index.applied(through: 5)
        #expect(batch(index.membership(of: first)) == 7)
        index.applied(through: 6)
        #expect(batch(index.membership(of: first)) == 7)
        index.applied(through: 7)
        #expect(isUnclear(index.membership(of: first)))
    }

    private let first: UInt64 = 0x0123_4567_89AB_CDEF
    private let second: UInt64 = 0xFEDC_BA98_7654_3210
    private let third: UInt64 = 42 << 40

    @Test("are looked up in the ledger while there is no filter")
    func without() {
        let index = IdentifierIndex()
        #expect(index.needsBuilding)
        #expect(isUnclear(index.membership(of: first)))
    }

    @Test("are found with their batch first, and then in the ledger; other ids are new")
    func accepted() {
        var index = IdentifierIndex()
        index.beginBuilding()
        index.finishBuilding()
        #expect(isNew(index.membership(of: first)))
        index.accept(first, inBatch: 3)
        index.accept(second, inBatch: 4)
        #expect(batch(index.membership(of: first)) == 3 && batch(index.membership(of: second)) == 4)
        index.applied(through: 3)
        #expect(isUnclear(index.membership(of: first)) && batch(index.membership(of: second)) == 4)
        index.applied(through: 9)
        #expect(isUnclear(index.membership(of: second)))
        #expect(isNew(index.membership(of: third)))
    }

    @Test("accepted while a filter is built are in it, whatever page the ledger's reader has reached")
    func building() {
        var index = IdentifierIndex()
        index.beginBuilding()
        #expect(!index.needsBuilding)
        index.build([first])
        index.accept(second, inBatch: 1)
        index.applied(through: 1)
        index.finishBuilding()
        #expect(isUnclear(index.membership(of: first)) && isUnclear(index.membership(of: second)))
        #expect(isNew(index.membership(of: third)))
    }

    @Test(
        "get a new filter when twice as many came as the ledger had: most are pruned by then")
    func largestFilter() {
        let filter = IdentifierFilter(many: 100)
        for hash in 0..<150 as Range<UInt64> { filter.insert(hash) }
        filter.finish()
        for hash in 150..<300 as Range<UInt64> { filter.insert(hash) }
        #expect(!filter.isCrowded)
        filter.insert(300)
        #expect(filter.isCrowded)
    }

    @Test(
        "accepted before a filter is begun, and applied behind the page being read, are in it"
    )
    func acceptedBefore() {
        var index = IdentifierIndex()
        index.beginBuilding()
        index.finishBuilding()
        index.accept(first, inBatch: 1)
        index.beginBuilding()
        index.finishBuilding()
        #expect(batch(index.membership(of: first)) == 1)
        index.applied(through: 1)
        #expect(isUnclear(index.membership(of: first)))
    }

    @Test("keep their old filter when a new one cannot be built, and the next build starts over")
    func givenUp() {
        var index = IdentifierIndex()
        index.beginBuilding()
        index.finishBuilding()
        index.accept(first, inBatch: 1)
        index.beginBuilding()
        index.cancelBuilding()
        #expect(batch(index.membership(of: first)) == 1)
        #expect(isNew(index.membership(of: third)))
    }
}
