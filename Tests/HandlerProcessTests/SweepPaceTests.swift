import Testing

@testable import HandlerProcess

@Suite("The pace of sweeps")
struct SweepPaceTests {
    @Test("leaves 19 twentieths of the time to others, however long a sweep takes")
    func share() {
        var pace = SweepPace()
        #expect(pace.next(at: 1000) == 1000)
        pace.swept(from: 1000, to: 1003)
        #expect(pace.next(at: 1003) == 1060)
        #expect(pace.next(at: 2000) == 2000)
        pace.swept(from: 2000, to: 3_002_000)
        #expect(pace.next(at: 3_100_000) == 60_002_000)
    }
}
