import PushModel
import Testing

@Suite("Text shown on a terminal")
struct ShownTextTests {
    @Test("has each control character of Unicode as its number, and everything else as it is")
    func controls() {
        let wrong = (0...UInt32(0x2FFFF)).compactMap(Unicode.Scalar.init).filter { scalar in
            let isControl = scalar.properties.generalCategory == .control
            return (String(scalar).showingControls() != String(scalar)) != isControl
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(9).map(\.value))")
        #expect("a\u{1B}[31mb\n\u{9F}é".showingControls() == #"a\x1b[31mb\x0a\x9fé"#)
        #expect("a\n\tb".showingControls(except: "\n") == "a\n\\x09b")
    }
}
