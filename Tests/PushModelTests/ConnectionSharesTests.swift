import Testing

@testable import PushModel

@Suite("Connections of a service")
struct ConnectionSharesTests {
    private let ann = "ann"
    private let bob = "bob"

    @Test("give way to a new one when there is no room: the longest idle one of the client with the most")
    func givesWay() {
        var shares = ConnectionShares<String>(limit: 4)
        for (key, peer) in [(1, bob), (2, ann), (3, ann), (4, ann)] as [(UInt64, String)] {
            let closed = shares.open(key, of: peer, at: Int64(key))
            #expect(closed == nil)
        }
        shares.asks(2)
        shares.answered(2, at: 9)
        let third = shares.open(5, of: bob, at: 10)
        #expect(third == 3)
        #expect(shares.peer(of: 3) == nil && shares.peer(of: 5) == bob)
        // Both have two: the longest idle one of all.
        let first = shares.open(6, of: ann, at: 11)
        #expect(first == 1)
    }

    @Test("stay while they wait for an answer or have a stream, and one more is taken beside them")
    func busy() {
        var shares = ConnectionShares<String>(limit: 2)
        for key in [1, 2] as [UInt64] {
            _ = shares.open(key, of: ann, at: 0)
            shares.asks(key)
        }
        let none = shares.open(3, of: bob, at: 1)
        #expect(none == nil)
        shares.answered(2, at: 2)
        let answered = shares.open(4, of: bob, at: 3)
        #expect(answered == 2)
        #expect(shares.peer(of: 1) == ann)
    }

    @Test("of one client that opens them without an end never keep another client's newest one away")
    func flood() {
        var shares = ConnectionShares<String>(limit: 64)
        for key in 1...200 as ClosedRange<UInt64> { _ = shares.open(key, of: ann, at: Int64(key)) }
        let oldest = shares.open(1_000, of: bob, at: 200)
        #expect(oldest == 137)
        for key in 201...400 as ClosedRange<UInt64> {
            let closed = shares.open(key, of: ann, at: Int64(key))
            #expect(closed != 1_000)
        }
        #expect(shares.peer(of: 1_000) == bob)
    }
}
