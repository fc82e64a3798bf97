import PushModel
import Testing

@Suite("A word of a shell")
struct ShellWordTests {
    @Test(
        "is one word, whatever stands behind a quote",
        arguments: [
            ("pixel-8", "pixel-8"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("/tmp/x", "'/tmp/x'"),
            ("'\u{301}; rm -rf", "''\\''\u{301}; rm -rf'"), ("'\u{200D}'", "''\\''\u{200D}'\\'''"),
        ])
    func quoted(_ text: String, _ word: String) {
        #expect(Array(text.asShellWord.utf8) == Array(word.utf8))
    }
}
