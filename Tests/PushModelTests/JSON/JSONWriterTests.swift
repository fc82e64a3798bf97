import Testing

@testable import PushModel

@Suite("The writer")
struct JSONWriterTests {
    @Test("puts only commas and colons between values")
    func structure() {
        #expect(written { $0.object { _ in } } == "{}")
        #expect(written { $0.array { _ in } } == "[]")
        let text = written {
            $0.object {
                $0.member("ok", true)
                $0.member("seq", 41)
                $0.member("empty", object: { _ in })
                $0.member(
                    "list",
                    array: {
                        $0.int(1)
                        $0.array { $0.null() }
                        $0.object { $0.member("x", 0.5) }
                        $0.bool(false)
                    })
                $0.member("end", "é")
            }
        }
        #expect(text == #"{"ok":true,"seq":41,"empty":{},"list":[1,[null],{"x":0.5},false],"end":"é"}"#)
    }

    @Test("writes nil as null, whatever the type")
    func null() {
        let text = written {
            $0.object {
                $0.member("s", nil as String?)
                $0.member("i", nil as Int64?)
                $0.member("d", nil as Double?)
                $0.member("b", nil as Bool?)
            }
        }
        #expect(text == #"{"s":null,"i":null,"d":null,"b":null}"#)
    }

    @Test("has separate begin and end calls for cases without a closure")
    func beginAndEnd() {
        var writer = JSONWriter()
        writer.beginArray()
        for number in [1, 2] as [UInt8] {
            writer.beginObject()
            writer.key("n")
            writer.int(number)
            writer.endObject()
        }
        writer.endArray()
        #expect(writer.bytes == Array(#"[{"n":1},{"n":2}]"#.utf8))
    }

    @Test("the JSON writer inserts JSON text unchanged")
    func raw() throws {
        let node = try JSONDocument(scanning: Array(#"{"a":[ 4503599627370497.5,"\u0041" ]}"#.utf8)).root
        let bytes = try #require(node["a"]).rawBytes
        let text = written {
            $0.object {
                $0.member("first", raw: bytes)
                $0.member("second", array: { $0.raw(bytes) })
            }
        }
        #expect(text == #"{"first":[ 4503599627370497.5,"\u0041" ],"second":[[ 4503599627370497.5,"\u0041" ]]}"#)
    }

    @Test(
        "escapes only the necessary characters, in strings and keys",
        arguments: [
            ("", ""), ("a/b", "a/b"), ("\"", "\\\""), ("\\", "\\\\"), ("\n\r\t", "\\u000a\\u000d\\u0009"),
            ("\0\u{1F}\u{20}\u{7F}", "\\u0000\\u001f \\u007f"), ("\u{2028}é😀", "\u{2028}é😀"),
            ("say \"hi\"\\", "say \\\"hi\\\"\\\\"),
        ])
    func escapes(text: String, expected: String) {
        #expect(written { $0.string(text) } == "\"\(expected)\"")
        #expect(written { $0.object { $0.member(text, 1) } } == "{\"\(expected)\":1}")
    }

    @Test(
        "writes doubles by their shortest digits, and null for values that JSON lacks",
        arguments: [
            (0.1, "0.1"), (1, "1.0"), (-0.0, "-0.0"), (1e20, "1e+20"), (.leastNonzeroMagnitude, "5e-324"),
            (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.infinity, "null"), (.nan, "null"),
        ] as [(Double, String)])
    func doubles(value: Double, expected: String) {
        #expect(written { $0.double(value) } == expected)
    }

    @Test("the JSON writer writes integers of every width")
    func integers() {
        let text = written {
            $0.array {
                $0.int(Int64.min)
                $0.int(UInt64.max)
                $0.int(UInt8(0))
            }
        }
        #expect(text == "[-9223372036854775808,18446744073709551615,0]")
    }

    @Test("takes a member back, with the comma before it, and goes on")
    func takenBack() {
        let text = written {
            $0.object { writer in
                for (key, isKept) in [("a", false), ("b", true), ("c", false), ("d", true)] {
                    let position = writer.position
                    writer.member(key, array: { $0.int(1) })
                    if !isKept { writer.cut(to: position) }
                }
            }
        }
        #expect(text == #"{"b":[1],"d":[1]}"#)
    }

    private func written(_ content: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        content(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
