import PushModel
import Testing

@Suite("Heap")
struct HeapTests {
    @Test(
        "gives the smallest first, duplicates too",
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
}
