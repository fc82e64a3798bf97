import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The longest turn of late", .timeLimit(.minutes(30)))
struct TurnWindowTests {
    @Test("drops a long turn after a number of slices; the count of all turns does not")
    func forgets() {
        var window = TurnWindow()
        window.add(processor: 5_000_000, duration: 7_000_000)
        for slice in 1..<TurnWindow.sliceCount {
            window.beginSlice()
            window.add(processor: 20_000, duration: 30_000)
            #expect(window.recentLongest == 7_000_000 && window.recent.count == slice + 1)
        }
        window.beginSlice()
        #expect(window.recentLongest == 30_000 && window.recent.max == 20)
        #expect(window.recent.count == TurnWindow.sliceCount - 1)
        #expect(window.longest == 7_000_000 && window.all.max == 5000)
        #expect(window.all.count == TurnWindow.sliceCount)
    }

    @Test("is none after a rest of the same length")
    func rest() {
        var window = TurnWindow()
        window.add(processor: 5_000_000, duration: 7_000_000)
        for _ in 1...TurnWindow.sliceCount { window.beginSlice() }
        #expect(window.recent.count == 0 && window.recentLongest == 0)
    }
}
