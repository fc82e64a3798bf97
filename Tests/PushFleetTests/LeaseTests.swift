import Testing

@testable import PushModel

@Suite("A lease")
struct LeaseTests {
    private static let length = Duration.seconds(9)
    private let owner = NodeIncarnation(node: "a", id: UUID128(high: 1, low: 1))
    private var watch = LeaseWatch(length: length)

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    private func row(_ renewals: Int64, epoch: Int64 = 1) -> LeaseRow {
        LeaseRow(owner: owner, epoch: epoch, renewals: renewals)
    }

    // MARK: Followers

    @Test("that was not renewed for its time is taken, and not a moment before")
    mutating func unmoved() {
        watch.observe(row(4), answeredAt: at(1000))
        watch.observe(row(4), answeredAt: at(9900))
        #expect(watch.claimableRow(at: at(9999), by: "b") == nil)
        #expect(watch.claimableRow(at: at(10_000), by: "b") == row(4))
    }

    @Test("that is renewed is not taken: each renewal, and each new term, restarts the time")
    mutating func moved() {
        watch.observe(row(4), answeredAt: at(1000))
        watch.observe(row(5), answeredAt: at(9000))
        #expect(watch.claimableRow(at: at(10_000), by: "b") == nil)
        watch.observe(row(5, epoch: 2), answeredAt: at(17_000))
        #expect(watch.claimableRow(at: at(18_000), by: "b") == nil)
        #expect(watch.claimableRow(at: at(26_000), by: "b") == row(5, epoch: 2))
    }

    @Test("that is free is taken at once, and one that was never read is not")
    mutating func free() {
        #expect(watch.claimableRow(at: at(1_000_000), by: "b") == nil)
        let free = LeaseRow(owner: nil, epoch: 3, renewals: 8)
        watch.observe(free, answeredAt: at(1000))
        #expect(watch.claimableRow(at: at(1000), by: "b") == free)
    }

    @Test("is watched anew after the engine was away: it may have been renewed meanwhile")
    mutating func noteUnreachable() {
        watch.observe(row(4), answeredAt: at(0))
        watch.noteUnreachable()
        #expect(watch.claimableRow(at: at(20_000), by: "b") == nil)
        watch.observe(row(4), answeredAt: at(20_000))
        #expect(watch.claimableRow(at: at(28_999), by: "b") == nil)
        #expect(watch.claimableRow(at: at(29_000), by: "b") == row(4))
    }

    @Test("is not taken while its owner holds it, however long a renewal and a reading are in flight")
    mutating func neverTwo() throws {
        // The reading is sent first, and finds a renewal that was sent later.
        for (renewalSent, answered) in [(0, 0), (100, 3000), (2900, 3000), (3000, 3000)] as [(Int64, Int64)] {
            var watch = LeaseWatch(length: Self.length)
            watch.observe(row(5), answeredAt: at(answered))
            var hold = LeaseHold(length: Self.length, sentAt: at(-9000))
            hold.renewed(sentAt: at(renewalSent))
            let taken = try #require((0..<20_000).first { watch.claimableRow(at: at($0), by: "b") != nil })
            #expect(!hold.holds(at: at(taken)))
        }
    }

    @Test("that was handed to one node is free for that node at once, and for the others after its time")
    mutating func left() {
        let left = LeaseRow(owner: nil, epoch: 3, renewals: 8, successor: "b")
        watch.observe(left, answeredAt: at(1000))
        #expect(watch.claimableRow(at: at(1000), by: "b") == left)
        #expect(watch.claimableRow(at: at(9999), by: "c") == nil)
        #expect(watch.claimableRow(at: at(10_000), by: "c") == left)
    }

    @Test("is not taken by a drained node, whoever holds it")
    mutating func drained() {
        let row = LeaseRow(owner: nil, epoch: 3, renewals: 8, successor: "b", drained: ["b"])
        watch.observe(row, answeredAt: at(0))
        #expect(watch.claimableRow(at: at(100_000), by: "b") == nil)
        #expect(watch.claimableRow(at: at(100_000), by: "c") == row)
    }

    @Test("moves by no order: one whose owner is gone is taken at its time, by the node of the last order")
    mutating func ordered() {
        watch.observe(row(4), answeredAt: at(0))
        var ordered = row(4)
        (ordered.successor, ordered.drained) = ("c", ["a"])
        watch.observe(ordered, answeredAt: at(8000))
        #expect(watch.claimableRow(at: at(9000), by: "b") == ordered)
    }

    // MARK: Leaders

    @Test("holds for its time from when the take was sent, and ends with it")
    func holds() {
        let hold = LeaseHold(length: Self.length, sentAt: at(500))
        #expect(hold.holds(at: at(500)) && hold.holds(at: at(9499)))
        #expect(!hold.holds(at: at(9500)) && !hold.holds(at: at(9501)))
    }

    @Test("holds for its time from when the last renewal was sent")
    func renewed() {
        var hold = LeaseHold(length: Self.length, sentAt: at(0))
        hold.renewed(sentAt: at(3100))
        #expect(hold.holds(at: at(12_099)) && !hold.holds(at: at(12_100)))
    }

    @Test("is not shortened by a late answer")
    func lateAnswer() {
        var hold = LeaseHold(length: Self.length, sentAt: at(6000))
        hold.renewed(sentAt: at(3000))
        #expect(hold.holds(at: at(14_999)) && !hold.holds(at: at(15_000)))
    }
}
