import TestSupport
import Testing

@testable import PushModel

@Suite("A glob")
struct GlobTests {
    @Test(
        "a glob matches the whole text, not a part of it",
        arguments: [
            ("", ""), ("a", "a"), ("*", ""), ("*", "anything"), ("a*", "a"), ("*a", "banana"), ("a*b*c", "a1b2b3c"),
            ("**", "x"), ("?", "x"), ("?", "é"), ("??", "ab"), ("[abc]", "b"), ("[a-c]x", "bx"), ("[!a-c]", "d"),
            ("[^a-c]", "d"), ("[]]", "]"), ("[!]]", "x"), ("[a-]", "-"), ("[-a]", "-"), ("summer-*", "summer-2026"),
            ("\\*", "*"), ("\\\\", "\\"), ("a\\", "a\\"), ("[a", "[a"), ("[", "["), ("[]", "[]"), ("*.[ch]", "x.c"),
            ("[à-ü]", "é"), ("*a*b", "aXbab"),
        ])
    func matches(pattern: String, text: String) {
        #expect(Glob(pattern).matches(text))
    }

    @Test(
        "does not match a part, nor a text that the pattern excludes",
        arguments: [
            ("", "a"), ("a", ""), ("a", "ab"), ("a", "ba"), ("a", "A"), ("?", ""), ("?", "ab"), ("a*b", "abc"),
            ("[abc]", "d"), ("[!a-c]", "b"), ("[c-a]", "b"), ("\\*", "x"), ("\\?", "x"), ("[a", "a"), ("[]", ""),
            ("a*b*c", "acb"), ("*a*b", "ba"),
        ])
    func refuses(pattern: String, text: String) {
        #expect(!Glob(pattern).matches(text))
    }

    @Test("takes little time for many stars and a text that nearly matches")
    func manyStars() {
        let pattern = String(repeating: "a*", count: 50) + "b"
        #expect(!Glob(pattern).matches(String(repeating: "a", count: 2000)))
    }

    @Test("a glob prints as it was written")
    func description() {
        #expect(Glob("a**[b").description == "a**[b")
    }

    @Test("reads each byte of the text at most once for each 64 between two stars", arguments: [8, 64, 65, 300])
    func wordCount(length: Int) {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 20_000)
        for end in ["b", "?b", "[b-c]"] {
            let pattern = Glob("*" + String(repeating: "a", count: length - 1) + end + "*")
            var wordCount = 0
            #expect(!text.withUnsafeBufferPointer { pattern.matches($0, wordCount: &wordCount) })
            #expect(wordCount <= text.count * ((length + end.utf8.count + 62) / 64), "\(wordCount) looks")
        }
        // A text without a possible first byte costs no look.
        var wordCount = 0
        #expect(!text.withUnsafeBufferPointer { Glob("*ba*").matches($0, wordCount: &wordCount) })
        #expect(wordCount == 0)
    }

    @Test("agrees with a simple matcher on any pattern and any text")
    func property() {
        var random = SeededGenerator(seed: 20_261_123)
        let alphabet: [String] = ["a", "b", "é", "日", "🚀"]
        let pieces = alphabet + ["*", "*", "?", "[ab]", "[!a]", "[é-日]", "[!é]"]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? ""
            }
            let pattern = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            let found = Glob(pattern.joined()).matches(text.joined())
            #expect(found == isMatch(pattern[...], text[...]), "\(pattern.joined()) of \(text.joined())")
        }
    }

    @Test("agrees with it on long parts too, whose bits are in several words")
    func longParts() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let text = (0..<400).map { _ in Int.random(in: 0..<40, using: &random) == 0 ? "é" : "a" }
            let start = Int.random(in: 0..<200, using: &random)
            var part = Array(text[start..<start + Int.random(in: 60..<200, using: &random)])
            for _ in 0..<3 { part[Int.random(in: 0..<part.count, using: &random)] = "?" }
            part[Int.random(in: 0..<part.count, using: &random)] =
                ["a", "é", "[a-é]"].randomElement(using: &random) ?? ""
            let pattern = ["*"] + part + ["*"]
            #expect(Glob(pattern.joined()).matches(text.joined()) == isMatch(pattern[...], text[...]))
        }
    }

    /// The simple matcher, on characters and on patterns in pieces.
    private func isMatch(_ pattern: ArraySlice<String>, _ text: ArraySlice<String>) -> Bool {
        guard let piece = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        if piece == "*" { return isMatch(rest, text) || !text.isEmpty && isMatch(pattern, text.dropFirst()) }
        guard let character = text.first else { return false }
        let fits =
            switch piece {
            case "?": true
            case "[ab]": "ab".has(character)
            case "[!a]": character != "a"
            case "[é-日]": "é日".has(character)
            case "[a-é]": "abé".has(character)
            case "[!é]": character != "é"
            default: piece == character
            }
        return fits && isMatch(rest, text.dropFirst())
    }
}
