import Testing

@testable import PushDaemon
@testable import PushModel

@Suite("The queue of several users")
struct FairQueueTests {
    @Test("serves users in turn, and each user in order")
    func turns() {
        var queue = FairQueue<String>()
        for name in ["a1", "a2", "a3", "a4"] { queue.append(name, of: Account(uid: 1)) }
        queue.append("b1", of: Account(uid: 2))
        #expect(queue.popFirst() == "a1")
        #expect(queue.popFirst() == "b1")
        queue.append("b2", of: Account(uid: 2))
        queue.append("c1", of: Account(uid: 3))
        let rest = Array(sequence(state: queue) { $0.popFirst() })
        #expect(rest == ["a2", "b2", "c1", "a3", "a4"])
    }

    @Test("is empty once all items were taken")
    func empty() {
        var queue = FairQueue<Int>()
        #expect(queue.isEmpty && queue.popFirst() == nil)
        queue.append(1, of: Account(uid: 1))
        #expect(!queue.isEmpty)
        #expect(queue.popFirst() == 1)
        #expect(queue.isEmpty && queue.popFirst() == nil)
    }
}
