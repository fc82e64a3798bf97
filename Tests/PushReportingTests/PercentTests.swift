import Testing

@testable import PushModel
@testable import PushViews

@Suite("Percentages")
struct PercentTests {
    @Test(
        "a percentage is read exactly and written in its shortest form",
        arguments: [
            ("99", "99"), ("99.9", "99.9"), ("99.950", "99.95"), ("0.000001", "0.000001"), ("100", "100"), ("0", "0"),
            ("99.5%", "99.5"), ("100.000000", "100"),
        ])
    func reads(text: String, shown: String) {
        #expect(Percent(text)?.description == shown)
    }

    @Test(
        "a malformed percentage is refused",
        arguments: [
            "", "%", ".", ".5", "5.", "-1", "+1", "100.1", "101", "99.1234567", "1e2", "99,9", " 99", "9 9", "٩",
            "99999999999999999999",
        ])
    func refuses(text: String) {
        #expect(Percent(text) == nil)
    }

    @Test(
        "compliance is rounded down, and a miss is never shown as 100 %",
        arguments: [
            (0, 0, "nothing was due"), (1, 0, "100 %"), (1, 1, "0.0 %"), (1200, 10, "99.1 %"), (1000, 1, "99.9 %"),
            (2000, 1, "99.95 %"), (100_000, 1, "99.999 %"), (3_000_000, 1, "99.99996 %"), (3, 1, "66.6 %"),
            (1000, 995, "0.5 %"), (Int.max, 1, "99.99999999999999998 %"),
        ])
    func shows(due: Int, missed: Int, text: String) {
        #expect(Compliance(due: due, missed: missed).description == text)
    }

    @Test(
        "an objective is met exactly from its own share on",
        arguments: [
            (1000, 1, "99.9", true), (1000, 2, "99.9", false), (1000, 1, "99.900001", false), (3, 1, "66.666666", true),
            (3, 1, "66.666667", false), (5, 5, "0", true), (5, 0, "100", true), (100_000_000, 1, "100", false),
            (0, 0, "100", true),
        ])
    func meets(due: Int, missed: Int, objective: String, met: Bool) throws {
        #expect(Compliance(due: due, missed: missed).meets(try #require(Percent(objective))) == met)
    }

    @Test("the fraction has no value when nothing was due, and is below 1 after one miss in a billion")
    func fraction() throws {
        #expect(Compliance(due: 0, missed: 0).fraction == nil)
        #expect(try #require(Compliance(due: 1_000_000_000, missed: 1).fraction) < 1)
        #expect(Compliance(due: 4, missed: 1).fraction == 0.75)
    }
}
