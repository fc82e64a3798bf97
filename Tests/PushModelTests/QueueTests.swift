import Testing

@testable import PushModel

@Suite("Queue")
struct QueueTests {
    @Test("returns elements in order, however insertions and removals alternate")
    func order() {
        var queue = Queue<Int>()
        var model: [Int] = []
        var next = 0
        for round in 0..<2000 {
            // Grows, shrinks and empties in turn.
            if (round / 97).isMultiple(of: 2) || model.isEmpty {
                queue.append(next)
                model.append(next)
                next += 1
            } else {
                #expect(queue.popFirst() == model.removeFirst())
            }
            #expect(queue.first == model.first)
            #expect(queue.count == model.count)
            #expect(queue.isEmpty == model.isEmpty)
        }
    }

    @Test("is empty at first, and returns nil when it is empty")
    func empty() {
        var queue = Queue<String>()
        #expect(queue.isEmpty)
        #expect(queue.first == nil)
        #expect(queue.popFirst() == nil)
        queue.append("a")
        #expect(queue.popFirst() == "a")
        #expect(queue.popFirst() == nil)
    }

    @Test("releases an element when it is removed")
    func release() {
        final class Token {}
        var queue = Queue<Token>()
        weak var gone: Token?
        do {
            let token = Token()
            gone = token
            queue.append(token)
            queue.append(Token())
        }
        #expect(gone != nil)
        _ = queue.popFirst()
        #expect(gone == nil)
    }

    @Test("empties a long queue in linear time")
    func long() {
        var queue = Queue<Int>()
        for value in 0..<200_000 { queue.append(value) }
        var sum = 0
        while let value = queue.popFirst() { sum += value }
        #expect(sum == 199_999 * 100_000)
    }
}
