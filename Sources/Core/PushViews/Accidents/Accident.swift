public import PushModel
import PushRouter

/// An accident of the catalogue: a payload, its outcomes, and the fix. One scenario shows all of it.
///
/// Its file begins with an object, whose last line is `}` alone, followed by the lines of the scenario. `accident` and
/// `mended` in the object are the ids of the deliveries to explain; the first id in `mended` begins the fixed part.
public struct Accident: Sendable {
    /// A delivery of the scenario that the page explains.
    struct Example: Sendable {
        let id: String
        /// The line of the scenario.
        let line: [UInt8]
        let request: DeliverRequest
        let platform: Platform
    }

    /// The broken or the fixed half of the scenario.
    struct Half: Sendable {
        var examples: [Example] = []
        /// The results: the names of the expectations.
        var facts: [String] = []
    }

    /// The name for `--example`.
    public let name: String
    /// The title, in a few words.
    public let title: String
    /// The cause, in a sentence.
    let story: String
    /// The fix, in a sentence or two.
    let fix: String
    /// The documents that describe the accident.
    let sources: [String]
    /// The deliveries that go wrong, and their results.
    let accident: Half
    /// The deliveries with the fix, and their results.
    let mended: Half
    /// The scenario for `pushctl test`: its lines without line feeds.
    public let scenario: [[UInt8]]

    /// The requests of the deliveries that go wrong, for a daemon: without the ids, times and scripts of the scenario.
    public var requests: [JSONDocument] {
        accident.examples.compactMap { example in
            var writer = JSONWriter()
            writer.object { writer in
                let members = (try? JSONDocument(scanning: example.line))?.root.members ?? []
                for (key, value) in members where !["id", "at", "script"].contains(key) {
                    writer.member(key, raw: value.rawBytes)
                }
            }
            return try? JSONDocument(scanning: writer.bytes)
        }
    }

    /// Parses an accident.
    ///
    /// - Throws: `AccidentError` with the fault in the file.
    init(name: String, file: [UInt8]) throws(AccidentError) {
        let lines = file.split(separator: UInt8(ascii: "\n")).map(Array.init)
        guard let end = lines.firstIndex(of: [UInt8(ascii: "}")]) else { throw AccidentError("\(name): no head") }
        let head = try Self.document(Array(lines[...end].joined()), name).root
        func text(_ key: String) throws(AccidentError) -> String {
            guard let text = head[key]?.string else { throw AccidentError("\(name): \(key) is missing") }
            return text
        }
        self.name = name
        title = try text("title")
        story = try text("story")
        fix = try text("fix")
        sources = head["sources"]?.elements.compactMap(\.string) ?? []
        let ids = ["accident", "mended"].map { head[$0]?.elements.compactMap(\.string) ?? [] }
        var halves = [Half(), Half()]
        var half = 0
        for line in lines[(end + 1)...] {
            let document = try Self.document(line, name)
            let root = document.root
            if root["expect"] != nil, let fact = root["name"]?.string { halves[half].facts.append(fact) }
            guard let id = root["id"]?.string else { continue }
            if id == ids[1].first { half = 1 }
            guard ids[half].contains(id) else { continue }
            halves[half].examples.append(try Example(id, line, document, name))
        }
        guard halves.map({ $0.examples.map(\.id) }) == ids, !ids.contains([]) else {
            throw AccidentError("\(name): accident and mended are the ids of deliveries, in their order")
        }
        (accident, mended) = (halves[0], halves[1])
        var writer = JSONWriter()
        writer.object { [title] in $0.member("scenario", title) }
        scenario = [writer.bytes] + lines[(end + 1)...]
    }

    fileprivate static func document(_ text: [UInt8], _ name: String) throws(AccidentError) -> JSONDocument {
        do { return try JSONDocument(scanning: text) } catch {
            throw AccidentError("\(name): \(error.message): \(String(decoding: text, as: UTF8.self))")
        }
    }
}

/// A fault in a file of the catalogue.
struct AccidentError: Error, Hashable, Sendable {
    /// The file and the fault.
    public let message: String

    init(_ message: String) { self.message = message }
}

extension Accident.Example {
    fileprivate init(_ id: String, _ line: [UInt8], _ document: JSONDocument, _ name: String) throws(AccidentError) {
        let request: Request
        do { request = try Request(document, allowing: ["script"]) } catch {
            throw AccidentError("\(name): \(id): \(error.message)")
        }
        guard case .deliver(let deliver) = request.action, let platform = deliver.target.platform else {
            throw AccidentError("\(name): \(id) is no delivery, or names no platform")
        }
        self.init(id: id, line: line, request: deliver, platform: platform)
    }
}
