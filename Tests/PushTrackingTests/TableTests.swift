import TestSupport
import Testing

@testable import PushRouter

@Suite("The tables of the tracker's memory")
struct TableTests {
    @Test("an index finds the entries that were added and not removed, and no others", arguments: [0, 500])
    func index(reserved: Int) {
        var random = SeededGenerator(seed: 1)
        var index = HashIndex()
        index.reserve(reserved)
        // Few hashes, so that many slots share one, and all are in two of the shards.
        let hashes = (0..<2000).map { _ in
            UInt64.random(in: 0..<200, using: &random) << 24 | UInt64.random(in: 0...1, using: &random) << 56
        }
        var present: Set<UInt32> = []
        for _ in 0..<20_000 {
            let slot = UInt32.random(in: 0..<2000, using: &random)
            let hash = hashes[Int(slot)]
            #expect(index.find(hash) { $0 == slot } == (present.contains(slot) ? slot : nil))
            if present.remove(slot) == nil {
                index.insert(slot, hash)
                present.insert(slot)
            } else {
                index.remove(slot, hash)
            }
        }
        index.remove(2000, hashes[0])
        let found = (0..<2000).filter { slot in index.find(hashes[Int(slot)]) { $0 == slot } != nil }
        #expect(Set(found) == present)
    }

    @Test("a list keeps its order after any removal")
    func list() {
        var random = SeededGenerator(seed: 2)
        var list = SlotList()
        var model: [UInt32] = []
        for slot in 0..<2000 as Range<UInt32> {
            list.append(slot)
            model.append(slot)
            while model.count > Int.random(in: 0...40, using: &random) {
                let place = Bool.random(using: &random) ? 0 : Int.random(in: 0..<model.count, using: &random)
                list.remove(model.remove(at: place))
            }
            list.remove(5000)
            #expect(Array(list.all) == model)
            guard slot % 7 == 0 else { continue }
            let some = model.filter { _ in Bool.random(using: &random) }
            list.remove(some)
            model.removeAll { some.contains($0) }
            #expect(Array(list.all) == model)
        }
    }

    @Test("the hand of a slab wraps around, visits a bounded number of slots, and skips none")
    func hand() {
        var slab = Slab<Int>()
        #expect(slab.next(3) { _ in true } == nil)
        for number in 0..<5 { _ = slab.insert(number) }
        var seen: [Int] = []
        for _ in 0..<4 {
            let found = slab.next(2) { element in
                seen.append(element)
                return false
            }
            #expect(found == nil)
        }
        #expect(seen == [0, 1, 2, 3, 4, 0, 1, 2])
        #expect(slab.next(9) { $0 == 1 } == 1)
        #expect(slab.next(4) { $0 == 1 } == nil)
    }
}
