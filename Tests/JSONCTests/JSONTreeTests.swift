import TestSupport
import Testing

@testable import JSONC
@testable import PushModel

@Suite("A document in json-c")
struct JSONTreeTests {
    private func printed(_ text: String, _ style: JSONTree.Style = .line) throws -> String {
        String(decoding: try JSONTree(scanning: Array(text.utf8)).bytes(style), as: UTF8.self)
    }

    static let bent = [
        #""\ud83d\ude00""#, #""\u0000""#, #""a\/b""#, #""\u00e9\n""#, "9223372036854775808", "-9223372036854775809",
        "123456789012345678901234567890", "-0", "0.0", "1.50", "1E5", "1e-7", "0.1000000000000000055511151231257827",
        "1e308",
    ]

    @Test("has the original bytes of values that json-c would change", arguments: bent)
    func keepsBytes(text: String) throws {
        #expect(try printed(text) == text)
        #expect(try printed("{\"a\":[\(text),{\"b\":\(text)}]}") == "{\"a\":[\(text),{\"b\":\(text)}]}")
    }

    @Test(
        "does not exist for a text that the scan refuses",
        arguments: [#"{"a":1,"a":2}"#, "NaN", "1e999", #""\ud800""#, "[1,]", "'a'"])
    func refusal(text: String) {
        #expect(throws: JSONError.self) { try JSONTree(scanning: Array(text.utf8)) }
    }

    @Test("keeps keys apart that json-c would confuse")
    func keys() throws {
        let text = #"{"\ud83d\ude00":1,"\ud83d\ude01":2}"#
        #expect(try printed(text) == "{\"\u{1F600}\":1,\"\u{1F601}\":2}")
    }

    @Test("has for people each value on its own line, indented by its depth")
    func indented() throws {
        #expect(
            try printed(#"{"a":{"b":1.50},"c":[],"d":["x",null]}"#, .indented) == """
                {
                  "a": {
                    "b": 1.50
                  },
                  "c": [
                  ],
                  "d": [
                    "x",
                    null
                  ]
                }
                """)
    }

    @Test("has members by name and type")
    func reading() throws {
        let text =
            #"{"s":"a\u0000\ud83d\ude00","i":-7,"f":1.0,"big":9223372036854775808,"b":false,"n":null,"l":[1,"x"]}"#
        let root = try JSONTree(scanning: Array(text.utf8)).root
        #expect(root.isObject)
        #expect(root["s"]?.string == "a\0\u{1F600}")
        #expect(root["i"]?.int64 == -7)
        #expect(root["f"]?.int64 == nil && root["big"]?.int64 == nil && root["s"]?.int64 == nil)
        #expect(root["b"]?.bool == false && root["i"]?.bool == nil)
        #expect(root["n"] != nil && root["n"]?.string == nil)
        #expect(root["l"]?.elements.map(\.int64) == [1, nil])
        #expect(root["x"] == nil && root["s\0"] == nil && root["i"]?["x"] == nil)
        #expect(root["l"].map { String(decoding: $0.bytes, as: UTF8.self) } == #"[1,"x"]"#)
    }

    @Test("is printed as by the canonical writer, for random documents with hostile values")
    func property() throws {
        var generator = SeededGenerator(seed: 46)
        for _ in 0..<3000 {
            let text = HostileJSON.text(depth: 4, using: &generator)
            let document = try JSONDocument(scanning: Array(text.utf8))
            var writer = JSONWriter()
            HostileJSON.write(document.root, to: &writer)
            let tree = JSONTree(document.root)
            // The writer escapes terminal control characters; the tree prints payloads unchanged.
            let expected = escapingControls(inJSON: writer.bytes)
            try #require(escapingControls(inJSON: tree.bytes()) == expected, "\(text)")
            // The indented text is the same document, and printing changes nothing.
            let again = try JSONTree(scanning: tree.bytes(.indented))
            try #require(escapingControls(inJSON: again.bytes()) == expected, "\(text)")
            try #require(escapingControls(inJSON: tree.bytes()) == expected, "\(text)")
        }
    }
}
