import Testing

@testable import PushReporting

@Suite("A table of text")
struct TextTableTests {
    @Test("shows control characters and measures them as they are shown, so that columns stay below each other")
    func controls() {
        var table = TextTable([("Name", .left), ("Count", .right)], widest: 20)
        table.add(["a\u{1B}[2J", "1"])
        table.add(["two\nlines", "2"])
        table.add(["plain", "3"])
        let expected = #"""
            Name          Count
            a\x1b[2J          1
            two\x0alines      2
            plain             3

            """#
        #expect(table.text == expected)
    }
}
