import Testing

@testable import PushModel
@testable import PushSettings

@Suite("Headers of a request to a handler")
struct HTTPHeadersTests {
    private func lines(_ value: String) -> [String] {
        var headers = HTTPHeaders()
        let bytes = Array(value.utf8)
        bytes.withUnsafeBufferPointer { headers.append("Push-Lane", escaping: $0) }
        return headers.lines
    }

    @Test(
        "have all visible characters but % and \" as they are, and other bytes percent-encoded",
        arguments: [
            ("!#$&~", "!#$&~"), (" ", "%20"), ("\"", "%22"), ("%", "%25"), ("\u{7F}", "%7F"), ("\u{1F}", "%1F"),
            ("9ß", "9%C3%9F"), ("\u{AD}", "%C2%AD"), ("", ""),
        ])
    func escapes(_ value: String, _ written: String) { #expect(lines(value) == ["Push-Lane: \(written)"]) }

    @Test(
        "have values of at most 1,024 bytes as written; longer ones are left out",
        arguments: [
            ("x", 1024, 1024), ("x", 1025, nil),
            // Three bytes each when they are written.
            (" ", 341, 1023), (" ", 342, nil),
        ] as [(String, Int, Int?)])
    func longest(_ character: String, _ count: Int, _ written: Int?) {
        let found = lines(String(repeating: character, count: count))
        #expect(found.map { $0.utf8.count - "Push-Lane: ".utf8.count } == (written.map { [$0] } ?? []))
    }

    @Test("stay apart behind a value that was left out")
    func leftOut() {
        var headers = HTTPHeaders()
        headers.append("A: 1")
        let long = [UInt8](repeating: 0x20, count: 1000)
        long.withUnsafeBufferPointer { headers.append("B", escaping: $0) }
        headers.append("C", "3")
        #expect(headers.lines == ["A: 1", "C: 3"])
    }
}

@Suite("Values of an http handler")
struct HTTPValueTests {
    @Test(
        "an address has visible ASCII alone, and a path",
        arguments: [
            ("https://x", "https://x/"), ("HTTP://X?a", "http://x/?a"), ("https://x/!~", "https://x/!~"),
            ("https://x/ ", nil), ("https://x/\u{7F}", nil), ("https://x/ä", nil), ("https:/x", nil), ("https://", nil),
            ("https://x:1/", "https://x:1/"), ("https://x:65535/", "https://x:65535/"), ("https://x:65536/", nil),
        ] as [(String, String?)])
    func addresses(_ text: String, _ address: String?) {
        #expect((try? Form<String>.webAddress.parse(text)) == address)
    }

    @Test("a header has a value of visible ASCII and a name that is free, and a secret is a file or a credential")
    func headersAndSecrets() {
        for (text, line) in [
            ("X: a", "X: a"), ("X:\t a", "X: a"), ("a:b:c", "a: b:c"), ("X: ~!", "X: ~!"), ("hostx: y", "hostx: y"),
            ("Push: 1", "Push: 1"), ("X:", nil), (" X: a", nil), ("X: \u{1F}", nil), ("X: a\u{7F}", nil),
            ("Host: x", nil), ("Ce-id: 1", nil), ("push-x: 1", nil), (": a", nil),
        ] as [(String, String?)] {
            #expect((try? Form<[String]>.header.parse(text)) == line.map { [$0] }, "\(text)")
        }
        let longest = String(repeating: "x", count: 255)
        for text in [longest, "a-b_c.9Z", "/x y", "/" + longest] {
            #expect((try? Form<String>.secretPlace.parse(text)) == text, "\(text)")
        }
        for text in [longest + "x", ".x", "a b", "a/b", "whsec_x", "ä"] {
            #expect((try? Form<String>.secretPlace.parse(text)) == nil, "\(text)")
        }
    }
}
