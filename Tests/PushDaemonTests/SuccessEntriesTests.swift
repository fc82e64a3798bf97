import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushSettings

@Suite("Entries of successes in the journal")
struct SuccessEntriesTests {
    private let second: Int64 = 1_000_000_000

    @Test("are 500 a second in the long run, and more after a pause")
    func rate() {
        var entries = SuccessEntries(now: 0)
        func countEntries(_ wanted: Int) -> Int {
            var count = 0
            for _ in 0..<wanted where entries.hasRoom {
                entries.countEntry()
                count += 1
            }
            return count
        }
        #expect(countEntries(10_000) == 2000)
        for turn in Int64(1)...100 {
            entries.read(turn * second / 10)
            #expect(countEntries(10_000) == 50)
        }
        entries.read(1000 * second)
        #expect(countEntries(10_000) == 2000)
    }

    @Test("that are left out are counted, and reported ten seconds later")
    func summary() {
        var entries = SuccessEntries(now: 0)
        #expect(entries.summary(.info, at: 100 * second) == nil)
        entries.leaveOut(3, at: second)
        entries.leaveOut(4, at: 5 * second)
        #expect(entries.summary(.info, at: 11 * second - 1) == nil)
        let entry = entries.summary(.debug, at: 11 * second)
        #expect(entry?.message.hasPrefix("7 outcomes have no entry of their own") == true)
        #expect(entry?.priority == .debug && entry?.messageID == .outcomesSummed)
        #expect(entries.summary(.info, at: 30 * second) == nil)
    }

    @Test("that are left out are reported at the stop, however soon")
    func lastSummary() {
        var entries = SuccessEntries(now: 0)
        #expect(entries.lastSummary(.info)?.message == nil)
        entries.leaveOut(3, at: second)
        #expect(entries.lastSummary(.info)?.message.hasPrefix("3 outcomes have no entry of their own") == true)
        #expect(entries.lastSummary(.info)?.message == nil)
    }
}
