import PushModel
import Testing

@Suite("A glob")
struct GlobTests {
    @Test(
        "matches the whole text",
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
        "does not match a part, nor what the pattern excludes",
        arguments: [
            ("", "a"), ("a", ""), ("a", "ab"), ("a", "ba"), ("a", "A"), ("?", ""), ("?", "ab"), ("a*b", "abc"),
            ("[abc]", "d"), ("[!a-c]", "b"), ("[c-a]", "b"), ("\\*", "x"), ("\\?", "x"), ("[a", "a"), ("[]", ""),
            ("a*b*c", "acb"), ("*a*b", "ba"),
        ])
    func refuses(pattern: String, text: String) {
        #expect(!Glob(pattern).matches(text))
    }

    @Test("is not slow for many stars and a text that nearly matches")
    func manyStars() {
        let pattern = String(repeating: "a*", count: 50) + "b"
        #expect(!Glob(pattern).matches(String(repeating: "a", count: 2000)))
    }

    @Test("prints as it was written")
    func description() {
        #expect(Glob("a**[b").description == "a**[b")
    }
}
