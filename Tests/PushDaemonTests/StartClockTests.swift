import Testing

@testable import PushDaemon
@testable import PushModel

@Suite("The clock after a start")
struct StartClockTests {
    private static let day: Int64 = 86_400_000
    private let now = WallTime(milliseconds: 1_795_230_480_000)

    private func clock(lastAlive: WallTime?, _ isSynchronised: @escaping () -> Bool? = { false }) -> ClockSteps {
        ClockSteps(wall: now, boot: 5_000_000_000, lastAlive: lastAlive, isSynchronised: isSynchronised)
    }

    private func earlier(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: now.milliseconds - milliseconds) }

    @Test("is not believed for an hour if it is more than a day later than the ledger's last sign of life")
    func ahead() {
        let start = clock(lastAlive: earlier(40 * Self.day))
        #expect(start.doubt(boot: 65_000_000_000) == 40 * Self.day)
        #expect(start.doubt(boot: 5_000_000_000 + 3599 * 1_000_000_000) == 40 * Self.day)
        #expect(start.doubt(boot: 5_000_000_000 + 3600 * 1_000_000_000) == nil)
        let later = WallTime(milliseconds: now.milliseconds + 3_600_000)
        #expect(start.isBelieved(wall: later, boot: 3605 * 1_000_000_000))
    }

    @Test("stays believed once it was, whatever the kernel reports afterwards")
    func settled() {
        var isSynchronised: Bool? = true
        let start = clock(lastAlive: earlier(40 * Self.day)) { isSynchronised }
        #expect(start.isBelieved(wall: now, boot: 5_000_000_000))
        isSynchronised = false
        #expect(start.isBelieved(wall: now, boot: 5_000_000_000))
        let set = WallTime(milliseconds: now.milliseconds + 2 * Self.day)
        #expect(!start.isBelieved(wall: set, boot: 5_000_000_000), "it was set")
    }

    @Test("is believed as soon as the kernel reports it synchronised")
    func synchronised() {
        for answer in [nil, false, true] as [Bool?] {
            let start = clock(lastAlive: earlier(2 * Self.day)) { answer }
            #expect((start.doubt(boot: 6_000_000_000) == nil) == (answer == true))
            #expect((start.objection(wall: now, boot: 5_000_000_000) == nil) == (answer == true))
        }
    }

    @Test("is believed if it is at most a day later, if it is earlier, or if the ledger is new")
    func plausible() {
        for lastAlive in [nil, now, earlier(Self.day), earlier(-400 * Self.day), WallTime(milliseconds: .max)] {
            let start = clock(lastAlive: lastAlive)
            #expect(start.doubt(boot: 6_000_000_000) == nil)
        }
        let start = clock(lastAlive: WallTime(milliseconds: .min))
        #expect(start.doubt(boot: 6_000_000_000) == Int64.max, "a sign of life of a damaged ledger is no trap")
    }
}
