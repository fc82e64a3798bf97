import Testing

@testable import PushModel
@testable import PushViews

@Suite("A table of text")
struct TextTableTests {
    @Test("shows control characters and measures them as shown, so that columns stay aligned")
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

    @Test("cuts names in the middle, and keeps them distinct wherever they differ")
    func apart() {
        #expect(shortenedApart(["60-loyalty-team-eu-west-orders"], to: 16).values.first == "60-loyal…-orders")
        let ends = String(repeating: "x", count: 30)
        let alike = Set((0..<40).map { ends + "\($0)" + ends } + [ends + ends, "short", "xxxxxxx…xxxxxxx"])
        for width in [8, 16, 40] {
            let shown = shortenedApart(alike, to: width)
            #expect(Set(shown.keys) == alike && Set(shown.values).count == alike.count)
            #expect(shown.values.allSatisfy { $0.count <= max(width, 15) }, "\(shown)")
        }
    }

    @Test("is cut, broken or divided only if it is too wide")
    func wide() {
        var table = TextTable([("Name", .name), ("Count", .right), ("", .sentence)])
        table.add(["a-name-of-some-length", "1", "one two three four five six seven eight"])
        #expect(table.lines(width: 69).count == 2)
        #expect(table.lines(width: 68)[1].text == "a-name-of-some-length      1  one two three four five six seven")
        #expect(table.lines(width: 58)[1].text.hasPrefix("a-name-o…e-length      1  one"))
    }

    @Test("that is divided cuts a name only if it has no room beside the key")
    func divided() {
        let name = String(repeating: "b", count: 20)
        var table = TextTable([("Key", .name), ("Name", .name), ("Count", .right)])
        table.add(["aaaa", name, String(repeating: "1", count: 30)])
        #expect(table.lines(width: 26).map(\.text).contains("aaaa  \(name)"))
        #expect(table.lines(width: 25).map(\.text).contains { $0.hasPrefix("aaaa  ") && $0.contains("…") })
    }
}
