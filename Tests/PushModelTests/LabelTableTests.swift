import Testing

@testable import PushModel

@Suite("A table of names with a bound")
struct LabelTableTests {
    @Test("counts each name separately, in any order")
    func counts() {
        var table = LabelTable(limit: 4, empty: 0)
        for name in ["a", "b", "a", "c", "c", "a"] { table[name] += 1 }
        #expect(table.entries.map(\.name) == ["a", "b", "c"])
        #expect(table.entries.map(\.value) == [3, 1, 2])
    }

    @Test("counts names beyond the limit together, and earlier ones as before")
    func limit() {
        var table = LabelTable(limit: 2, empty: 0)
        for number in 0..<1000 { table["name-\(number)"] += 1 }
        table["name-1"] += 1
        #expect(table.entries.map(\.name) == ["name-0", "name-1", "(other)"])
        #expect(table.entries.map(\.value) == [1, 2, 998])
    }
}
