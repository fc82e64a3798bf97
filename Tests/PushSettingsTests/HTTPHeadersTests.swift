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
