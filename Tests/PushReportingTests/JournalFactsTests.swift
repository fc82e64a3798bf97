import Testing

@testable import PushModel
@testable import PushViews

@Suite("A report of the journal")
struct JournalFactsTests {
    private static let begin: Int64 = 1_795_230_480_000

    /// The entry of an outcome, a second after the one before it.
    private func outcome(
        _ number: Int64, run: String = "a", program: String? = "/usr/sbin/pushrouterd",
        cgroup: String? = "/system.slice/pushrouterd.service", _ change: (inout [String: String]) -> Void = { _ in }
    ) -> JournalRecord {
        var values = [
            "PUSH_SEQ": "\(number)", "PUSH_N": "0", "PUSH_OUTCOME_NUMBER": "\(number)", "PUSH_OUTCOME": "handled",
            "PUSH_ACCEPTED_AT_USEC": "\((Self.begin + number * 1000) * 1000)", "PUSH_MODE": "device",
            "PUSH_PLATFORM": "android", "PUSH_CALLBACK": "onMessageReceived", "PUSH_HANDLER": "crm",
            "PUSH_QUEUE_USEC": "10", "PUSH_EXEC_USEC": "20", "PUSH_TOTAL_USEC": "30", "PUSH_DEADLINE_USEC": "9000000",
        ]
        change(&values)
        return record(.outcome, number, run: run, program: program, cgroup: cgroup, values)
    }

    private func record(
        _ kind: JournalRecord.Kind, _ second: Int64, run: String = "a", program: String? = "/usr/sbin/pushrouterd",
        cgroup: String? = nil, _ values: [String: String] = [:]
    ) -> JournalRecord {
        JournalRecord(
            kind: kind, time: WallTime(milliseconds: Self.begin + second * 1000), run: run, program: program,
            cgroup: cgroup, values: values)
    }

    private func document(_ records: [JournalRecord], _ window: ReportWindow = ReportWindow()) -> ReportDocument {
        var facts = JournalFacts(unit: "pushrouterd.service", begin: window.since)
        var report = ComplianceReport(window: window, mode: .device, budget: .seconds(9))
        var detail = ReportDetail()
        for record in records {
            guard let row = facts.take(record, in: window), window.contains(row.acceptedAt) else { continue }
            report.add(unordered: row)
            detail.add(row)
        }
        report.source = .journal(facts)
        return ReportDocument(report: report, detail: detail)
    }

    private func gaps(_ records: [JournalRecord], _ window: ReportWindow = ReportWindow()) -> [String: Int] {
        let gaps = document(records, window).report.gaps
        return Dictionary(uniqueKeysWithValues: gaps.map { ($0.kind.rawValue, $0.count) })
    }

    private func json(_ document: ReportDocument) throws -> JSONNode {
        try JSONDocument(scanning: document.json).root
    }

    @Test("counts entries in any order, and shows null for facts that the journal lacks")
    func unknown() throws {
        let report = try json(document([3, 1, 2].map { outcome($0) }))
        #expect(report["decided"]?.int64 == 3 && report["due"]?.int64 == 3)
        for member in ["accepted", "in_flight", "requests", "clock_set_back"] {
            #expect(report[member]?.kind == .null, "\(member)")
        }
        #expect(report["observers"]?["in_flight"]?.kind == .null)
        #expect(report["source"]?["kind"]?.string == "journal")
        #expect(report["source"]?["unknown"]?.elements.compactMap(\.string) == JournalFacts.unknown)
        #expect(report["by_handler"]?["crm"]?["total"]?["max_ms"]?.double == 0.03)
    }

    @Test("each format says that the report is of the journal")
    func named() {
        let document = document([outcome(1)])
        #expect(
            document.lines(TextStyle()).contains {
                $0.text.hasPrefix(
                    "Source               the journal of pushrouterd.service: 1 outcome, observers' too, entries from ")
            })
        #expect(document.lines(TextStyle()).contains { $0.text.hasSuffix("the number in flight is not known") })
        #expect(document.html.contains("Source: the journal of pushrouterd.service: 1 outcome"))
        #expect(document.markdown.contains("Source: the journal of pushrouterd.service: 1 outcome"))
        #expect(document.junit.contains("<testsuites name=\"pushctl report --from-journal\""))
        for text in [document.html, document.markdown] { #expect(!text.contains("accepted = ")) }
        #expect(document.lines(TextStyle()).contains { $0.text.hasPrefix("The journal does not have") })
    }

    @Test("finds outcomes without an entry by the numbers, and the known facts about them")
    func numbers() {
        #expect(gaps([outcome(5), outcome(6), outcome(7)]) == [:], "nobody knows what was before the first")
        #expect(gaps([outcome(5), outcome(8)]) == ["no_entry": 2])
        #expect(
            document([outcome(5), outcome(8)]).gapSentences
                == ["outcomes without an entry in the journal, which the figures leave out: 2"])
        #expect(gaps([record(.started, 0), outcome(3)]) == ["no_entry": 2])
        let last = record(.stopped, 9, ["PUSH_OUTCOME_NUMBER": "9"])
        #expect(gaps([outcome(5), last]) == ["no_entry": 4])
        let told = [
            record(.summed, 6, ["PUSH_OUTCOMES": "2"]), record(.dropped, 7, ["PUSH_DROPPED": "1"]),
            record(.suppressed, 8, program: "/lib/systemd/systemd-journald", ["N_DROPPED": "40"]),
        ]
        #expect(
            gaps([outcome(5)] + told + [outcome(9)])
                == ["no_entry": 3, "summed_outcomes": 2, "dropped_entries": 1, "suppressed_entries": 40])
    }

    @Test("counts dropped entries as possible outcomes, until the numbers show that none is missing")
    func unproven() throws {
        let dropped = record(.dropped, 6, ["PUSH_DROPPED": "7"])
        func isComplete(_ records: [JournalRecord]) throws -> Bool? {
            try json(document(records))["source"]?["complete"]?.bool
        }
        #expect(try isComplete([outcome(5), dropped]) == false)
        #expect(try isComplete([outcome(5), dropped, outcome(6)]) == true)
        #expect(try isComplete([outcome(5), dropped, outcome(7)]) == false)
        #expect(gaps([outcome(5), dropped, outcome(6)]) == ["dropped_entries": 7])
    }

    @Test("reports missing entries on both sides of the window's edges")
    func edges() throws {
        let burst = [
            outcome(3), outcome(10) { $0["PUSH_OUTCOME_NUMBER"] = "500" },
            outcome(11) { $0["PUSH_OUTCOME_NUMBER"] = "501" },
        ]
        func time(_ second: Int64) -> WallTime { WallTime(milliseconds: Self.begin + second * 1000) }
        #expect(gaps(burst, ReportWindow(since: time(0), until: time(5))) == ["no_entry": 496])
        #expect(gaps(burst, ReportWindow(since: time(5), until: time(20))) == ["no_entry": 496])
        #expect(gaps(burst, ReportWindow(since: time(11), until: time(20))) == [:])
        // Of the two entries the first is not before the end of the window, or the last is at its begin.
        #expect(gaps(burst, ReportWindow(since: time(0), until: time(3))) == [:])
        #expect(gaps(burst, ReportWindow(since: time(10), until: time(20))) == ["no_entry": 496])
        let crash = [outcome(3), record(.started, 60, run: "b")]
        #expect(gaps(crash, ReportWindow(since: time(0), until: time(30))) == ["unended_runs": 1])
    }

    @Test("includes an outcome of the window whose entry came after it")
    func lateAlone() {
        let window = ReportWindow(
            since: WallTime(milliseconds: Self.begin), until: WallTime(milliseconds: Self.begin + 4000))
        let late = outcome(50) { $0["PUSH_ACCEPTED_AT_USEC"] = "\((Self.begin + 3999) * 1000)" }
        #expect(document([late], window).lines(TextStyle()).contains { $0.text.contains(": 1 outcome,") })
    }

    @Test("counts a bounded number of handler names: forged entries take bounded memory")
    func names() {
        let records = (1...1200).map { number in outcome(number) { $0["PUSH_HANDLER"] = "handler-\(number)" } }
        #expect(gaps(records) == ["unreadable_entries": 200])
        #expect(
            gaps([outcome(1) { $0["PUSH_ROUTE"] = String(repeating: "r", count: 1025) }]) == ["unreadable_entries": 1])
    }

    @Test("reports runs that ended without an entry, and how long the daemon was down")
    func runs() throws {
        let stop = record(.stopped, 2, ["PUSH_OUTCOME_NUMBER": "1"])
        let orderly = [record(.started, 0), outcome(1), stop, record(.started, 60, run: "b")]
        #expect(gaps(orderly) == ["absences": 1])
        #expect(try json(document(orderly))["source"]?["away_ms"]?.int64 == 58_000)
        #expect(try json(document(orderly))["source"]?["complete"]?.bool == true)
        let crash = [record(.started, 0), outcome(1), record(.started, 61, run: "b")]
        #expect(gaps(crash) == ["absences": 1, "unended_runs": 1])
        #expect(try json(document(crash))["source"]?["complete"]?.bool == false)
        #expect(document(crash).gapSentences.contains("the daemon was absent for 1 min in all, between its entries"))
        #expect(
            gaps([record(.clockStepped, 1), record(.storeStalled, 2), record(.resumed, 3, program: nil)])
                == ["clock_steps": 1, "store_stalls": 1, "suspensions": 1])
    }

    @Test("ignores entries that the daemon did not write: of another program of its unit, or in a handler's cgroup")
    func forged() throws {
        let runs = "/system.slice/pushrouterd.service/runs/1-0"
        let forged = [
            outcome(1, program: "/usr/bin/logger"), outcome(1, program: nil), outcome(1, cgroup: runs),
            outcome(1, program: "/tmp/pushrouterd/evil"),
        ]
        #expect(gaps(forged) == ["foreign_entries": 4])
        #expect(try json(document(forged))["decided"]?.int64 == 0)
        // journald's own entries have no unit; the field MESSAGE_ID may occur twice.
        var suppressed = record(.suppressed, 2, program: "/opt/handler", ["N_DROPPED": "9000"])
        suppressed.isUnits = true
        #expect(gaps([suppressed]) == ["foreign_entries": 1])
        // An upgrade replaced the program while it ran.
        #expect(gaps([outcome(1, program: "/usr/sbin/pushrouterd (deleted)")]) == [:])
    }

    @Test(
        "leaves out entries without the fields that a report needs, and reports them",
        arguments: [
            ("PUSH_N", nil), ("PUSH_MODE", nil), ("PUSH_ACCEPTED_AT_USEC", nil), ("PUSH_OUTCOME", "nosuch"),
            ("PUSH_TOTAL_USEC", "-1"), ("PUSH_EXEC_USEC", ""), ("PUSH_QUEUE_USEC", "1e3"), ("PUSH_SEQ", "+1"),
            ("PUSH_DEADLINE_USEC", "9223372036854775807"), ("PUSH_WAITED_FOR", "4"), ("PUSH_PLATFORM", "\u{FFFD}"),
            ("PUSH_REASON_CODE", "nosuch"), ("PUSH_WAITED_FOR", "1/2/3"),
        ] as [(String, String?)])
    func unreadable(field: String, value: String?) throws {
        let entry = outcome(1) { $0[field] = value }
        #expect(throws: JournalFieldError(field: field)) {
            try ReportRow(journal: entry.values, decidedAt: entry.time)
        }
        #expect(gaps([entry, outcome(2)]) == ["unreadable_entries": 1])
    }

    @Test("never overflows when it adds up the values of entries")
    func sums() {
        let most = String(Int64(1) << 53)
        let records = (1...4000).map { record(.summed, $0, ["PUSH_OUTCOMES": most]) }
        #expect(gaps(records)["summed_outcomes"] == 1 << 60)
    }

    @Test("covers the requests accepted in the window, however much later they ended")
    func window() throws {
        let window = ReportWindow(
            since: WallTime(milliseconds: Self.begin + 2000), until: WallTime(milliseconds: Self.begin + 4000))
        let late = outcome(50) { $0["PUSH_ACCEPTED_AT_USEC"] = "\((Self.begin + 3999) * 1000)" }
        let records = [outcome(1), outcome(2), outcome(3), outcome(4), late]
        #expect(try json(document(records, window))["decided"]?.int64 == 3)
        #expect(gaps(records, window) == [:], "what has no entry after the window is not the window's")
    }

    @Test("reports that the journal begins after the window")
    func beginning() {
        var facts = JournalFacts(unit: "u", begin: WallTime(milliseconds: Self.begin))
        _ = facts.take(outcome(1), in: ReportWindow())
        let report = ComplianceReport(mode: .device, budget: .seconds(9), source: .journal(facts))
        let document = ReportDocument(report: report, detail: ReportDetail())
        #expect(document.gapSentences.contains { $0.hasPrefix("the journal begins at ") })
    }
}
