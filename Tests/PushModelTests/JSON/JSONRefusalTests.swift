import Testing

@testable import PushModel

/// A text that the scan must refuse, with the expected error.
struct Refusal: CustomTestStringConvertible, Sendable {
    var text: [UInt8]
    var code: JSONError.Code
    var offset: Int
    var words: String

    init(_ text: String, _ code: JSONError.Code = .invalidJSON, at offset: Int, _ words: String) {
        self.init(Array(text.utf8), code, at: offset, words)
    }

    init(_ text: [UInt8], _ code: JSONError.Code = .invalidJSON, at offset: Int, _ words: String) {
        self.text = text
        self.code = code
        self.offset = offset
        self.words = words
    }

    var testDescription: String { String(decoding: text.prefix(40), as: UTF8.self) }
}

@Suite("The scan refuses")
struct JSONRefusalTests {
    @Test("invalid JSON, with code, offset and reason", arguments: grammar + strings + numbers)
    func notJSON(refusal: Refusal) throws { try expect(refusal) }

    @Test(
        "a text that ends behind an escape, as one that ends within its string",
        arguments: ["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0041", "\\ud83d\\ude00"])
    func endsBehindEscape(escape: String) throws {
        for (begin, place) in [("\"", 0), ("\"ab", 0), ("[1, \"", 4), ("{\"", 1), ("{\"a\":\"", 5)] {
            let text = begin + escape
            try expect(Refusal(text, at: text.utf8.count, "ends within the string that begins at byte \(place)"))
        }
    }

    @Test("invalid UTF-8, with the offset of the character's first byte", arguments: encodings)
    func notUTF8(refusal: Refusal) throws { try expect(refusal) }

    @Test("the same key twice in one object, compared after unescaping", arguments: duplicates)
    func duplicateKey(refusal: Refusal) throws { try expect(refusal) }

    @Test("every control character in a string", arguments: 0...0x1F as ClosedRange<UInt8>)
    func control(character: UInt8) throws {
        let digits = String(character, radix: 16, uppercase: true)
        let escape = "write \\u" + String(repeating: "0", count: 4 - digits.count) + digits
        try expect(Refusal([0x22, 0x61, character, 0x22], at: 2, escape))
        // Beyond the first eight bytes, where the scan reads single bytes again.
        try expect(Refusal([0x22] + Array(repeating: 0x61, count: 20) + [character, 0x22], at: 21, escape))
    }

    @Test("every byte that cannot begin a value")
    func strayBytes() throws {
        let beginnings = Set("{[\"-0123456789tfn \n\r\t".utf8)
        for byte in UInt8.min...UInt8.max where !beginnings.contains(byte) {
            let error = #expect(throws: JSONError.self) { try JSONDocument(scanning: [0x20, byte]) }
            #expect(error?.offset == 1)
            #expect(error?.code == (byte < 0x80 ? .invalidJSON : .invalidUTF8))
        }
    }

    @Test("one level more than the limit, at its bracket")
    func tooDeep() throws {
        try expect(Refusal("[[[]]]", .tooDeep, at: 2, "more than 2 deep"), limits: JSONLimits(depth: 2))
        try expect(Refusal("{\"a\":[{}]}", .tooDeep, at: 6, "more than 2 deep"), limits: JSONLimits(depth: 2))
        try expect(Refusal("[]", .tooDeep, at: 0, "more than 0 deep"), limits: JSONLimits(depth: 0))
        try expect(Refusal(String(repeating: "[", count: 10_000), .tooDeep, at: 32, "more than 32 deep"))
    }

    @Test("one value more than the limit, keys counted too", arguments: [1, 7, 1000, 65_536])
    func tooManyValues(limit: Int) throws {
        func list(_ count: Int) -> String { "[\(Array(repeating: "1", count: count - 1).joined(separator: ","))]" }
        func object(_ members: Int) -> String { "{\((0..<members).map { "\"k\($0)\":1" }.joined(separator: ","))}" }
        _ = try JSONDocument(scanning: Array(list(limit).utf8), limits: JSONLimits(values: limit))
        let words = "more than \(limit) values, keys counted too"
        let refusal = Refusal(list(limit + 1), .tooLong, at: limit * 2 - 1, words)
        try expect(refusal, limits: JSONLimits(values: limit))
        // The table of an object's keys does not count.
        let members = (limit - 1) / 2
        _ = try JSONDocument(scanning: Array(object(members).utf8), limits: JSONLimits(values: limit))
        let error = #expect(throws: JSONError.self) {
            try JSONDocument(scanning: Array(object(members + 1).utf8), limits: JSONLimits(values: limit))
        }
        #expect(error?.code == .tooLong)
    }

    @Test("a million unclosed levels, without a stack overflow")
    func bottomless() throws {
        let text = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        try expect(
            Refusal(text, at: 1_000_000, "a value is expected; the text ends here"), limits: JSONLimits(depth: .max))
    }

    @Test("every proper prefix of a document, at its end")
    func truncated() throws {
        let whole = Array(#"{"a":[1.5e3,{"b\n":"\ud83d\ude00é"}],"c":[true,false,null,""]}"#.utf8)
        _ = try JSONDocument(scanning: whole)
        for length in whole.indices {
            let error = #expect(throws: JSONError.self) { try JSONDocument(scanning: Array(whole[..<length])) }
            // A truncated word, character or surrogate pair is wrong from its beginning on.
            #expect((length - 7...length).contains(error?.offset ?? -1), "\(length)")
        }
    }

    @Test(
        "a string whose closing quotation mark lies behind the end of the text",
        arguments: [
            "\"\"", #""abc""#, #""a\nb""#, #""a long text\n""#, #""\n\t\r\\""#, #""\u00e9""#, "\"\u{E9}\"", #"{"k\n""#,
        ])
    func quoteBehind(_ text: String) {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            let cut = UnsafeBufferPointer(rebasing: bytes.dropLast())
            _ = #expect(throws: JSONError.self) { try JSONScanner.tape(of: cut, limits: JSONLimits()).free() }
        }
    }

    @Test("a text of 512 MiB, by its length alone")
    func longerThanOffsets() {
        let longest = 536_870_911
        // Memory that nobody touches costs nothing.
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: longest + 1)
        defer { bytes.deallocate() }
        bytes.initializeElement(at: 0, to: 0)
        for count in [longest, longest + 1] {
            let text = UnsafeBufferPointer(rebasing: bytes[..<count])
            let error = #expect(throws: JSONError.self) {
                try JSONScanner.tape(of: text, limits: JSONLimits(values: 8)).free()
            }
            #expect(error?.message.hasSuffix("the text is longer than 512 MiB") == (count > longest))
        }
    }

    @Test("a long duplicate key with its name shortened")
    func longName() throws {
        let name = String(repeating: "k", count: 100)
        try expect(
            Refusal(
                "{\"\(name)\":1,\"\(name)\":2}", .duplicateKey, at: 106,
                "the key \"\(String(repeating: "k", count: 40))...\" comes twice"))
    }

    @Test("the scan refuses a duplicate among 50,000 keys", arguments: [0, 25_000, 49_999])
    func duplicateAmongMany(index: Int) throws {
        let keys = (0..<50_000).map { "\"key\($0)\":0" }.joined(separator: ",")
        let text = "{\(keys),\"key\(index)\":0}"
        try expect(Refusal(text, .duplicateKey, at: keys.utf8.count + 2, "\"key\(index)\" comes twice"))
    }

    @Test("a duplicate in objects of every size around the threshold for hashing keys", arguments: 2...40)
    func duplicateBySize(count: Int) throws {
        let keys = (1..<count).map { "\"k\($0)\":[{}]" }
        for again in 1..<count {
            let text = "{" + (keys + ["\"k\(again)\":0"]).joined(separator: ",") + "}"
            let offset = text.utf8.count - "\"k\(again)\":0}".utf8.count
            try expect(Refusal(text, .duplicateKey, at: offset, "\"k\(again)\""))
        }
    }

    private func expect(_ refusal: Refusal, limits: JSONLimits = JSONLimits()) throws {
        let error = try #require(
            #expect(throws: JSONError.self) { try JSONDocument(scanning: refusal.text, limits: limits) })
        #expect(error.code == refusal.code)
        #expect(error.offset == refusal.offset)
        #expect(error.message.hasPrefix("at byte \(refusal.offset): "))
        #expect(error.message.contains(refusal.words))
    }

    static let grammar = [
        Refusal("", at: 0, "the text is empty"),
        Refusal(" \n\t\r", at: 4, "the text is empty"),
        Refusal("1 2", at: 2, "text follows it; found '2'"),
        Refusal("{}}", at: 2, "text follows it; found '}'"),
        Refusal("[] é", at: 3, "text follows it; found U+00E9"),
        Refusal("[]\0", at: 2, "text follows it; found byte 0x00"),
        Refusal("\u{FEFF}[]", at: 0, "byte order mark"),
        Refusal("[1,]", at: 3, "remove the comma"),
        Refusal("[,1]", at: 1, "a value is expected; found ','"),
        Refusal("[1,,2]", at: 3, "a value is expected; found ','"),
        Refusal("{\"a\":1,}", at: 7, "remove the comma"),
        Refusal("{,}", at: 1, "a key in double quotes is expected; found ','"),
        Refusal("[1 2]", at: 3, "a comma or ']' is expected; found '2'"),
        Refusal("[1}", at: 2, "a comma or ']' is expected; found '}'"),
        Refusal("{\"a\":1]", at: 6, "a comma or '}' is expected; found ']'"),
        Refusal("{\"a\":1 \"b\":2}", at: 7, "a comma or '}' is expected"),
        Refusal("{\"a\" 1}", at: 5, "a ':' is expected after a key"),
        Refusal("{\"a\":}", at: 5, "a value is expected"),
        Refusal("{\"a\"}", at: 4, "a ':' is expected"),
        Refusal("{a:1}", at: 1, "a key in double quotes is expected"),
        Refusal("{1:1}", at: 1, "a key in double quotes is expected"),
        Refusal("{'a':1}", at: 1, "a key in double quotes is expected"),
        Refusal("]", at: 0, "a value is expected"),
        Refusal("{\"a\":]", at: 5, "a value is expected"),
        Refusal("['a']", at: 1, "a string needs double quotes"),
        Refusal("/* none */ 1", at: 0, "no comments"),
        Refusal("[1,// none\n2]", at: 3, "no comments"),
        Refusal("# none\n1", at: 0, "no comments"),
        Refusal("True", at: 0, "in lower case; found 'True'"),
        Refusal("[nul]", at: 1, "found 'nul'"),
        Refusal("tru", at: 0, "found 'tru'"),
        Refusal("truey", at: 4, "text follows it"),
        Refusal("undefined", at: 0, "found 'undefined'"),
        Refusal("[1\u{B}]", at: 2, "found byte 0x0B"),
        Refusal("[\u{A0}1]", at: 1, "found U+00A0"),
        Refusal("[\u{2028}1]", at: 1, "found U+2028"),
        Refusal("[1]\u{7F}", at: 3, "found byte 0x7F"),
    ]

    static let strings = [
        Refusal("\"abc", at: 4, "ends within the string that begins at byte 0"),
        Refusal("[\"abc", at: 5, "ends within the string that begins at byte 1"),
        Refusal("\"\\", at: 2, "ends within an escape"),
        Refusal("\"\\u12", at: 5, "four hexadecimal digits are expected"),
        Refusal("{\"\\", at: 3, "ends within an escape"),
        Refusal("\"\\x41\"", at: 2, "an escape is one of"),
        Refusal("\"\\U0041\"", at: 2, "an escape is one of"),
        Refusal("\"\\'\"", at: 2, "an escape is one of"),
        Refusal("\"\\u12G4\"", at: 5, "four hexadecimal digits are expected after \\u; found 'G'"),
        Refusal("\"\\u+123\"", at: 3, "four hexadecimal digits are expected"),
        Refusal("\"\\ud800\"", at: 1, "half of a surrogate pair"),
        Refusal("\"ab\\uDFFFc\"", at: 3, "half of a surrogate pair"),
        Refusal("\"\\ud800x\"", at: 1, "half of a surrogate pair"),
        Refusal("\"\\ud800\\n\"", at: 1, "half of a surrogate pair"),
        Refusal("\"\\ud800\\u0041\"", at: 1, "half of a surrogate pair"),
        Refusal("\"\\ud800\\ud800\\udc00\"", at: 1, "half of a surrogate pair"),
        Refusal("\"\\udc00\\ud800\"", at: 1, "half of a surrogate pair"),
        Refusal("\"\\ud800\\", at: 1, "half of a surrogate pair"),
        Refusal("\"\\ud800\\u", at: 9, "four hexadecimal digits are expected"),
        Refusal("{\"a\\u0000b\":1}", at: 3, "\\u0000 in a key"),
        Refusal("{\"\\ud800\":1}", at: 2, "half of a surrogate pair"),
    ]

    static let numbers = [
        Refusal("NaN", at: 0, "found 'NaN'"),
        Refusal("Infinity", at: 0, "found 'Infinity'"),
        Refusal("-Infinity", at: 1, "a digit is expected after '-'; found 'I'"),
        Refusal("01", at: 1, "does not begin with a 0"),
        Refusal("[-01]", at: 3, "does not begin with a 0"),
        Refusal("00", at: 1, "does not begin with a 0"),
        Refusal("+1", at: 0, "a number begins with a digit or '-'"),
        Refusal(".5", at: 0, "a number begins with a digit or '-'"),
        Refusal("-.5", at: 1, "a digit is expected after '-'"),
        Refusal("1.", at: 2, "after the decimal point; the text ends here"),
        Refusal("[1.e3]", at: 3, "after the decimal point; found 'e'"),
        Refusal("-", at: 1, "a digit is expected after '-'"),
        Refusal("--1", at: 1, "a digit is expected after '-'"),
        Refusal("1e", at: 2, "in the exponent"),
        Refusal("1e+", at: 3, "in the exponent"),
        Refusal("1E-x", at: 3, "in the exponent; found 'x'"),
        Refusal("1e1.5", at: 3, "text follows it"),
        Refusal("0x10", at: 1, "text follows it; found 'x'"),
        Refusal("1_000", at: 1, "text follows it; found '_'"),
        Refusal("1e999", at: 0, "beyond what a double holds"),
        Refusal("[-1e999]", at: 1, "beyond what a double holds"),
        Refusal("1e309", at: 0, "beyond what a double holds"),
        Refusal("1.7976931348623159e308", at: 0, "beyond what a double holds"),
        Refusal("0.00001e400", at: 0, "beyond what a double holds"),
        Refusal("1e99999999999999999999999999", at: 0, "beyond what a double holds"),
        Refusal("1" + String(repeating: "0", count: 309), at: 0, "beyond what a double holds"),
        Refusal("2" + String(repeating: "0", count: 308) + ".0", at: 0, "beyond what a double holds"),
    ]

    /// Bytes between quotes, from offset 1 on.
    static let encodings: [Refusal] =
        brokenEncodings.map { bytes, offset, name in
            Refusal([0x22] + bytes + [0x22], .invalidUTF8, at: 1 + offset, "byte \(name) is not part of valid UTF-8")
        } + [
            Refusal([0x22, 0xE2, 0x82], .invalidUTF8, at: 1, "0xE2"),
            Refusal([0x5B, 0xFF, 0x5D], .invalidUTF8, at: 1, "0xFF"),
            Refusal([0xFF, 0xFE, 0x31, 0x00], .invalidUTF8, at: 0, "0xFF"),
            Refusal([0x31, 0x20, 0xC3], .invalidUTF8, at: 2, "0xC3"),
            Refusal([0x22, 0x5C, 0xC3, 0x22], .invalidUTF8, at: 2, "0xC3"),
        ]

    private static let brokenEncodings: [(bytes: [UInt8], offset: Int, name: String)] =
        [
            ([0x80], 0, "0x80"),  // a continuation byte alone
            ([0xC0, 0xAF], 0, "0xC0"),  // overlong
            ([0xC1, 0xBF], 0, "0xC1"),
            ([0xE0, 0x80, 0xAF], 0, "0xE0"),
            ([0xF0, 0x80, 0x80, 0xAF], 0, "0xF0"),
            ([0xF0, 0x8F, 0xBF, 0xBF], 0, "0xF0"),
            ([0xED, 0xA0, 0x80], 0, "0xED"),  // surrogates
            ([0xED, 0xBF, 0xBF], 0, "0xED"),
            ([0xF4, 0x90, 0x80, 0x80], 0, "0xF4"),  // beyond U+10FFFF
            ([0xF5, 0x80, 0x80, 0x80], 0, "0xF5"),
            ([0xF8, 0x88, 0x80, 0x80, 0x80], 0, "0xF8"),
            ([0xFE], 0, "0xFE"),
            ([0xFF], 0, "0xFF"),
            ([0x61, 0xC3], 1, "0xC3"),  // cut short
            ([0x61, 0xE2, 0x82], 1, "0xE2"),
            ([0x61, 0xF0, 0x9F, 0x98], 1, "0xF0"),
            ([0xC3, 0xA9, 0xE2, 0x28, 0xA1], 2, "0xE2"),
            ([0xF0, 0x9F, 0x28, 0x80], 0, "0xF0"),
            ([0xC3, 0xA9, 0x80], 2, "0x80"),
        ]

    static let duplicates = [
        Refusal(#"{"a":1,"a":2}"#, .duplicateKey, at: 7, "the key \"a\" comes twice in one object"),
        Refusal(#"{"a":1,"\u0061":2}"#, .duplicateKey, at: 7, "the key \"a\""),
        Refusal(#"{"\u0061":1,"a":2}"#, .duplicateKey, at: 12, "the key \"a\""),
        Refusal(#"{"a/b":1,"a\/b":2}"#, .duplicateKey, at: 9, "the key \"a/b\""),
        Refusal(#"{"😀":1,"\uD83D\uDE00":2}"#, .duplicateKey, at: 10, "the key \"😀\""),
        Refusal(#"{"":1,"":2}"#, .duplicateKey, at: 6, "the key \"\""),
        Refusal(#"[{"x":{"a":1,"b":2,"a":3}}]"#, .duplicateKey, at: 19, "the key \"a\""),
        Refusal(#"{"a":{"b":[1,{"c":2}]},"d":[],"a":0}"#, .duplicateKey, at: 30, "the key \"a\""),
    ]
}
