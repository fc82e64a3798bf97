import Testing

@testable import PushModel

@Suite("A node's name that another process has")
struct NodeNameTests {
    private var watch = NameWatch(patience: .seconds(5))

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    private func holder(_ signs: Int64, process: UInt64 = 1) -> NameHolder {
        let none = UUID128(high: 0, low: 0)
        return NameHolder(
            place: NodePlace(host: "h", machine: none, boot: none, directory: "/d"),
            incarnation: UUID128(high: 0, low: process), signs: signs)
    }

    @Test("is left to it once it has given a sign meanwhile, however long ago the last one was")
    mutating func lives() {
        #expect(watch.observe(holder(4), at: at(0)) == .unknown)
        #expect(watch.observe(holder(4), at: at(4000)) == .unknown)
        #expect(watch.observe(holder(5), at: at(4100)) == .lives)
    }

    @Test("may be taken when the process gave no sign for the time, by the clock of the machine that wants the name")
    mutating func gone() {
        #expect(watch.observe(holder(4), at: at(0)) == .unknown)
        #expect(watch.observe(holder(4), at: at(5000)) == .unknown)
        #expect(watch.observe(holder(4), at: at(5001)) == .gone(holder(4)))
    }

    @Test("is watched anew when a third process has it")
    mutating func third() {
        #expect(watch.observe(holder(4), at: at(0)) == .unknown)
        #expect(watch.observe(holder(9, process: 2), at: at(6000)) == .unknown)
        #expect(watch.observe(holder(10, process: 2), at: at(7000)) == .lives)
    }
}
