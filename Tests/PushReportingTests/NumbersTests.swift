import Testing

@testable import PushViews

@Suite("A span for people")
struct NumbersTests {
    @Test(
        "has its two largest units, and a unit begins at its own length",
        arguments: [
            (999_499, "999 ms"), (1_000_000, "1 s"), (59_949_999, "59.9 s"), (60_000_000, "1 min"),
            (61_000_000, "1 min 1 s"), (3_599_000_000, "59 min 59 s"), (3_600_000_000, "1 h"),
            (3_660_000_000, "1 h 1 min"), (86_399_000_000, "23 h 59 min"), (86_400_000_000, "1 d"),
            (90_000_000_000, "1 d 1 h"),
        ] as [(Int64, String)])
    func units(microseconds: Int64, text: String) { #expect(spanInWords(.microseconds(microseconds)) == text) }
}
