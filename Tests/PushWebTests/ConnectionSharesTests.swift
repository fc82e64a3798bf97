import Testing

@testable import PushViews

@Suite("Connections of the page")
struct ConnectionSharesTests {
    private let ann = WebPeer(name: "uid 1001", uid: 1001)
    private let bob = WebPeer(name: "uid 1002", uid: 1002)

    @Test("give way to a new one when there is no room: the longest idle one of the client with the most")
    func givesWay() {
        var shares = ConnectionShares(limit: 4)
        for (key, peer) in [(1, bob), (2, ann), (3, ann), (4, ann)] as [(UInt64, WebPeer)] {
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
        var shares = ConnectionShares(limit: 2)
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
        var shares = ConnectionShares(limit: 64)
        for key in 1...200 as ClosedRange<UInt64> { _ = shares.open(key, of: ann, at: Int64(key)) }
        let oldest = shares.open(1_000, of: bob, at: 200)
        #expect(oldest == 137)
        for key in 201...400 as ClosedRange<UInt64> {
            let closed = shares.open(key, of: ann, at: Int64(key))
            #expect(closed != 1_000)
        }
        #expect(shares.peer(of: 1_000) == bob)
    }

    @Test("have streams whose places are shared: a client with many gives one up for a client with fewer")
    func streams() {
        var shares = StreamShares(limit: 4)
        for id in 1...4 as ClosedRange<UInt64> {
            #expect(shares.place(for: ann) == .free)
            shares.open(id, of: ann)
        }
        #expect(shares.place(for: ann) == .none)
        for id in 5...6 as ClosedRange<UInt64> {
            #expect(shares.place(for: bob) == .instead(of: id - 4))
            let isThere = shares.close(id - 4)
            #expect(isThere)
            shares.open(id, of: bob)
        }
        // Both have two: neither takes a place from the other.
        #expect(shares.place(for: ann) == .none && shares.place(for: bob) == .none)
    }
}
