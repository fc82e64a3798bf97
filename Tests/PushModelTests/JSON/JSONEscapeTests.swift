import Testing

@testable import PushModel

@Suite("Escapes of four hexadecimal digits")
struct JSONEscapeTests {
    @Test("stand for their characters, in a key and in a value, in either case, and for the length of the text")
    func everyUnit() throws {
        for unit in 1...0xFFFF where unit & 0xF800 != 0xD800 {
            let digits = hexadecimal(unit, digits: 4)
            let expected = Unicode.Scalar(UInt32(unit)).map { String(Character($0)) }
            for digits in [digits, digits.lowercased()] {
                let text = "{\"\\u\(digits)k\":\"v\\u\(digits)\"}"
                let root = try JSONDocument(scanning: Array(text.utf8)).root
                let member = try #require(root.members.first)
                let lengths = root.withView { $0.members.map { [$0.key.textLength, $0.value.textLength] }.first }
                guard Array(member.key.utf8) == Array("\(expected ?? "")k".utf8),
                    member.value.string.map({ Array($0.utf8) }) == Array("v\(expected ?? "")".utf8),
                    lengths == [member.key.utf8.count, member.key.utf8.count]
                else {
                    Issue.record("\\u\(digits) was read as \(member)")
                    return
                }
            }
        }
    }

    @Test("accept no other byte as a digit, in any place", arguments: 0..<4)
    func wrongDigit(place: Int) {
        for byte in UInt8.min...UInt8.max where hexadecimalValue(of: byte) == nil {
            for (before, after) in [("{\"\\u", "k\":1}"), ("\"\\u", " and more of it\"")] {
                var text = Array((before + "0041" + after).utf8)
                text[before.utf8.count + place] = byte
                #expect(throws: JSONError.self) { try JSONDocument(scanning: text) }
            }
        }
    }

    @Test("in a key of any length are unescaped before a look-up", arguments: 0..<40)
    func lookUp(length: Int) throws {
        let rest = String(repeating: "k", count: length)
        for key in ["\\u0061\(rest)", "\(rest)\\u0061", "\(rest)\\n", "\\n\(rest)"] {
            let plain = key.replacing("\\u0061", with: "a").replacing("\\n", with: "\n")
            let root = try JSONDocument(scanning: Array("{\"\(key)\":1,\"other\":2}".utf8)).root
            #expect(root[plain]?.int64 == 1)
            let twice = Array("{\"\(key)\":1,\"\(key)\":2}".utf8)
            #expect(throws: JSONError.self) { try JSONDocument(scanning: twice) }
        }
    }

    @Test("are unescaped where a text is compared with its beginning")
    func beginnings() throws {
        let plain = "com.é\u{1F600}\n\"/x"
        let units = ["\\u0063om.é\\ud83d\\ude00\\n\\\"\\/x", "c\\u006fm\\u002e\\u00e9\u{1F600}\\u000a\\u0022/x"]
        for text in units {
            let document = try JSONDocument(scanning: Array("{\"\(text)\":1}".utf8))
            for length in 0...plain.unicodeScalars.count {
                var beginning = String.UnicodeScalarView()
                beginning.append(contentsOf: plain.unicodeScalars.prefix(length))
                document.root.withView { view in
                    for (key, _) in view.members {
                        #expect(key.starts(with: String(beginning)), "\(text): \(beginning)")
                        #expect(!key.starts(with: String(beginning) + "y"), "\(text): \(beginning)y")
                    }
                }
            }
        }
    }

    @Test("survive the growth of the tape", arguments: [0, 10, 1_000, 100_000])
    func growth(plain: Int) throws {
        let deep = String(repeating: "{\"a\":", count: 20) + "1" + String(repeating: "}", count: 20)
        let wide = "{" + (0..<50).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
        let parts = (0..<200).map { $0.isMultiple(of: 2) ? deep : wide }.joined(separator: ",")
        let text = "{\"x\":\"\(String(repeating: "x", count: plain))\",\"list\":[\(parts)],\"last\":[[],{}]}"
        let root = try JSONDocument(scanning: Array(text.utf8)).root
        #expect(root.members.map(\.key) == ["x", "list", "last"])
        let list = try #require(root["list"]?.elements)
        #expect(list.count == 200)
        #expect(list.filter { $0.count == 1 }.allSatisfy { String(decoding: $0.rawBytes, as: UTF8.self) == deep })
        #expect(list.filter { $0.count == 50 }.allSatisfy { $0["k49"]?.int64 == 49 })
        #expect(root["last"]?.elements.map(\.count) == [0, 0])
    }
}
