import TestSupport
import Testing

@testable import PushDaemon
@testable import PushModel

@Suite("The replies owed to a client")
struct ReplyQueueTests {
    @Test("are sent in the order of the requests, in whatever order they become known")
    func order() {
        var random = SeededGenerator(seed: 3)
        var queue = ReplyQueue()
        var open: [Int] = []
        var sent: [String] = []
        var places = 0
        while places < 3000 || !open.isEmpty {
            if places < 3000, open.count < 200, Bool.random(using: &random) {
                #expect(queue.reserve() == places)
                open.append(places)
                places += 1
            } else if let index = open.indices.randomElement(using: &random) {
                let place = open.remove(at: index)
                queue.fill(place, with: .line(Array("\(place)".utf8))) {
                    sent.append(String(decoding: $0.bytes, as: UTF8.self))
                }
            }
            #expect(queue.count == places - sent.count)
        }
        #expect(sent == (0..<3000).map(String.init))
        #expect(queue.isEmpty && queue.heldBytes == 0)
    }

    @Test("count with their memory while they wait for earlier ones")
    func memory() {
        var queue = ReplyQueue()
        let places = (0..<3).map { _ in queue.reserve() }
        var sent = 0
        for place in places.dropFirst() {
            queue.fill(place, with: .line([UInt8](repeating: 7, count: 1000))) { _ in sent += 1 }
        }
        #expect(sent == 0 && queue.heldBytes >= 2000)
        queue.fill(places[0], with: .line([7])) { _ in sent += 1 }
        #expect(sent == 3 && queue.heldBytes == 0)
    }
}

@Suite("Bytes held for clients")
struct ByteAccountTests {
    private func user(_ uid: UInt32) -> Account { Account(uid: uid) }

    @Test("are counted in all and for each peer, against both limits")
    func limits() {
        var account = ByteAccount(.init(total: 100, perPeer: 60))
        account.add(59, for: user(1))
        #expect(!account.isFull(for: user(1)))
        account.add(1, for: user(1))
        #expect(account.isFull(for: user(1)) && !account.isFull(for: user(2)))
        account.add(40, for: user(2))
        #expect(account.total == 100 && account.isFull(for: user(2)) && account.isFull(for: user(3)))
        account.add(-60, for: user(1))
        #expect(account.held(for: user(1)) == 0 && account.total == 40 && !account.isFull(for: user(3)))
    }
}
