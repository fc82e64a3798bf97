import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// Each key of each file with values of every kind: the message about a value, with the limits, or what it sets.
@Suite("Each key of each file of settings")
struct ProbedKeysTests {
    private static let probes = [
        "0", "1", "7", "100", "0660", "-1", "99999999999", "9s", "1us", "1d", "99999d", "4K", "64K", "1G", "9999999G",
        "yes", "no", "auto", "x", "X y", "a=b", "/a/b", "a/../b", "127.0.0.1:80", "unix:/a", "*", "-x", "é",
        "https://crm.example/x", "http://127.0.0.1/x", "A: b", "present k", "equals k v", "members 2", "prefix k",
        "keyvalue:k", "price number data:k", "user=1", "data.k=v", "k v", "k", "17.4", "device", "android ios",
        "journal",
        "plain", "cloudevents",
    ]

    /// The messages about a key's values, and what the first and the last value set that it takes.
    ///
    /// - Parameter tables: the messages of the keys before, by their texts: those of another key are not repeated.
    private static func lines<Target>(
        _ name: String, _ schema: Schema<Target>, _ tables: inout [[String]: String]
    ) -> [String] {
        let standard = Target()
        var lines = ["", name]
        for key in schema.keys {
            var (messages, taken): ([(message: String, probes: [String])], [(probe: String, target: Target)]) = ([], [])
            for probe in probes {
                var (target, report) = (Target(), FileReport(file: "f"))
                _ = schema.read(Array("[\(key.section)]\n\(key.name)=\(probe)\n".utf8), into: &target, report: &report)
                let message = report.diagnostics.map { diagnostic in
                    let text = "\(diagnostic.severity): \(diagnostic.message)"
                    return text.replacing("\(key.name)=\(probe)", with: "KEY=VALUE").replacing(
                        "\(key.name)=", with: "KEY=")
                }.joined(separator: "; ")
                if message.isEmpty { taken.append((probe, target)) }
                if let known = messages.firstIndex(where: { $0.message == message }) {
                    messages[known].probes.append(probe)
                } else {
                    messages.append((message, [probe]))
                }
            }
            let facts = [key.waitsForRestart ? "waits for a restart" : "", key.kinds.isEmpty ? "" : "of \(key.kinds)"]
            lines.append(
                "  [\(key.section)] \(key.name)=\(key.standard) \(facts.filter { !$0.isEmpty }.joined(separator: ", "))"
            )
            for (probe, target) in [taken.first, taken.count > 1 ? taken.last : nil].compactMap(\.self) {
                lines.append("    \(probe) sets \(flatDifference(from: standard, to: target))")
            }
            let table = messages.map { entry in
                "    \(entry.probes.joined(separator: " | "))  =>  \(entry.message.isEmpty ? "taken" : entry.message)"
            }
            lines += tables[table].map { ["    as \($0)"] } ?? table
            tables[table] = tables[table] ?? "\(name) \(key.name)="
        }
        return lines
    }

    @Test("takes or refuses each kind of value as Fixtures/settings/keys.txt has it")
    func keys() {
        var tables: [[String]: String] = [:]
        var found = Self.lines("pushrouterd.conf", Schema.main, &tables)
        found += Self.lines("handlers.d", Schema.handler, &tables)
        found += Self.lines("routes.d", Schema.route, &tables)
        found += Self.lines("registrations.d", Schema.registration, &tables)
        found += Self.lines("tracks.d", Schema.track, &tables)
        found += Self.lines("producers.d", Schema.producer, &tables)
        found += Self.lines("providers.d", Schema.provider, &tables)
        found += Self.lines("gateway.conf", Schema.gateway, &tables)
        found += Self.lines("web.conf", Schema.web, &tables)
        Fixture.expect(Array(found.dropFirst()), in: "settings/keys.txt")
    }

    private static let handlers = [
        "Type=exec\nExec=/bin/true", "Type=worker\nExec=/bin/true", "Type=socket\nSocket=/run/a.sock", "Type=notify",
        "Type=journal", "Type=discard", "Type=http\nURL=https://crm.example/x",
    ]

    /// A value that each key of a handler takes.
    private static let valuesOfHandlers: [(key: String, value: String)] = Schema.handler.keys.map { key in
        let value = probes.first { probe in
            var (target, report) = (HandlerDraft(), FileReport(file: "f"))
            _ = Schema.handler.read(
                Array("[\(key.section)]\n\(key.name)=\(probe)\n".utf8), into: &target, report: &report)
            return report.diagnostics.isEmpty
        }
        return (key.name, value ?? "x")
    }

    @Test("of a handler is for the types of handlers, and says of the others, what Fixtures/settings/handlers.txt has")
    func keysOfHandlers() {
        var found: [String] = []
        func loaded(_ mode: String, _ lines: String) -> (settings: Settings?, diagnostics: [String]) {
            load(
                main: "[Dispatch]\nMode=\(mode)\n", handlers: ["crm": "[Handler]\n\(lines)\n"],
                routes: ["20-crm": "[Match]\nApp=crm\n[Route]\nHandler=crm"])
        }
        for (mode, handler) in [("device", Self.handlers[0])] + Self.handlers.map({ ("relay", $0) }) {
            found += ["", "Mode=\(mode), \(handler.replacing("\n", with: ", "))"]
            let plain = loaded(mode, handler).settings?.routing.handlers["crm"]
            for (key, value) in Self.valuesOfHandlers where !handler.hasPrefix("\(key)=") {
                let (settings, diagnostics) = loaded(mode, "\(handler)\n\(key)=\(value)")
                let sets = settings?.routing.handlers["crm"].map { flatDifference(from: plain as Any, to: $0 as Any) }
                found.append(
                    "  \(key)=\(value)  =>  \(diagnostics.joined(separator: "; "))\(sets.map { " sets \($0)" } ?? "")")
            }
        }
        Fixture.expect(Array(found.dropFirst()), in: "settings/handlers.txt")
    }
}
