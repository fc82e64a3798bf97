import Testing

@testable import PushModel
@testable import PushRouter

/// A text of so many letters.
func letters(_ count: Int, _ letter: String = "x") -> String { String(repeating: letter, count: count) }

/// An object of so many bytes, at least 51,000, without white space; about 200 members with a text each.
func object(ofBytes bytes: Int) -> String {
    let members = (0..<203).map { #""p\#(1000 + $0)":"\#(letters(240))""# }
    let last = #""rest":"\#(letters(bytes - 203 * 251 - 11))""#
    return "{ \((members + [last]).joined(separator: " ,\n")) }"
}

@Suite("Checks of events")
struct EventCheckTests {
    private func reason(_ json: String) throws -> String? {
        var bench = CustomDataBench()
        let rejections = try bench.log(.customEvent, json)
        #expect(rejections.count <= 1, "an event is set aside as a whole")
        #expect(bench.data.summary.pending == 1 - rejections.count)
        #expect(bench.reason(1) == rejections.first?.problem.text)
        return bench.reason(1)
    }

    private func reason(properties: String) throws -> String? {
        try reason(#"{"name":"e","properties":\#(properties)}"#)
    }

    @Test(
        "a name is a string of 1 to 255 characters",
        arguments: [
            (#"{}"#, "name: is missing"),
            (#"{"name":null}"#, "name: must be the name of the event, a string, not null"),
            (#"{"name":""}"#, "name: the name is empty"),
            (#"{"name":"\#(letters(256))"}"#, "name: a name has at most 255 characters; this one has 256"),
            (#"{"name":"\#(letters(256, "é"))"}"#, "name: a name has at most 255 characters; this one has 256"),
            (#"{"name":"\#(letters(255))"}"#, nil),
            (#"{"name":"\#(letters(255, "é"))"}"#, nil),
            (#"{"name":"\#(letters(255, "\\u00e9"))"}"#, nil),
            (#"{"name":" "}"#, nil),
        ])
    func names(json: String, expected: String?) throws { #expect(try reason(json) == expected) }

    @Test(
        "the name of a property is not empty, not too long, not reserved and does not begin with $",
        arguments: [
            ("{}", nil),
            (#"{"a":1}"#, nil),
            (#"{"Time":1,"eventName":2}"#, nil),
            (#"{"a":{"time":1,"event_name":"x"}}"#, nil),
            (#"{"":1}"#, #"properties."": the name is empty"#),
            (#"{"$a":1}"#, "properties.$a: the name of a property does not begin with $"),
            (#"{"a$":1}"#, nil),
            (#"{"a":{"$b":1}}"#, "properties.a.$b: the name of a property does not begin with $"),
            (#"{"\#(letters(255))":1}"#, nil),
            (
                #"{"\#(letters(256))":1}"#,
                "properties.\(letters(64))...: a name has at most 255 characters; this one has 256"
            ),
            (#"{"\u0074ime":1}"#, "properties.time: the API reserves this name; call it another"),
        ])
    func propertyNames(properties: String, expected: String?) throws {
        #expect(try reason(properties: properties) == expected)
    }

    @Test(
        "the value of a property is a number, true, false, a string of 255 characters, an array or an object",
        arguments: [
            (#"{"a":-0.5e-7,"b":true,"c":"\#(letters(255))","d":[1,"x",[true],{"e":2}],"f":{"g":{"h":1}}}"#, nil),
            (#"{"a":99999999999999999999}"#, nil),
            (#"{"a":"2026-11-21T09:00:00.123Z"}"#, nil),
            (#"{"a":""}"#, nil),
            (#"{"a":"\#(letters(256))"}"#, "properties.a: a text has at most 255 characters; this one has 256"),
            (
                #"{"a":[0,{"b":"\#(letters(256))"}]}"#,
                "properties.a[1].b: a text has at most 255 characters; this one has 256"
            ),
            (#"{"a":null}"#, "properties.a: null cannot be the value of a property; leave the property out"),
            (
                #"{"a":[[1],[null]]}"#,
                "properties.a[1][0]: null cannot be the value of a property; leave the property out"
            ),
        ])
    func values(properties: String, expected: String?) throws {
        #expect(try reason(properties: properties) == expected)
    }

    @Test(
        "properties of an event that are not an object are refused",
        arguments: [
            ("[]", "an array"), (#""a""#, "a string"), ("1", "a number"), ("null", "null"), ("true", "true or false"),
        ])
    func notAnObject(properties: String, kind: String) throws {
        #expect(
            try reason(properties: properties) == "properties: must be an object of names and values, not \(kind)")
    }

    @Test("there are at most 256 properties")
    func count() throws {
        func object(_ count: Int) -> String { "{\((0..<count).map { #""p\#($0)":1"# }.joined(separator: ","))}" }
        #expect(try reason(properties: object(256)) == nil)
        #expect(
            try reason(properties: object(257)) == "properties: an event has at most 256 properties; this one has 257")
    }

    @Test("the properties have at most 51,200 bytes, without white space between them")
    func size() throws {
        #expect(try reason(properties: object(ofBytes: 51_200)) == nil)
        #expect(
            try reason(properties: object(ofBytes: 51_201))
                == "properties: the properties have at most 51200 bytes; these have 51201")
    }

    @Test("an event without properties is valid, and is sent without any")
    func noProperties() throws {
        var bench = CustomDataBench()
        try bench.log(.customEvent, #"{"name":"plain"}"#)
        try bench.log(.customEvent, #"{"name":"empty","properties":{ }}"#)
        #expect(bench.text(1) == "{}")
        bench.flush()
        #expect(
            bench.events.map(\.content) == [
                .customEvent(name: "plain", properties: nil), .customEvent(name: "empty", properties: nil),
            ])
    }

    @Test("numbers and escapes stay as written; only white space is removed")
    func verbatim() throws {
        var bench = CustomDataBench()
        try bench.log(
            .customEvent,
            #"{"name":"e","properties":{ "a" : 1.50e+02 , "b" : " \u00e9 \" } ", "c" : [ 12345678901234567890 ] }}"#)
        #expect(bench.text(1) == #"{"a":1.50e+02,"b":" \u00e9 \" } ","c":[12345678901234567890]}"#)
    }
}
