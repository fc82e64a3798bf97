import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("pushctl, of a ledger with custom data", .timeLimit(.minutes(30)))
struct PushctlCustomDataTests {
    private let installation = Installation()

    /// Request 1 logs entries 1 to 4: flushed by request 2, waiting, rejected, and of unknown outcome.
    init() throws {
        let event = AnalyticsEvent(
            id: UUID128(high: 1, low: 2), time: 1_795_230_480, seq: SequenceNumber(2),
            delivery: SequenceNumber(2), externalUserID: "anna", deviceID: "pixel", appID: "shop", platform: .android,
            content: .customEvent(name: "bought", properties: #"{"price":9.50}"#))
        let records: [CustomDataRecord] = [
            .entry(entry(1, data: #"{"price":9.50}"#), .pending, problem: nil),
            .entry(entry(2, suite: "group.shop"), .pending, problem: nil),
            .entry(
                entry(3, name: nil, data: #"{"time":1}"#), .rejected,
                problem: EntryProblem(.reservedName, "reserved", field: "attributes.time")),
            .entry(entry(4, suite: nil), .queued, problem: nil),
            .moved(EntryMove(number: EntryNumber(1), state: .flushed, at: Self.time(60), by: SequenceNumber(2))),
            .moved(EntryMove(number: EntryNumber(4), state: .unknown, at: Self.time(61), reason: "no answer")),
            attribute("plan", #""paid""#, .customAttributes), attribute("zip", "81234", .customAttributes),
            attribute("country", #""DE""#, .userAttributes),
        ]
        try fillLedger(
            of: installation,
            with: [.request(request(1, .log)), .request(request(2, .session)), .event(event)]
                + records.map { .customData($0) })
    }

    private static func time(_ seconds: Int64) -> WallTime {
        WallTime(milliseconds: 1_795_230_480_000 + seconds * 1000)
    }

    private func request(_ seq: Int64, _ operation: Operation) -> AcceptedRequest {
        AcceptedRequest(
            seq: SequenceNumber(seq), operation: operation, id: nil, peer: Peer(uid: 0, gid: 0, pid: 1),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: seq), wall: Self.time(0)),
            boot: UUID128(high: 1, low: 2), mode: .device, platform: .android, app: "shop", device: "pixel",
            externalID: nil, messageID: nil,
            body: Array(#"{"op":"log","kind":"custom_event","name":"bought"}"#.utf8))
    }

    private func entry(
        _ number: Int64, suite: String? = "standard", name: String? = "bought", data: String = "{}"
    ) -> CustomEntry {
        CustomEntry(
            number: EntryNumber(number), cause: SequenceNumber(1), kind: name == nil ? .customAttributes : .customEvent,
            destination: suite.map { .stored(suite: $0) } ?? .sent(.brazeID("b1")), platform: .android, app: "shop",
            device: "pixel", externalID: nil, name: name, data: Array(data.utf8), time: Self.time(0),
            savedAt: Self.time(0))
    }

    private func attribute(_ name: String, _ value: String, _ kind: EntryKind) -> CustomDataRecord {
        .attribute(
            AttributeRow(
                owner: .user("anna"), kind: kind, name: name, change: .set(Array(value.utf8)), at: Self.time(60),
                entry: EntryNumber(9)))
    }

    private func run(_ arguments: String...) -> Program.Result {
        pushctl.run(
            ["--state", installation.state, "--config", shippedConfiguration] + arguments, environment: ["TZ": "UTC"])
    }

    @Test("lists waiting entries, and their suites; filters restrict the list")
    func pending() throws {
        let all = run("pending")
        #expect(all.end == .exited(0))
        let row = "     4  custom_event  unknown  (direct)    shop  pixel   braze_id b1  bought  2026-"
        #expect(all.output.contains(row), "\(all.output)")
        #expect(all.output.contains("\n4 unknown: no answer\n"))
        #expect(all.output.contains("\ngroup.shop  pending        1      8  "), "\(all.output)")
        let rejected = run("pending", "--rejected").output
        #expect(rejected.contains("\n3 rejected: attributes.time: reserved\n") && !rejected.contains("group.shop"))
        func numbers(_ arguments: String...) throws -> [Int64?] {
            let result = pushctl.run(["pending", "--json", "--state", installation.state] + arguments)
            return try json(result.output)["entries"]?.elements.map { $0["number"]?.int64 } ?? []
        }
        #expect(try numbers() == [2, 4])
        #expect(try numbers("--stored") == [2])
        #expect(try numbers("--queued") == [])
        #expect(try numbers("--unknown", "--rejected") == [3, 4])
        #expect(try numbers("--suite", "group.shop") == [2])
        #expect(try numbers("--app", "other") == [])
        #expect(try numbers("--limit", "1") == [2])
        #expect(run("pending", "--limit", "1").output.contains("\n... and 1 more; "))
        #expect(run("pending", "--suite", "none").output == "No entry matches.\n")
    }

    @Test("finds users that meet all conditions on their attributes, as a text or a number")
    func users() throws {
        #expect(run("users", "--where", "plan=paid").output == "anna\n")
        #expect(run("users", "--where", "zip=81234", "--where", "country=DE").output == "anna\n")
        #expect(run("users", "--where", "zip:=81234").output == "anna\n")
        let root = try json(run("users", "--where", "plan=paid", "--json").output)
        #expect(root["count"]?.int64 == 1 && root["users"]?.strings == ["anna"])
        for condition in ["plan=free", "plan:=1", #"zip:="81234""#] {
            let nobody = run("users", "--where", "country=DE", "--where", condition)
            #expect(nobody.end == .exited(1) && nobody.errors == "pushctl: there is no such user\n", "\(condition)")
        }
    }

    @Test("shows a user's attributes with their times, and counts the custom events")
    func user() {
        let text = run("user", "anna").output
        #expect(text.contains("\nzip        custom  81234   2026-11-21 03:09:00 +00:00\n"), "\(text)")
        #expect(text.contains("\nEvents    1 custom\n"))
    }

    @Test("counts custom events by name and day, and their delays")
    func events() throws {
        let text = run("events", "--delays").output
        #expect(text.contains("\n2026-11-21  bought            1\n"), "\(text)")
        #expect(text.contains("\n2026-11-21   bought        flushed      1   1 min  1 min    1 min\n"), "\(text)")
        #expect(!run("events").output.contains("flushed"))
        let root = try json(run("events", "--json", "--delays").output)
        #expect(root["delays"]?.elements.first?["max_ms"]?.int64 == 60_000)
    }

    @Test("exports a custom event with its name, and with its properties as a text")
    func export() throws {
        let line = try json(run("export", "--event", "CustomEvent").output)
        #expect(line["name"]?.string == "bought" && line["properties"]?.string == #"{"price":9.50}"#)
        #expect(run("export", "--event", "Open").output.isEmpty)
    }

    @Test("shows the entries that a request logged, and their states")
    func show() throws {
        let text = run("show", "1").output
        #expect(text.contains("\n  name      bought\n") && text.contains("\n  kind      custom_event\n"), "\(text)")
        #expect(text.contains("\nNo invocation\n"))
        #expect(
            text.hasSuffix(
                """

                Custom data
                  1  custom_event       bought  in standard    flushed 2026-11-21 03:09:00.000 +00:00 by request 2
                  2  custom_event       bought  in group.shop  pending
                  3  custom_attributes  -       in standard    rejected: attributes.time: reserved
                  4  custom_event       bought  (direct)       unknown 2026-11-21 03:09:01.000 +00:00: no answer

                """), "\(text)")
        #expect(run("show", "2").output.contains("  users.behaviors.CustomEvent  by request 2  bought\n"))
        let entries = try json(run("show", "1", "--json").output)["custom_data"]?.elements
        #expect(entries?.map { $0["state"]?.string } == ["flushed", "pending", "rejected", "unknown"])
        #expect(entries?.first?["data"]?["price"]?.text == "9.50" && entries?.first?["settled_by"]?.int64 == 2)
    }

    @Test(
        "refuses contradicting arguments, and names the correct form",
        arguments: [
            (["log", "event"], "event NAME|[user-]attribute KEY=TEXT... is missing"),
            (["log", "purchase", "x"], "purchase: must be event, attribute or user-attribute"),
            (["log", "event", "a", "b=c"], "b=c is one operand too many; for a property write --property b=c"),
            (["log", "event", "a", "--property", "b"], "b: written as KEY=TEXT, or KEY:=JSON"),
            (["log", "event", "a", "--property", "=b"], "=b: written as KEY=TEXT, or KEY:=JSON"),
            (["log", "event", "a", "--property", "b:=c"], "b:=c: not JSON: at byte 0"),
            (["log", "attribute", "a=1", "a:=2"], "a:=2: a is given twice"),
            (["log", "attribute", "a=1", "--property", "b=c"], "--property is for events"),
            (["flush"], "--app APP is missing: it names the app whose session starts"),
            (["pending", "--retry", "all", "--discard", "all"], "exclude each other"),
            (["pending", "--retry", "7,x"], "--retry x: numbers of entries, such as 7,9, or all"),
            (["pending", "--retry", "all", "--app", "a"], "--app selects entries of the list; it cannot"),
            (["pending", "--reset", "a", "--suite", "b"], "it cannot be combined with --reset"),
            (["pending", "--limit", "0"], "--limit 0: a number from 1"),
            (["users"], "--where NAME=VALUE is missing: it is the condition on an attribute"),
            (["users", "--where", "plan"], "plan: written as KEY=TEXT, or KEY:=JSON"),
            (["status", "--json", "--format", "openmetrics"], "--json and --format openmetrics exclude each other"),
        ])
    func usage(_ arguments: [String], _ message: String) {
        let result = pushctl.run(arguments)
        #expect(result.end == .exited(2) && result.output.isEmpty)
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test("pushctl status --format openmetrics prints the metrics")
    func metrics() throws {
        let daemon = try TestDaemon()
        let lines = daemon.pushctl("status", "--format", "openmetrics").lines
        #expect(lines.contains("pushrouterd_running 1") && lines.last == "# EOF")
    }
}
