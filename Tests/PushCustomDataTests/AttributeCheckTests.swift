import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Checks of custom attributes")
struct AttributeCheckTests {
    /// The problem with an attribute `a` of this value.
    private func reason(_ value: String, elementsMax: Int = 500) throws -> String? {
        var bench = CustomDataBench { $0.arrayElementsMax = elementsMax }
        return try bench.log(.customAttributes, #"{"attributes":{"a":\#(value)}}"#).first
            .map { $0.problem.text }
    }

    @Test(
        "custom attributes that are not an object, or an empty one, are refused",
        arguments: [
            ("{}", "attributes: is missing"),
            (#"{"attributes":{}}"#, "attributes: has no attribute in it"),
            (#"{"attributes":["a"]}"#, "attributes: must be an object of names and values, not an array"),
        ])
    func objects(json: String, expected: String) throws {
        for kind in [EntryKind.customAttributes, .userAttributes] {
            var bench = CustomDataBench()
            #expect(try bench.log(kind, json).count == 1)
            #expect(bench.reason(1) == expected)
        }
    }

    @Test("attributes without room in any request are rejected, and hold up nothing")
    func sizeTogether() throws {
        // In {"a0":"x...x",...} each member with the comma or brace after it has 100 bytes.
        func json(_ count: Int, plus extra: Int) -> String {
            let members = (0..<count).map { number in
                let name = String(100_000 + number)
                return #""\#(name)":"\#(String(repeating: "x", count: 88 + (number == 0 ? extra : 0)))""#
            }
            return #"{"attributes": { \#(members.joined(separator: " ,")) } }"#
        }
        var bench = CustomDataBench()
        #expect(try bench.log(.customAttributes, json(10_000, plus: -1), to: .sent(.brazeID("b"))).isEmpty)
        let rejections = try bench.log(.customAttributes, json(10_000, plus: 0), to: .sent(.brazeID("b")))
        #expect(
            rejections.map(\.problem.message) == [
                "attributes that are set together have at most 1000000 bytes; these have 1000001: log them apart"
            ])
        #expect(rejections.map(\.problem.field) == ["attributes"])
        #expect(bench.rows.numbers(.queued) == [1])
        #expect(bench.rows.numbers(.rejected) == [2])
    }

    @Test(
        "of very many wrong ones the last are one entry: they do not fill the ledger", arguments: [100, 101, 5000])
    func manyWrong(count: Int) throws {
        var bench = CustomDataBench()
        let members = (1...count).map { #""a\#($0)":[[]]"# } + [#""right":1"#]
        let rejections = try bench.log(.customAttributes, #"{"attributes":{\#(members.joined(separator: ","))}}"#)
        #expect(rejections.count == 100)
        #expect(bench.text(1) == #"{"right":1}"#)
        #expect(bench.text(100) == #"{"a99":[[]]}"#)
        guard count > 100 else { return #expect(bench.text(101) == #"{"a100":[[]]}"#) }
        let reason = "\(count - 99) more are wrong, the first is attributes.a100[0]: an array cannot have arrays in it"
        #expect(bench.reason(101) == "attributes: \(reason)")
        #expect(rejections.last?.problem.message == reason)
        let rest = try JSONDocument(scanning: Array(try #require(bench.text(101)).utf8)).root
        #expect(rest.members.map(\.key) == (100...count).map { "a\($0)" })
    }

    @Test("a wrong one is rejected alone; its neighbours are one entry")
    func neighbours() throws {
        var bench = CustomDataBench()
        let rejections = try bench.log(
            .customAttributes,
            #"{"attributes":{"a": 1,"external_id":"u2", "b":[ 1, 2 ],"":{ "x": 1 },"c":null}}"#)
        #expect(rejections.map(\.problem.field) == ["attributes.external_id", #"attributes."""#])
        #expect(rejections.map(\.number.value) == [2, 3])
        #expect(bench.text(1) == #"{"a":1,"b":[1,2],"c":null}"#)
        #expect(bench.text(2) == #"{"external_id":"u2"}"#)
        #expect(bench.text(3) == #"{"":{"x":1}}"#)
        #expect(bench.rows.numbers(.pending) == [1])
        #expect(bench.rows.numbers(.rejected) == [2, 3])
    }

    @Test(
        "an identifier of the profile, or an instruction, is no attribute",
        arguments: [
            "external_id", "braze_id", "user_alias", "alias_name", "alias_label", "_update_existing_only",
            "_merge_objects", "push_token_import",
        ])
    func reserved(name: String) throws {
        for kind in [EntryKind.customAttributes, .userAttributes] {
            var bench = CustomDataBench()
            #expect(
                try bench.log(kind, #"{"attributes":{"\#(name)":true}}"#).map(\.problem.field) == ["attributes.\(name)"]
            )
            #expect(bench.data.summary.pending == 0)
        }
    }

    @Test(
        "a field of the profile is no custom attribute",
        arguments: [
            ("email", "is a field of the profile, not a custom attribute; log it with the user attributes"),
            (
                "subscription_groups",
                "is a field of the profile, not a custom attribute; log it with the user attributes"
            ),
            ("push_tokens", "is a field of the profile that apps cannot set"),
            ("date_of_first_session", "is a field of the profile that apps cannot set"),
        ])
    func fields(name: String, expected: String) throws {
        var bench = CustomDataBench()
        try bench.log(.customAttributes, #"{"attributes":{"\#(name)":"x"}}"#)
        #expect(bench.reason(1) == "attributes.\(name): \(expected)")
    }

    @Test(
        "a text has at most 255 characters, at any depth",
        arguments: [
            (#""\#(letters(255))""#, nil),
            (#""\#(letters(256))""#, "attributes.a: a text has at most 255 characters; this one has 256"),
            (#"["\#(letters(255))"]"#, nil),
            (#"["b","\#(letters(256))"]"#, "attributes.a[1]: a text has at most 255 characters; this one has 256"),
            (
                #"{"b":{"c":"\#(letters(256))"}}"#,
                "attributes.a.b.c: a text has at most 255 characters; this one has 256"
            ),
            (
                #"{"add":["\#(letters(256))"]}"#,
                "attributes.a.add[0]: a text has at most 255 characters; this one has 256"
            ),
            (
                #"{"$time":"\#(letters(256))"}"#,
                "attributes.a.$time: a text has at most 255 characters; this one has 256"
            ),
        ])
    func texts(value: String, expected: String?) throws { #expect(try reason(value) == expected) }

    @Test(
        "an array has at most as many elements as the setting, without null and without arrays",
        arguments: [
            ("[1,2,3]", nil),
            (#"["a",1,true]"#, nil),
            (
                "[1,2,3,4]",
                "attributes.a: an array has at most 3 elements (ArrayElementsMax=); this one has 4"
            ),
            (
                #"{"add":[1,2,3,4]}"#,
                "attributes.a.add: an array has at most 3 elements (ArrayElementsMax=); this one has 4"
            ),
            ("[null]", "attributes.a[0]: null cannot be an element of an array"),
            ("[1,[2]]", "attributes.a[1]: an array cannot have arrays in it"),
        ])
    func arrays(value: String, expected: String?) throws { #expect(try reason(value, elementsMax: 3) == expected) }

    @Test(
        "a nested name has no space, no . and no $, except $time alone with a date",
        arguments: [
            (#"{"b":null,"c":[{"d":1}]}"#, nil),
            (#"{"b c":1}"#, "attributes.a.b c: a name within an attribute has no space, no . and no $"),
            (#"{"b":{"c.d":1}}"#, #"attributes.a.b."c.d": a name within an attribute has no space, no . and no $"#),
            (#"[{"$add":[]}]"#, "attributes.a[0].$add: a name within an attribute has no space, no . and no $"),
            (#"{"":1}"#, #"attributes.a."": the name is empty"#),
            (#"{"b":{"$time":"1980-01-01T19:20:30Z"}}"#, nil),
            (
                #"{"$time":null}"#,
                "attributes.a.$time: must be a date as a string, and the only member of its object"
            ),
            (
                #"{"b":{"$time":"1980-01-01","c":1}}"#,
                "attributes.a.b.$time: must be a date as a string, and the only member of its object"
            ),
        ])
    func nestedNames(value: String, expected: String?) throws { #expect(try reason(value) == expected) }

    @Test("an object has at most 51,200 bytes, without white space")
    func size() throws {
        #expect(try reason(object(ofBytes: 51_200)) == nil)
        #expect(
            try reason(object(ofBytes: 51_201)) == "attributes.a: an object has at most 51200 bytes; this one has 51201"
        )
    }

    @Test(
        "an operation is one of add, remove and inc with its operand",
        arguments: [
            (#"{"add":["x"]}"#, nil),
            (#"{"remove":[1,"x"]}"#, nil),
            (#"{"inc":-3}"#, nil),
            (#"{"inc":1,"other":2}"#, nil),
            (#"{"add":"x"}"#, "attributes.a.add: must be an array of values, not a string"),
            (#"{"remove":{}}"#, "attributes.a.remove: must be an array of values, not an object"),
            (
                #"{"inc":1.5}"#,
                "attributes.a.inc: must be a whole number of 64 bits, written without fraction or exponent"
            ),
            (
                #"{"inc":"1"}"#,
                "attributes.a.inc: must be a whole number of 64 bits, written without fraction or exponent"
            ),
            (#"{"add":["x"],"remove":["y"]}"#, "attributes.a: must be one of add, remove and inc, not several"),
        ])
    func operations(value: String, expected: String?) throws { #expect(try reason(value) == expected) }
}
