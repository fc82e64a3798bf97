public import PushDispatch
public import PushRouting

extension Accident {
    /// Returns the page of the catalogue for the documentation.
    ///
    /// - Parameter table: the configuration that explains the payloads.
    /// - Throws: if the configuration refuses a payload.
    public static func page(by table: RoutingTable) throws(PayloadError) -> String {
        var page = """
            # Catalogue of accidents

            Ten ways in which a push goes wrong and nothing crashes: the payload, what happens, the fix, and a scenario.

            ## Overview

            `pushctl explain --example NAME` tells an accident of this page by your configuration, and needs none:

            ```sh
            pushctl explain --example list
            ```

            ```
            \(list)```

            What `explain` says to each payload is below, by the configuration as shipped, and what comes of it. Each of these
            facts is an expectation of the scenario, which is a file for `pushctl test`; the tests of pushrouterd run it. A
            sentence of the story that no expectation shows has its source.

            This page is made of `Sources/Core/PushAccidents/Catalogue` by `packaging/generate.sh`.

            """
        for accident in catalogue { page += try accident.section(by: table) }
        return page
    }

    private func section(by table: RoutingTable) throws(PayloadError) -> String {
        let explained = try explained(by: table)
        return """

            ## \(title)

            `\(name)`: \(story)

            \(Self.blocks(explained.accident, accident.facts))

            **The fix.** \(fix)

            \(Self.blocks(explained.mended, mended.facts))

            The scenario:

            ```json
            \(scenarioText)```

            Sources:

            \(sources.map { "- \($0)" }.joined(separator: "\n"))

            """
    }

    private static func blocks(_ explained: [Explained], _ facts: [String]) -> String {
        let blocks = explained.map { one in
            "```json\n\(String(decoding: one.example.line, as: UTF8.self))\n```\n\n```text\n\(one.text)```"
        }
        return (blocks + [facts.map { "- \($0)" }.joined(separator: "\n")]).joined(separator: "\n\n")
    }
}
