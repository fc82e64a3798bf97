import Testing

@testable import PushModel

@Suite("Heap")
struct HeapTests {
    @Test(
        "returns the smallest first, duplicates too",
        arguments: [
            [], [1], [2, 1], [1, 2, 3], [3, 2, 1], [5, 5, 1, 5], Array((0..<200).map { $0 * 7919 % 200 }),
        ])
    func sorts(values: [Int]) {
        var heap = Heap<Int>()
        values.forEach { heap.insert($0) }
        var taken: [Int] = []
        while let smallest = heap.first {
            #expect(heap.popFirst() == smallest)
            taken.append(smallest)
        }
        #expect(taken == values.sorted())
        #expect(heap.popFirst() == nil)
    }

    @Test("keeps its order when insertions and removals alternate")
    func alternating() {
        var heap = Heap<Int>()
        var model: [Int] = []
        for round in 0..<2000 {
            if round % 5 < 3 {
                heap.insert(round * 7919 % 1009)
                model.append(round * 7919 % 1009)
                model.sort()
            } else {
                #expect(heap.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
        }
        #expect(heap.first == model.first)
    }

    @Test("keeps its order when elements anywhere in it are removed")
    func removals() {
        for step in [1, 3, 7, 50] {
            var heap = Heap<Int>()
            var model = (0..<200).map { $0 * 7919 % 211 }
            model.forEach { heap.insert($0) }
            var place = 0
            while heap.count > 20 {
                place = (place + step) % heap.count
                let removed = heap[place]
                #expect(heap.remove(at: place) == removed)
                if let index = model.firstIndex(of: removed) { model.remove(at: index) }
            }
            var rest: [Int] = []
            while let smallest = heap.popFirst() { rest.append(smallest) }
            #expect(rest == model.sorted())
        }
    }
}
