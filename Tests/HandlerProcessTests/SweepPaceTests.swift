import Testing

@testable import HandlerProcess

@Suite("The pace of sweeps")
struct SweepPaceTests {
    @Test("leaves 19 twentieths of the time to other work, however long a sweep takes")
    func share() {
        var pace = SweepPace()
        #expect(pace.next(at: 1000) == 1000)
        pace.noteSweep(from: 1000, to: 1003)
        #expect(pace.next(at: 1003) == 1_001_003, "at least a millisecond")
        #expect(pace.next(at: 1_002_000) == 1_002_000)
        pace.noteSweep(from: 2_000_000, to: 5_000_000)
        #expect(pace.next(at: 5_100_000) == 62_000_000)
    }
}
