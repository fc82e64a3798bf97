import Testing

@testable import PushModel
@testable import PushViews

@Suite("The list of entries")
struct PendingReportTests {
    private let report = PendingReport(
        entries: [
            entry(9, name: nil, data: #"{"plan":"free","age":3}"#, savedAt: 1000),
            entry(
                10, .unknown, destination: .sent(.brazeID("b1")), savedAt: 90_000_000, reason: "the answer never came"),
            entry(
                11, .queued, destination: .sent(.alias(name: "n", label: "l")),
                name: "a name that is far longer than its column", savedAt: 93_600_000),
        ],
        counts: [
            EntryCount(suite: nil, state: .queued, count: 1, bytes: 20, oldest: WallTime(milliseconds: 93_600_000)),
            EntryCount(suite: nil, state: .unknown, count: 1, bytes: 9, oldest: WallTime(milliseconds: 90_000_000)),
            EntryCount(
                suite: "standard", state: .pending, count: 1201, bytes: 40_000, oldest: WallTime(milliseconds: 0)),
        ],
        now: WallTime(milliseconds: 93_607_800), zone: LocalZone(name: "CET") { _ in 3600 })

    @Test("for people has user, entry, local time and reason; and the suites with all their entries")
    func text() {
        #expect(
            report.text == """
                Number  Kind               State    Suite     App   Device  User         \
                Name                                  Saved                           Age
                     9  custom_attributes  pending  standard  shop  -       -            \
                plan, age                             1970-01-01 01:00:01 +01:00  1 d 2 h
                    10  custom_event       unknown  (direct)  shop  -       braze_id b1  \
                bought                                1970-01-02 02:00:00 +01:00      1 h
                    11  custom_event       queued   (direct)  shop  -       alias n (l)  \
                a name that is far longer than its …  1970-01-02 03:00:00 +01:00    7.8 s

                10 unknown: the answer never came

                ... and 1,200 more; --limit sets the number shown.

                Suite     State    Entries   Bytes   Oldest
                (direct)  queued         1      20    7.8 s
                (direct)  unknown        1       9      1 h
                standard  pending    1,201  40,000  1 d 2 h

                """)
    }

    @Test("keeps a name with a line feed on one line, so that it forges no entry")
    func lineFeeds() {
        let text = PendingReport(
            entries: [entry(1, name: "a\r\n     2  custom_event"), entry(3, name: nil, data: #"{"b\nc":1}"#)],
            counts: [EntryCount(suite: "s", state: .pending, count: 2, bytes: 1, oldest: WallTime(milliseconds: 0))],
            now: WallTime(milliseconds: 0)
        ).text
        #expect(text.split(separator: "\n").count == 5, "\(text)")
        #expect(text.contains(#"b\x0ac"#))
    }

    @Test("the list of custom data entries says that it is empty")
    func none() {
        let report = PendingReport(now: WallTime(milliseconds: 0))
        #expect(report.text == "No entry is waiting.\n")
        #expect(report.json == Array(#"{"entries":[],"counts":[]}"#.utf8) + [10])
    }

    @Test("the list of custom data entries in JSON has every field")
    func json() throws {
        let root = try JSONDocument(scanning: report.json).root
        let entries = try #require(root["entries"]?.elements)
        #expect(entries.map { $0["number"]?.int64 } == [9, 10, 11])
        #expect(entries[0]["data"]?["plan"]?.string == "free" && entries[0]["suite"]?.string == "standard")
        #expect(entries[0]["to"] == nil && entries[0]["seq"]?.int64 == 90)
        #expect(entries[0]["time"]?.string == "1970-01-01T00:00:00.995Z")
        #expect(entries[0]["age_ms"]?.int64 == 93_606_800)
        #expect(entries[1]["suite"]?.kind == .null && entries[1]["to"]?["braze_id"]?.string == "b1")
        #expect(entries[1]["reason"]?.string == "the answer never came")
        #expect(entries[2]["to"]?["alias"]?["label"]?.string == "l")
        #expect(root["counts"]?.elements.last?["entries"]?.int64 == 1201)
    }

    @Test("shows no user for an entry whose track found none")
    func nobody() throws {
        let report = PendingReport(
            entries: [
                entry(
                    1, .rejected, destination: .unidentified, reason: "braze_id: the payload has no key-value braze_id")
            ],
            counts: [EntryCount(suite: nil, state: .rejected, count: 1, bytes: 1, oldest: WallTime(milliseconds: 0))],
            now: WallTime(milliseconds: 0))
        let root = try JSONDocument(scanning: report.json).root
        #expect(root["entries"]?.elements.first?["to"]?.kind == .null)
        let row = report.text.split(separator: "\n").dropFirst().first ?? ""
        #expect(row.contains("  shop  -       -     bought  "), "\(report.text)")
    }

    @Test("shows a rejected entry that is no longer JSON as a text")
    func broken() throws {
        let report = PendingReport(
            entries: [entry(1, .rejected, name: nil, data: #"{"a":"b"#)], now: WallTime(milliseconds: 0))
        let root = try JSONDocument(scanning: report.json).root
        #expect(root["entries"]?.elements.first?["data"]?.string == #"{"a":"b"#)
    }
}
