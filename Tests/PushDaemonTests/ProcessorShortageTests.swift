import Testing

@testable import PushDaemon

@Suite("A shortage of processors")
struct ProcessorShortageTests {
    private static let interval = ProcessorShortage.interval

    @Test("is measured from time to time")
    func due() {
        var shortage = ProcessorShortage()
        #expect(shortage.isDue(at: 0))
        shortage.check(waited: 0, at: 0)
        #expect(!shortage.isDue(at: Self.interval - 1) && shortage.isDue(at: Self.interval))
    }

    @Test("is a wait of more than a fifth of the time since the last measurement")
    func share() {
        var shortage = ProcessorShortage()
        shortage.check(waited: 7_000_000_000, at: 0)
        #expect(!shortage.isShort, "what was before the first look is not known")
        shortage.check(waited: 7_000_000_000 + Self.interval / 5, at: Self.interval)
        #expect(!shortage.isShort)
        shortage.check(waited: 7_000_000_001 + Self.interval * 2 / 5, at: 2 * Self.interval)
        #expect(shortage.isShort)
        shortage.check(waited: 7_000_000_001 + Self.interval * 2 / 5, at: 3 * Self.interval)
        #expect(!shortage.isShort)
    }
}
