import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Codes of rejections")
struct RejectionCodeTests {
    /// A wrong entry, the code of the rule that it breaks, and the path of the field.
    static let broken: [(EntryKind, String, RejectionCode, String)] = [
        (.customEvent, #"{}"#, .missing, "name"),
        (.customEvent, #"{"name":7}"#, .wrongType, "name"),
        (.customEvent, #"{"name":""}"#, .empty, "name"),
        (.customEvent, #"{"name":"\#(letters(256))"}"#, .tooLong, "name"),
        (.customEvent, #"{"name":"e","properties":{"$a":1}}"#, .invalidName, "properties.$a"),
        (.customEvent, #"{"name":"e","properties":{"time":1}}"#, .reservedName, "properties.time"),
        (.customEvent, #"{"name":"e","properties":{"a":[null]}}"#, .null, "properties.a[0]"),
        (
            .customEvent,
            #"{"name":"e","properties":{\#((0..<257).map { #""p\#($0)":1"# }.joined(separator: ","))}}"#, .tooMany,
            "properties"
        ),
        (.customAttributes, #"{"attributes":{"email":"a@b.c"}}"#, .profileField, "attributes.email"),
        (.customAttributes, #"{"attributes":{"a":[[1]]}}"#, .nestedArray, "attributes.a[0]"),
        (.customAttributes, #"{"attributes":{"a":{"add":[1],"remove":[2]}}}"#, .severalOperations, "attributes.a"),
        (.userAttributes, #"{"attributes":{"shoe_size":"9"}}"#, .unknownField, "attributes.shoe_size"),
        (.userAttributes, #"{"attributes":{"gender":"X"}}"#, .invalidValue, "attributes.gender"),
    ]

    @Test("each broken rule has its code, and the path of the field", arguments: broken)
    func codes(kind: EntryKind, json: String, code: RejectionCode, field: String) throws {
        var bench = CustomDataBench()
        let problem = try #require(try bench.log(kind, json).first?.problem)
        #expect(problem.code == code)
        #expect(problem.field == field)
    }

    @Test("a field given under two names has its code")
    func givenTwice() throws {
        var bench = CustomDataBench()
        let json = #"{"attributes":{"phone":"+491511234567","phone_number":"+491511234567"}}"#
        let rejections = try bench.log(.userAttributes, json)
        #expect(rejections.map(\.problem.code) == [.givenTwice])
        #expect(rejections.map(\.problem.field) == ["attributes.phone_number"])
    }

    @Test("of more than a hundred wrong attributes the last rejection covers the rest")
    func severalRejections() throws {
        var bench = CustomDataBench()
        let attributes = (0..<120).map { #""a\#($0)":[[1]]"# }.joined(separator: ",")
        let codes = try bench.log(.customAttributes, "{\"attributes\":{\(attributes)}}").map(\.problem.code)
        #expect(codes == Array(repeating: .nestedArray, count: 99) + [.severalRejections])
    }

    @Test("an entry without room has its code")
    func noRoom() throws {
        var bench = CustomDataBench { $0.pendingMax = 1 }
        #expect(try bench.log(.customEvent, #"{"name":"e"}"#).isEmpty)
        #expect(try bench.log(.customEvent, #"{"name":"e"}"#).map(\.problem.code) == [.noRoom])
    }

    @Test("an entry rejected by a version without codes keeps its reason")
    func beforeCodes() {
        let entry = CustomEntry(
            number: EntryNumber(3), cause: SequenceNumber(1), kind: .customEvent,
            destination: .stored(suite: "s", brazeID: nil),
            platform: .android, app: nil, device: nil, externalID: nil, name: nil, data: [],
            time: WallTime(milliseconds: 0), savedAt: WallTime(milliseconds: 0))
        let rejection = Rejection(of: EntryRecord(entry: entry, state: .rejected, reason: "name: is missing"))
        #expect(rejection == Rejection(number: EntryNumber(3), problem: EntryProblem(.unknown, "name: is missing")))
    }
}
