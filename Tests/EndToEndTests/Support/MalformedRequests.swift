import TestSupport

/// An endless series of malformed requests: damaged good ones, and well-formed ones with nonsense. The same seed gives
/// the same requests.
struct MalformedRequests {
    /// A malformed request.
    struct Sample {
        /// The line, without a line feed.
        var line: [UInt8]
        /// The possible error codes; damage may have several.
        var codes: Set<String>
    }

    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> Sample {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: truncated()
        case 1: notUTF8()
        case 2: controlCharacter()
        case 3: withoutStructure()
        case 4: withGarbage()
        case 5: badEscape()
        case 6: duplicateKey()
        case 7: badWord()
        case 8: tooDeep()
        default: nonsense()
        }
    }

    private mutating func base() -> [UInt8] {
        let text = Self.bases.randomElement(using: &generator) ?? ""
        return Array(text.utf8)
    }

    private mutating func truncated() -> Sample {
        let line = base()
        let length = Int.random(in: 1..<line.count, using: &generator)
        return Sample(line: Array(line[..<length]), codes: ["invalid_json", "invalid_utf8"])
    }

    private mutating func notUTF8() -> Sample {
        var line = base()
        let bytes = Self.notUTF8.randomElement(using: &generator) ?? []
        line.insert(contentsOf: bytes, at: Int.random(in: 0...line.count, using: &generator))
        return Sample(line: line, codes: ["invalid_utf8", "invalid_json"])
    }

    private mutating func controlCharacter() -> Sample {
        var line = base()
        // Any control byte except the line feed, which would end the request.
        let byte = UInt8.random(in: 0..<0x1F, using: &generator)
        insert([byte == 0x0A ? 0x1F : byte], into: &line)
        return Sample(line: line, codes: ["invalid_json"])
    }

    private mutating func badEscape() -> Sample {
        var line = base()
        let escapes = [#"\ud800"#, #"\udc00"#, #"\ud800\u0041"#, #"\x41"#, #"\u12g4"#, #"\'"#, #"\U0041"#, #"\u{41}"#]
        insert(Array((escapes.randomElement(using: &generator) ?? "").utf8), into: &line)
        return Sample(line: line, codes: ["invalid_json"])
    }

    private mutating func withoutStructure() -> Sample {
        var line = base()
        let places = Places(line)
        line.remove(at: places.structural.randomElement(using: &generator) ?? 0)
        return Sample(line: line, codes: ["invalid_json"])
    }

    private mutating func withGarbage() -> Sample {
        let garbage = ["x", "{}", ",", "]", "}", "0", "\"", "//", " null", "\u{FEFF}", ";"]
        let more = Array((garbage.randomElement(using: &generator) ?? "").utf8)
        let line = base()
        return Sample(
            line: Bool.random(using: &generator) || more == Array("0".utf8) ? line + more : more + line,
            codes: ["invalid_json"])
    }

    private mutating func duplicateKey() -> Sample {
        let key = #""k\#(UInt8.random(in: 0...9, using: &generator))""#
        let levels = Int.random(in: 0..<20, using: &generator)
        let inner = "{\(key):1,\(Self.pairs.randomElement(using: &generator) ?? ""),\(key):2}"
        let nested = String(repeating: #"{"a":"#, count: levels) + inner + String(repeating: "}", count: levels)
        return Sample(line: Array(#"{"op":"deliver","payload":\#(nested)}"#.utf8), codes: ["duplicate_key"])
    }

    private mutating func badWord() -> Sample {
        let words = [
            "NaN", "-Infinity", "Infinity", "nul", "True", "FALSE", "undefined", "01", "-01", "1.", ".5", "+1", "1e",
            "1e+", "0x1F", "1e999", "-1e999", "1_000", "'text'", "--1", "- 1", "/* */ 1", "#", "(1)", "",
        ]
        let word = words.randomElement(using: &generator) ?? ""
        return Sample(
            line: Array(#"{"op":"deliver","payload":{"data":{"k":"v","n":\#(word)}}}"#.utf8), codes: ["invalid_json"])
    }

    private mutating func tooDeep() -> Sample {
        let levels = Int.random(in: 40..<5000, using: &generator)
        let opening = Bool.random(using: &generator) ? "[" : #"{"a":"#
        let closing = opening == "[" ? "]" : "}"
        let nested = String(repeating: opening, count: levels) + "1" + String(repeating: closing, count: levels)
        return Sample(line: Array(#"{"op":"deliver","payload":{"data":\#(nested)}}"#.utf8), codes: ["too_deep"])
    }

    private mutating func nonsense() -> Sample {
        let (code, line) = Self.nonsense.randomElement(using: &generator) ?? ("", "")
        return Sample(line: Array(line.utf8), codes: [code])
    }

    /// Inserts bytes at a random place in a string, between two characters.
    private mutating func insert(_ bytes: [UInt8], into line: inout [UInt8]) {
        line.insert(contentsOf: bytes, at: Places(line).inStrings.randomElement(using: &generator) ?? 0)
    }
}

/// The positions of certain bytes in a line of JSON without escapes.
private struct Places {
    /// The structural quotes, braces, brackets, colons and commas.
    var structural: [Int] = []
    /// The positions before a character of a string or its closing quote.
    var inStrings: [Int] = []

    init(_ line: [UInt8]) {
        var isInString = false
        for (index, byte) in line.enumerated() {
            if isInString, byte & 0xC0 != 0x80 { inStrings.append(index) }
            if byte == UInt8(ascii: "\"") { isInString.toggle() }
            if byte == UInt8(ascii: "\"") || !isInString && "{}[]:,".utf8.contains(byte) { structural.append(index) }
        }
    }
}

extension MalformedRequests {
    /// Good requests without escapes, and without lists of numbers, in which a missing comma may not be an error.
    private static let bases = [
        Requests.deliver(job: "none", id: "base", device: "d"),
        Requests.braze(message: "m", id: "base", device: "d"),
        #"{"op":"deliver","platform":"ios","state":"foreground","payload":{"aps":{"alert":{"title":"Grüße 🙂"}},"x":[{"y":["a","b"]}]}}"#,
        #"{"op":"interact","kind":"opened","platform":"android","device":"d","message":"m-1","at":"2026-11-21T09:00:00Z"}"#,
        #"{ "op" : "deliver" , "at" : 1795251600000 , "payload" : { "message" : { "token" : "t" , "data" : { "k" : "ü" } } } }"#,
    ]

    private static let pairs = [#""x":"y""#, #""a":{"b":[]},"c":null"#, #""é":"é","e":"e""#]

    private static let notUTF8: [[UInt8]] = [
        [0xFF], [0xFE], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xF0, 0x80, 0x80, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xC3],
    ]

    /// Well-formed JSON that is not a request, with its error code.
    private static let nonsense: [(code: String, line: String)] = [
        ("invalid_type", "[]"), ("invalid_type", "1"), ("invalid_type", "null"), ("invalid_type", #""deliver""#),
        ("missing_key", "{}"), ("missing_key", #"{"id":"x"}"#),
        ("unknown_op", #"{"op":"remove"}"#), ("unknown_op", #"{"op":"status"}"#),
        ("invalid_type", #"{"op":null}"#), ("invalid_type", #"{"op":["deliver"]}"#),
        ("missing_key", #"{"op":"deliver"}"#), ("missing_key", #"{"op":"interact","message":"m"}"#),
        ("missing_key", #"{"op":"interact","kind":"opened"}"#),
        ("unknown_key", #"{"op":"deliver","payload":{},"prioritty":1}"#),
        ("unknown_key", #"{"op":"interact","kind":"opened","message":"m","state":"background"}"#),
        ("invalid_type", #"{"op":"deliver","payload":[]}"#), ("invalid_type", #"{"op":"deliver","payload":null}"#),
        ("invalid_type", #"{"op":"deliver","payload":{},"id":7}"#),
        ("invalid_type", #"{"op":"deliver","payload":{},"locked":"yes"}"#),
        ("invalid_type", #"{"op":"deliver","payload":{},"device":{}}"#),
        ("invalid_type", #"{"op":"deliver","payload":{},"at":true}"#),
        ("invalid_type", #"{"op":"deliver","payload":{},"wait":true}"#),
        ("invalid_type", #"{"op":"interact","kind":"opened","message":[]}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"id":""}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"id":"\#(String(repeating: "x", count: 256))"}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"platform":"windows"}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"state":"asleep"}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"at":"yesterday"}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"at":1e300}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"at":9223372036854775808}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"at":1.5}"#),
        ("invalid_value", #"{"op":"deliver","payload":{},"wait":"reply"}"#),
        ("invalid_value", #"{"op":"interact","kind":"swiped","message":"m"}"#),
        ("invalid_value", #"{"op":"interact","kind":"opened","message":0}"#),
        ("invalid_value", #"{"op":"interact","kind":"opened","message":18446744073709551616}"#),
        ("invalid_value", #"{"op":"interact","kind":"opened","message":"m","payload":{}}"#),
        ("invalid_payload", #"{"op":"deliver","payload":{"message":{"token":"t","data":{"n":1}}}}"#),
        ("invalid_payload", #"{"op":"deliver","payload":{"message":{"token":"t","topic":"u"}}}"#),
        ("invalid_payload", #"{"op":"deliver","payload":{"message":{"data":{}}}}"#),
        ("invalid_payload", #"{"op":"deliver","payload":{"data":[],"notification":{}}}"#),
        ("invalid_payload", #"{"op":"deliver","platform":"ios","payload":{"aps":"alert"}}"#),
        ("invalid_json", #"{"op":"deliver","payload":{"a\u0000b":1}}"#),
    ]
}
