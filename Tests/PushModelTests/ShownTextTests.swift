import Testing

@testable import PushModel

@Suite("Text shown on a terminal")
struct ShownTextTests {
    @Test("has each control character and each mark of direction as its number, and every other character unchanged")
    func controls() {
        let marks: Set<UInt32> = [
            0x61C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
        ]
        let wrong = (0...UInt32(0x2FFFF)).compactMap(Unicode.Scalar.init).filter { scalar in
            let isControl = scalar.properties.generalCategory == .control || marks.contains(scalar.value)
            return (String(scalar).showingControls() != String(scalar)) != isControl
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(9).map(\.value))")
        #expect("a\u{1B}[31mb\n\u{9F}é".showingControls() == #"a\x1b[31mb\x0a\x9fé"#)
        #expect("a\u{202E}b\u{61C}".showingControls() == #"a\u202eb\u061c"#)
        #expect("a\r\n\tb".showingControlsInLines() == "a\\x0d\n\\x09b")
    }

    @Test(
        "in JSON has escapes that mean the same",
        arguments: [
            "", "é", "\u{E9}\u{9B}31m\u{7F}", "\u{202E}gnp.exe", "\u{61C}\u{2066}a", "\u{2065}\u{628}€", "😀\u{85}",
        ])
    func json(text: String) throws {
        let raw = Array("{\"a\":\"\(text)\"}".utf8)
        let escaped = escapingControls(inJSON: raw)
        var writer = JSONWriter()
        writer.object { $0.member("a", text) }
        #expect(escaped == writer.bytes)
        let steers = String(decoding: escaped, as: UTF8.self).unicodeScalars.contains { $0.isSteering }
        #expect(!steers)
        #expect(try JSONDocument(scanning: escaped).root["a"]?.string == text)
    }
}
