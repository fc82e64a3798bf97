import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// Texts that people paste, with the reading of each: the payload with its facts and the remarks, or the error.
@Suite("A text that people paste")
struct PastedTextsTests {
    /// The texts with their names, each behind a line `==== name`.
    private static let texts: [(name: String, lines: [String])] = {
        var texts: [(name: String, lines: [String])] = []
        let file = String(decoding: Fixture.bytes("pasted/texts.txt"), as: UTF8.self)
        for line in file.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("==== ") {
                texts.append((String(line.dropFirst(5)), []))
            } else {
                texts[texts.count - 1].lines.append(String(line))
            }
        }
        return texts
    }()

    /// The answer in lines: the object, the facts that are there, the remarks and the number of other payloads.
    private static func answer(_ text: String, for platform: Platform?, repairs: Bool = true) -> [String] {
        do throws(PayloadFormError) {
            let (object, facts, others) = try PayloadEnvelope.read(
                Array(text.utf8), for: platform, limits: JSONLimits(), repairs: repairs)
            var lines = [String(decoding: object.compactBytes, as: UTF8.self)]
            if let name = facts.name { lines.append("name: \(name)") }
            for (key, value) in [
                ("platform", facts.platform?.rawValue), ("app", facts.app), ("transport", facts.transport?.rawValue),
                ("headers", facts.headers.map { "\($0)" }), ("others", others == 0 ? nil : "\(others)"),
            ] where value != nil { lines.append("\(key): \(value ?? "")") }
            return lines + facts.remarks.map { "remark: \($0)" }
        } catch {
            return ["error: \(error.message)"]
        }
    }

    @Test("is read as Fixtures/pasted/answers.txt has it, for each platform that changes the answer")
    func answers() {
        var found: [String] = []
        for (name, lines) in Self.texts {
            let text = lines.joined(separator: "\n")
            let plain = Self.answer(text, for: nil)
            found += ["==== \(name)"] + plain
            if Self.answer(text, for: nil, repairs: false) != plain {
                found += ["-- without repairs"] + Self.answer(text, for: nil, repairs: false)
            }
            for platform in Platform.allCases {
                let answer = Self.answer(text, for: platform)
                if answer != plain { found += ["-- \(platform.rawValue)"] + answer }
            }
        }
        Fixture.expect(found, in: "pasted/answers.txt")
    }

    /// The kind of an answer, without the numbers of lines and what the text has.
    private static func kind(_ answer: [String]) -> String {
        let parts = answer.map { line in
            line.hasPrefix("{")
                ? "object of \((try? json(line).members.map(\.key).joined(separator: ",")) ?? "?")" : line
        }
        return parts.joined(separator: "; ")
    }

    @Test("that is cut, or lacks a line or a word, is read as Fixtures/pasted/damaged.txt has it")
    func damaged() {
        var found: [String] = []
        for (name, lines) in Self.texts {
            found.append("==== \(name)")
            var variants: [(name: String, text: String)] = []
            if lines.count > 2 {
                for place in lines.indices.dropLast() {
                    variants.append(("to line \(place + 1)", lines[...place].joined(separator: "\n")))
                    let others = lines[..<place] + lines[(place + 1)...]
                    variants.append(("without line \(place + 1)", others.joined(separator: "\n")))
                }
            } else {
                let bytes = Array(lines.joined(separator: "\n").utf8)
                for part in 1..<8 {
                    let end = bytes.count * part / 8
                    variants.append(("to byte \(end)", String(decoding: bytes[..<end], as: UTF8.self)))
                    variants.append(("from byte \(end)", String(decoding: bytes[end...], as: UTF8.self)))
                }
            }
            var last = ""
            for variant in variants {
                let answer = Self.kind(Self.answer(variant.text, for: nil))
                if answer != last { found.append("\(variant.name): \(answer)") }
                last = answer
            }
        }
        Fixture.expect(found, in: "pasted/damaged.txt")
    }
}
