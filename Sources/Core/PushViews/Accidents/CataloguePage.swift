public import PushRouter

extension Accident {
    /// Returns the page of the catalogue in the documentation.
    ///
    /// - Parameter table: the configuration that explains the payloads.
    /// - Throws: `PayloadError` if the configuration refuses a payload.
    public static func page(by table: RoutingTable) throws(PayloadError) -> String {
        var page = """
            # Catalogue of accidents

            Ten ways in which a push fails without a crash: the payload, the result, and the fix.

            ## Overview

            `pushctl explain --example NAME` explains an accident of this page by your configuration, or without one:

            ```sh
            pushctl explain --example list
            ```

            ```
            \(list)```

            Each section has the output of `explain` for the payload, by the shipped configuration, and the results. Each of
            these results is an expectation of a scenario, which the tests of pushrouterd run, and you can:

            ```sh
            mkdir -p /tmp/push
            pushctl explain --example silent-tap --json >/tmp/push/accident.json
            python3 -c 'import json, sys; print(json.load(sys.stdin)["scenario"])' </tmp/push/accident.json >/tmp/push/tap.jsonl
            pushctl test --config etc/pushrouterd /tmp/push/tap.jsonl
            ```

            The sources prove what no expectation shows. `packaging/generate.sh` makes this page.

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
