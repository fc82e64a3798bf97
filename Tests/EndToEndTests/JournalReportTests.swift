import TestSupport
import Testing

@testable import PushModel

@Suite("The report of the journal beside the report of the ledger", .timeLimit(.minutes(30)))
struct JournalReportTests {
    /// The differences that the two reports may have, with the reasons.
    private static let allowed: [(path: String, reason: String)] = [
        ("source", "it says which of the two it is"),
        ("accepted", "the journal has what was decided"),
        ("in_flight", "what is in flight has no entry yet"),
        ("requests", "a session has no entry"),
        ("window.first_at", "a session has no entry"),
        ("window.last_at", "a session has no entry"),
        ("clock_set_back", "entries come in the order of their ends"),
        ("observers.accepted", "as accepted"),
        ("observers.in_flight", "as in_flight"),
        ("by_handler.declines.declined", "answers that end no invocation have no entry"),
        ("gaps", "each source has gaps of its own"),
    ]

    @Test("agrees with it field by field, and names the journal's gaps")
    func agrees() throws {
        let build = Program(product: "pushrouterd").path.dropLast("/pushrouterd".count)
        let script = packageRoot + "/Tests/Systemd/journal.sh"
        let result = Program(path: "/bin/bash").run([
            packageRoot + "/Tests/Package/box.sh", "/bin/bash", script, String(build),
        ])
        if result.end == .exited(77) { try cancelTest(result.errors) }
        try #require(result.end == .exited(0), "\(result.errors)")
        var reports: [String: JSONNode] = [:]
        for line in result.output.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts[1].hasPrefix("{") { reports[String(parts[0])] = try json(parts[1]) }
        }
        let ledger = try #require(reports["mixed-ledger"])
        let journal = try #require(reports["mixed-journal"])
        try compareDay(ledger, journal)
        var copied = try #require(reports["copied-journal"]).facts
        for path in ["window.until", "source.directory"] { copied[path] = journal.facts[path] }
        #expect(copied == journal.facts, "of a copied journal, by a user who has nothing else")
        try compareBurst(try #require(reports["many-ledger"]), try #require(reports["many-journal"]))
        try compareLimited(try #require(reports["limited-ledger"]), try #require(reports["limited-journal"]))
        #expect(reports["denied"]?["status"]?.int64 == 66)
        #expect(reports["denied"]?["text"]?.string?.contains("members of the group systemd-journal") == true)
    }

    private func compareDay(_ ledger: JSONNode, _ journal: JSONNode) throws {
        let (one, other) = (ledger.facts, journal.facts)
        func isAllowed(_ path: String) -> Bool {
            Self.allowed.contains { path == $0.path || path.hasPrefix($0.path + ".") }
        }
        for path in Set(one.keys).union(other.keys).sorted() where !isAllowed(path) {
            #expect(one[path] == other[path], "\(path)")
        }
        // The comparison needs a day with events of every kind.
        let outcomes = ledger["outcomes"]?.members.filter { $0.value.int64 ?? 0 > 0 }.map(\.key) ?? []
        #expect(outcomes.count >= 10, "\(outcomes)")
        for part in ["by_handler", "by_platform", "by_priority", "by_transport", "by_app", "waits", "misses"] {
            #expect(ledger[part]?.count ?? 0 > 0, "\(part)")
        }
        #expect(ledger["mode"]?.string == "mixed")
        let owners = try #require(ledger["accepted"]?.int64), observers = ledger["observers"]?["accepted"]?.int64 ?? 0
        #expect(observers > 0 && journal["source"]?["entries"]?.int64 == owners + observers)
        #expect(journal["in_flight"]?.kind == .null && journal["accepted"]?.kind == .null)
        let gaps = journal.gaps
        #expect(gaps["foreign_entries"] == 1, "the handler that forges an entry")
        #expect(gaps["unended_runs"] == 1 && gaps["daemon_crashed"] == 1, "the crash")
        #expect(gaps["no_entry"] == nil && gaps["unreadable_entries"] == nil)
        #expect(ledger.gaps["foreign_entries"] == nil)
    }

    /// Compares a burst with more successes than entries: the outcome numbers give the number without an entry.
    private func compareBurst(_ ledger: JSONNode, _ journal: JSONNode) throws {
        let decided = try #require(ledger["decided"]?.int64)
        let missing = try #require(journal.gaps["no_entry"])
        #expect(decided == 4001 && missing > 0)
        #expect(journal["decided"]?.int64 == decided - missing)
        #expect(journal.gaps["summed_outcomes"] == missing)
        for member in ["missed", "due", "misses"] { #expect(journal[member]?.text == ledger[member]?.text) }
        #expect(journal["source"]?["complete"]?.bool == false)
    }

    /// Compares a journal with entries dropped by journald: its count of them agrees with the outcome numbers.
    private func compareLimited(_ ledger: JSONNode, _ journal: JSONNode) throws {
        let decided = try #require(ledger["decided"]?.int64)
        let missing = try #require(journal.gaps["no_entry"])
        #expect(missing > 0 && journal["decided"]?.int64 == decided - missing)
        // journald may also have dropped entries of other kinds.
        #expect(journal.gaps["suppressed_entries"] ?? 0 >= missing)
        #expect(journal.gaps["summed_outcomes"] == nil && journal.gaps["dropped_entries"] == nil)
    }

    @Test("is refused for contradicting options, and for a missing directory")
    func usage() {
        let directory = TemporaryDirectory()
        func run(_ arguments: String...) -> Program.Result { pushctl.run(["report"] + arguments) }
        #expect(run("--unit", "x").end == .exited(2))
        #expect(run("--journal-directory", directory.path).end == .exited(2))
        #expect(run("--from-journal", "--unit", "x", "--user-unit", "y").end == .exited(2))
        #expect(run("--from-journal", "--journal-directory", directory.path + "/nosuch").end == .exited(66))
        let empty = run("--from-journal", "--journal-directory", directory.path, "--unit", "shop")
        #expect(empty.end == .exited(66))
        #expect(empty.errors.contains("\(directory.path): there is no entry of shop.service that this user can read"))
    }
}

extension JSONNode {
    /// Each value by its path, with list elements by index.
    fileprivate var facts: [String: String] {
        switch kind {
        case .object:
            members.reduce(into: [:]) { facts, member in
                for (path, value) in member.value.facts {
                    facts[path.isEmpty ? member.key : "\(member.key).\(path)"] = value
                }
            }
        case .array:
            elements.enumerated().reduce(into: ["": "\(count)"]) { facts, element in
                for (path, value) in element.element.facts {
                    facts[path.isEmpty ? "\(element.offset)" : "\(element.offset).\(path)"] = value
                }
            }
        default: ["": text]
        }
    }

    /// The counts by kind of gap.
    fileprivate var gaps: [String: Int64] {
        self["gaps"]?.elements.reduce(into: [:]) { gaps, gap in
            if let kind = gap["kind"]?.string { gaps[kind] = gap["count"]?.int64 }
        } ?? [:]
    }
}
