import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// A value of a payload, which the test prints by itself in each notation.
private indirect enum Printable {
    case text(String)
    case number(Int)
    case object([(String, Printable)])

    var json: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): "\(number)"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.0)):\($0.1.json)" }.joined(separator: ",") + "}"
        }
    }

    func printed(_ open: String, _ close: String, _ mark: String, quote: String = "\"") -> String {
        switch self {
        case .text(let text): Self.quoted(text, quote)
        case .number(let number): "\(number)"
        case .object(let members):
            members.isEmpty && open == "["
                ? "[:]"
                : open
                    + members.map { Self.quoted($0.0, quote) + mark + $0.1.printed(open, close, mark, quote: quote) }
                    .joined(separator: ", ") + close
        }
    }

    /// The description of an NSDictionary.
    func propertyList(_ indentation: String = "") -> String {
        switch self {
        case .text(let text):
            let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0.isDigit || $0 | 0x20 >= 97 && $0 | 0x20 <= 122 }
            return isPlain ? text : Self.quoted(text)
        case .number(let number): return "\(number)"
        case .object(let members):
            let inner = indentation + "    "
            let lines = members.map { "\(inner)\(Self.quoted($0.0)) = \($0.1.propertyList(inner));\n" }
            return "{\n" + lines.joined() + indentation + "}"
        }
    }

    /// JSON with a member on each line.
    func lines(_ indentation: String = "") -> String {
        guard case .object(let members) = self, !members.isEmpty else { return json }
        let inner = members.map { "\(indentation)  \(Self.quoted($0.0)): \($0.1.lines(indentation + "  "))" }
        return "{\n\(inner.joined(separator: ",\n"))\n\(indentation)}"
    }

    static func quoted(_ text: String, _ mark: String = "\"") -> String {
        var result = mark
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where String(character) == mark: result += "\\\(mark)"
            default: result.append(character)
            }
        }
        return result + mark
    }

    var members: [(String, Printable)] { if case .object(let members) = self { members } else { [] } }
}

@Suite("A payload in each notation")
struct NotationSearchTests {
    private static let keys = [
        "_ab", "t", "a", "cid", "extra", "title", "body", "alert", "custom", "order_id", "google.message_id", "from",
        "gcm.n.e", "gcm.n.title", "content-available", "k-1", "wzrk_pn", "appboy_uninstall_tracking",
    ]
    private static let texts = [
        "true", "Hi", "There you are", "1", "", "20 % off", "x=y", "a, b", "Don't", "{}", "50%", "é \u{1F600}",
        #"{"i":"n"}"#, "https://x.example/?a=1&b=2", "C:\\x", "one\ntwo", "(c) [d]", "null",
    ]

    private static func one<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    /// The data of an Android message: texts only.
    private static func data(_ random: inout SeededGenerator) -> Printable {
        var members: [(String, Printable)] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let key = one(keys, &random)
            if !members.contains(where: { $0.0 == key }) { members.append((key, .text(one(texts, &random)))) }
        }
        return .object(members)
    }

    /// The `userInfo` of an iOS app.
    private static func userInfo(_ random: inout SeededGenerator) -> Printable {
        var aps: [(String, Printable)] = []
        if Bool.random(using: &random) { aps.append(("alert", .text(one(texts, &random)))) }
        if Bool.random(using: &random) {
            aps.append(("content-available", .number(Int.random(in: 0...1, using: &random))))
        }
        if Bool.random(using: &random) { aps.append(("mutable-content", .number(1))) }
        var members: [(String, Printable)] = [("aps", .object(aps))]
        if Bool.random(using: &random) { members.append(("ab", .object([("c", .text(one(texts, &random)))]))) }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let key = one(keys, &random)
            if !members.contains(where: { $0.0 == key }) { members.append((key, .text(one(texts, &random)))) }
        }
        return .object(members)
    }

    /// Reads a text as `pushctl explain` does; `nil` if the form refuses it.
    private static func read(_ text: String, for platform: Platform) throws -> WrittenPayload? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
        let first = try #require(PayloadStart(in: lines[0]), "\(text)")
        do throws(PayloadFormError) {
            guard var whole = try PayloadText(first, line: lines[0]) else {
                guard let object = PayloadForm.object(in: Array(text.utf8)) else { return nil }
                return WrittenPayload(json: object.payload.json)
            }
            for line in lines.dropFirst() where !whole.isWhole { _ = try whole.add(line) }
            return try whole.payload()
        } catch { return nil }
    }

    private static func facts(_ platform: Platform, _ payload: [UInt8]) throws -> [String] {
        let root = try JSONDocument(scanning: payload).root
        let decision = try decide(Delivery(platform: platform, payload: root), settings: .shipped)
        return [decision.provider ?? "-", "\(decision.callbacks)", "\(decision.outcome as Outcome?)"]
            + [decision.braze?.campaignID ?? "-"]
    }

    @Test("has the decision of the same payload in JSON, or is refused by its form")
    func sameDecision() throws {
        var (read, refused) = (0, 0)
        for seed in Search.seeds(20_000) {
            var random = SeededGenerator(seed: seed)
            let isApple = Bool.random(using: &random)
            let payload = isApple ? Self.userInfo(&random) : Self.data(&random)
            let platform = isApple ? Platform.ios : .android
            var forms: [(String, String)] = [
                ("Python", payload.printed("{", "}", ": ", quote: "'")), ("Ruby", payload.printed("{", "}", "=>")),
                ("PHP", payload.printed("[", "]", " => ", quote: "'")), ("Swift", payload.printed("[", "]", ": ")),
                ("log", "Push received: \(payload.json) ok"), ("escaped", Printable.quoted(payload.json)),
                (
                    "hexadecimal",
                    "<"
                        + payload.json.utf8.map { byte in
                            let digits = String(byte, radix: 16)
                            return digits.utf8.count < 2 ? "0" + digits : digits
                        }.joined() + ">"
                ),
            ]
            if isApple {
                forms.append(("NSDictionary", payload.propertyList()))
            } else {
                let plain = payload.members.map { key, value in
                    if case .text(let text) = value { "\(key)=\(text)" } else { "" }
                }
                forms.append(("Bundle", "Bundle[{" + plain.joined(separator: ", ") + "}]"))
            }
            let isExtras = payload.members.contains {
                $0.0.hasPrefix("google.") || $0.0.hasPrefix("gcm.") || $0.0 == "from"
            }
            let own = isExtras ? #"{"extras":\#(payload.json)}"# : payload.json
            let wanted = try Self.facts(platform, Array(own.utf8))
            let wantedAsIs = try Self.facts(platform, Array(payload.json.utf8))
            for (name, text) in forms {
                guard let written = try Self.read(text, for: platform) else {
                    refused += 1
                    continue
                }
                read += 1
                let found = try Self.facts(platform, written.json)
                let asBundle =
                    name == "Bundle" ? try Self.facts(platform, Array(#"{"extras":\#(payload.json)}"#.utf8)) : wanted
                #expect(
                    found == asBundle || found == wantedAsIs,
                    "\(name), seed \(seed): \(text) is read as \(String(decoding: written.json, as: UTF8.self))")
            }
        }
        #expect(refused * 20 < read, "\(refused) of \(read + refused) were refused")
    }

    @Test("has the same members with the prefix of a log before each line")
    func prefixed() throws {
        let prefixes = ["I/flutter ( 123): ", "│ ", "web_1  | ", "12:00:00 [INFO] ", "│ 🐛 ", "+", "> ", "12: "]
        func read(_ text: String, for platform: Platform) -> String? {
            let found = try? PayloadEnvelope.read(Array(text.utf8), for: platform, limits: JSONLimits(), repairs: true)
            return found.map {
                String(decoding: $0.object.compactBytes, as: UTF8.self).replacing("\\u000a", with: "\\n")
            }
        }
        for seed in Search.seeds(5000) {
            var random = SeededGenerator(seed: seed)
            let isApple = Bool.random(using: &random)
            let payload = isApple ? Self.userInfo(&random) : Self.data(&random)
            let prefix = Self.one(prefixes, &random)
            let text = payload.lines().split(separator: "\n").map { prefix + $0 }.joined(separator: "\n")
            let wanted = try #require(read(payload.json, for: isApple ? .ios : .android), "seed \(seed)")
            #expect(read(text, for: isApple ? .ios : .android) == wanted, "seed \(seed): \(text)")
        }
    }
}
