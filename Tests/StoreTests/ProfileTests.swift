import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Profiles in the ledger", .timeLimit(.minutes(30)))
final class ProfileTests {
    private let directory = TemporaryDirectory()

    private func ledger(_ rows: AttributeRow...) async throws -> TestLedger {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(rows.map { .customData(.attribute($0)) })
        return ledger
    }

    private func row(
        _ owner: ProfileOwner, _ name: String, _ change: AttributeChange, kind: EntryKind = .customAttributes,
        at: Int64 = 1, entry: Int64 = 1
    ) -> AttributeRow {
        AttributeRow(
            owner: owner, kind: kind, name: name, change: change, at: WallTime(milliseconds: at),
            entry: EntryNumber(entry))
    }

    private func set(_ value: String) -> AttributeChange { .set(Array(value.utf8)) }

    private func profile(_ owner: ProfileOwner, _ ledger: TestLedger) throws -> [String] {
        try ledger.reader().attributes(of: owner).map {
            "\($0.kind.rawValue) \($0.name) \($0.value) \($0.setAt.milliseconds) \($0.entry)"
        }
    }

    @Test("each have their own fields, each kind its own, with the last value, its time and its cause")
    func fields() async throws {
        let ledger = try await ledger(
            row(.user("u"), "plan", set(#""free""#)), row(.device("u"), "plan", set("1")),
            row(.user("u"), "email", set(#""a@b.c""#), kind: .userAttributes), row(.user("v"), "plan", set("true")))
        try await ledger.commit([.customData(.attribute(row(.user("u"), "plan", set(#""paid""#), at: 9, entry: 4)))])
        #expect(
            try profile(.user("u"), ledger) == [
                #"custom_attributes plan "paid" 9 4"#, #"user_attributes email "a@b.c" 1 1"#,
            ])
        #expect(try profile(.device("u"), ledger) == ["custom_attributes plan 1 1 1"])
        try await ledger.commit([.customData(.attribute(row(.user("u"), "plan", .remove)))])
        #expect(try profile(.user("u"), ledger) == [#"user_attributes email "a@b.c" 1 1"#])
        #expect(try profile(.user("v"), ledger) == ["custom_attributes plan true 1 1"])
    }

    @Test(
        "users are found by the value of a field, or by an element of an array",
        arguments: [
            ([("plan", [#""paid""#])], ["anna", "carl"]),
            ([("plan", [#""pa""#])], []),
            ([("age", ["42"])], ["anna"]),
            ([("age", [#""42""#, "42"])], ["anna", "berta"]),
            ([("tags", [#""b""#])], ["anna", "berta"]),
            ([("tags", [#"["b"]"#])], ["berta"]),
            ([("email", [#""a@b.c""#])], ["anna"]),
            ([("plan", [#""paid""#]), ("tags", [#""b""#])], ["anna"]),
            ([("tags", [#""b""#]), ("age", ["42"]), ("plan", [#""paid""#])], ["anna"]),
            ([("plan", [#""paid""#]), ("nothing", ["1"])], []),
            ([], []),
        ] as [([(String, [String])], [String])])
    func users(conditions: [(String, [String])], expected: [String]) async throws {
        let ledger = try await ledger(
            row(.user("anna"), "plan", set(#""paid""#)), row(.user("carl"), "plan", set(#""paid""#)),
            row(.device("d"), "plan", set(#""paid""#)), row(.user("berta"), "plan", set(#""free""#)),
            row(.user("anna"), "age", set("42")), row(.user("berta"), "age", set(#""42""#)),
            row(.user("anna"), "tags", set(#"["a","b"]"#)), row(.user("berta"), "tags", set(#"["b"]"#)),
            row(.user("anna"), "email", set(#""a@b.c""#), kind: .userAttributes))
        var found: [String] = []
        try ledger.reader().users(
            where: conditions.map { AttributeCondition(name: $0.0, values: $0.1.map { Array($0.utf8) }) }
        ) { found.append($0) }
        #expect(found == expected)
    }

    @Test("texts are stored without needless escapes, alone and in arrays")
    func escapes() async throws {
        let ledger = try await ledger(
            row(.user("a"), "k", set(#""caf\u00e9\/""#)), row(.user("b"), "k", set(#"["caf\u00e9\/",1.50]"#)),
            row(.user("c"), "k", set(#"{"k":"\u00e9"}"#)))
        #expect(try profile(.user("a"), ledger) == [#"custom_attributes k "café/" 1 1"#])
        #expect(try profile(.user("b"), ledger) == [#"custom_attributes k ["café/",1.50] 1 1"#])
        #expect(try profile(.user("c"), ledger) == [#"custom_attributes k {"k":"\u00e9"} 1 1"#])
        var found: [String] = []
        let condition = AttributeCondition(name: "k", values: [Array(#""café/""#.utf8)])
        try ledger.reader().users(where: [condition]) { found.append($0) }
        #expect(found == ["a", "b"])
    }

    @Test("values with a common beginning are distinguished")
    func long() async throws {
        let beginning = String(repeating: "x", count: 100)
        let ledger = try await ledger(
            row(.user("a"), "k", set(#""\#(beginning)1""#)), row(.user("b"), "k", set(#""\#(beginning)2""#)))
        var found: [String] = []
        let condition = AttributeCondition(name: "k", values: [Array(#""\#(beginning)2""#.utf8)])
        try ledger.reader().users(where: [condition]) { found.append($0) }
        #expect(found == ["b"])
    }
}
