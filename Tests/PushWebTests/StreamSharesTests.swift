import Testing

@testable import PushViews

@Suite("Streams of the page")
struct StreamSharesTests {
    private let ann = WebPeer(name: "uid 1001", uid: 1001)
    private let bob = WebPeer(name: "uid 1002", uid: 1002)

    @Test("share their places: a client with many gives one up for a client with fewer")
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
