import Testing

@testable import PushModel

@Suite("The producers of a chain")
struct ProducerTests {
    @Test("have their uid as number if it is free, or else the lowest number that is no uid")
    func numbers() {
        var numbers = ProducerNumbers([])
        #expect(numbers.add("alice", user: 1001) == Producer(number: 1001, name: "alice"))
        #expect(numbers.add("bob", user: 1001) == Producer(number: 1 << 31, name: "bob"))
        #expect(numbers.add("carol", user: 1001) == Producer(number: (1 << 31) + 1, name: "carol"))
        #expect(numbers.add("root", user: 0) == Producer(number: 0, name: "root"))
        #expect(numbers.add("dave", user: (1 << 31) + 2) == Producer(number: (1 << 31) + 2, name: "dave"))
        #expect(numbers.add("erin", user: 0) == Producer(number: (1 << 31) + 3, name: "erin"))
        #expect(numbers["alice"] == 1001 && numbers["erin"] == (1 << 31) + 3 && numbers["mallory"] == nil)
    }

    @Test("keep their numbers when another machine leads, whatever their uids are there")
    func numbersAreKept() {
        var first = ProducerNumbers([])
        let producers = ["alice", "bob", "carol"].compactMap { first.add($0, user: 1001) }
        #expect(producers.count == 3)
        var next = ProducerNumbers(producers)
        #expect(producers.allSatisfy { next[$0.name] == $0.number })
        let dave = next.add("dave", user: 1001)
        #expect(dave == Producer(number: (1 << 31) + 2, name: "dave"))
    }

    @Test("are distinguished by the bytes of their names")
    func spelling() {
        var numbers = ProducerNumbers([])
        _ = numbers.add("jos\u{E9}", user: 1)
        #expect(numbers["jose\u{301}"] == nil)
    }

    @Test("a chain with the most producers refuses one more")
    func bounded() {
        var numbers = ProducerNumbers(
            (0..<UInt32(ProducerNumbers.limit - 1)).map { Producer(number: $0, name: "u\($0)") })
        #expect(numbers.add("last", user: 1) != nil)
        #expect(numbers.add("one too many", user: 1 << 20) == nil)
        #expect(numbers["last"] == 1 << 31)
    }
}
