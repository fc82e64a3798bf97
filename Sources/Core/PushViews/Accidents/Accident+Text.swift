import PushModel
public import PushRouter

extension Accident {
    /// Returns the accident for people, explained by a configuration: lines for a terminal, the last with its line
    /// feed.
    ///
    /// - Throws: `PayloadError` if the configuration refuses one of its payloads.
    public func text(by table: RoutingTable) throws(PayloadError) -> String {
        let explained = try explained(by: table)
        var lines = ["\(name): \(title)", "  \(story)", ""]
        lines += Self.lines(explained.accident, accident.facts, "The result")
        lines += ["", "The fix", "  \(fix)", ""]
        lines += Self.lines(explained.mended, mended.facts, "The result after the change")
        lines += ["", "Sources"] + sources.map { "  - \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the accident for programs: one JSON object on one line without a line feed.
    ///
    /// - Throws: `PayloadError` if the configuration refuses one of its payloads.
    public func json(by table: RoutingTable) throws(PayloadError) -> [UInt8] {
        let explained = try explained(by: table)
        var writer = JSONWriter(reserving: 8192)
        writer.object { writer in
            writer.member("name", name)
            writer.member("title", title)
            writer.member("story", story)
            writer.member("accident", object: { Self.write(explained.accident, accident.facts, to: &$0) })
            writer.member("fix", fix)
            writer.member("mended", object: { Self.write(explained.mended, mended.facts, to: &$0) })
            writer.member("sources", array: { list in sources.forEach { list.string($0) } })
            writer.member("scenario", scenarioText)
        }
        return writer.bytes
    }

    /// The names and titles of the catalogue, for people.
    public static var list: String {
        let width = names.map(\.count).max() ?? 0
        return catalogue.map { accident in
            let space = String(repeating: " ", count: width - accident.name.count)
            return "\(accident.name)\(space)  \(accident.title)\n"
        }.joined()
    }

    /// The names and titles of the catalogue, for programs: one JSON array.
    public static var jsonList: [UInt8] {
        var writer = JSONWriter()
        writer.array { list in
            for accident in catalogue {
                list.object {
                    $0.member("name", accident.name)
                    $0.member("title", accident.title)
                }
            }
        }
        return writer.bytes
    }

    /// The scenario file for `pushctl test`.
    var scenarioText: String { scenario.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined() }

    /// A delivery with its explanation by the configuration.
    struct Explained {
        let example: Example
        let explanation: Explanation
        /// The explanation for people, or a reference to an earlier delivery with the same explanation.
        let text: String
    }

    /// Explains the deliveries; a repeated explanation becomes a reference.
    func explained(by table: RoutingTable) throws(PayloadError) -> (accident: [Explained], mended: [Explained]) {
        var before: [String: String] = [:]
        func explain(_ half: Half) throws(PayloadError) -> [Explained] {
            var all: [Explained] = []
            for example in half.examples {
                let explanation = try Explanation(example.request, platform: example.platform, table: table)
                let told = explanation.text
                let text = before[told].map { "as for \($0)\n" } ?? told
                if before[told] == nil { before[told] = example.id }
                all.append(Explained(example: example, explanation: explanation, text: "\(example.id): \(text)"))
            }
            return all
        }
        return (try explain(accident), try explain(mended))
    }

    private static func lines(_ explained: [Explained], _ facts: [String], _ title: String) -> [String] {
        explained.flatMap { [String(decoding: $0.example.line, as: UTF8.self), String($0.text.dropLast()), ""] }
            + [title] + facts.map { "  - \($0)" }
    }

    private static func write(_ explained: [Explained], _ facts: [String], to writer: inout JSONWriter) {
        writer.member(
            "deliveries",
            array: { list in
                for one in explained {
                    list.object {
                        $0.member("request", raw: one.example.line)
                        $0.member("explanation", raw: one.explanation.json)
                    }
                }
            })
        writer.member("facts", array: { list in facts.forEach { list.string($0) } })
    }
}
