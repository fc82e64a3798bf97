import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("pushctl log, pending and flush, with a daemon", .timeLimit(.minutes(30)))
struct PushctlLogTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon() }

    /// Returns the request line from the daemon.
    private func request(_ seq: Int) throws -> JSONNode {
        try #require(try json(daemon.pushctl("show", "\(seq)", "--json").output)["request"])
    }

    private func pending(_ arguments: String...) throws -> [JSONNode] {
        let result = pushctl.run(daemon.options + ["pending", "--json"] + arguments)
        return try json(result.output)["entries"]?.elements ?? []
    }

    @Test("sends an event with properties of any type; a value without := is a text")
    func event() throws {
        let result = daemon.pushctl(
            "log", "event", "bought", "--property", "sku=01", "--property", "price:= 9.90", "--property", "gift:=true",
            "--app", "shop", "--device", "pixel", "--external-id", "anna", "--platform", "ios", "--suite", "group.shop",
            "--at", "2026-11-21T09:00:00Z", "--id", "e1")
        #expect(result.end == .exited(0) && result.output == "accepted  seq 1  (log)\n" && result.errors.isEmpty)
        let request = try request(1)
        #expect(request["kind"]?.string == "custom_event" && request["name"]?.string == "bought")
        #expect(request["properties"]?.text == #"{"sku":"01","price":9.90,"gift":true}"#)
        #expect(request["at"]?.string == "2026-11-21T09:00:00Z" && request["platform"]?.string == "ios")
        let entry = try #require(try pending().first)
        #expect(entry["suite"]?.string == "group.shop" && entry["external_id"]?.string == "anna")
        #expect(entry["time"]?.string == "2026-11-21T09:00:00Z" && entry["device"]?.string == "pixel")
    }

    @Test("sends attributes, the app's own and Braze's; and at once, with a braze_id")
    func attributes() throws {
        #expect(daemon.pushctl("log", "attribute", "plan=free", "visits:=3", #"tags:=["a"]"#).end == .exited(0))
        #expect(try request(1)["attributes"]?.text == #"{"plan":"free","visits":3,"tags":["a"]}"#)
        #expect(daemon.pushctl("log", "user-attribute", "email=a@b.c", "--braze-id", "b1").end == .exited(0))
        #expect(try request(2)["kind"]?.string == "user_attributes")
        #expect(try pending().map { $0["state"]?.string } == ["pending", "queued"])
        #expect(try pending("--queued").first?["to"]?["braze_id"]?.string == "b1")
    }

    @Test("reports the rejected parts with reasons, ends with 1, and does so again on a repeat")
    func rejected() throws {
        let arguments = ["log", "attribute", "plan=free", "email=a@b.c", "--id", "a1"]
        let first = pushctl.run(daemon.options + arguments)
        #expect(first.end == .exited(1) && first.output == "accepted  seq 1  (log)\n")
        #expect(first.errors.hasPrefix("pushctl: log: custom data rejected, entry "), "\(first.errors)")
        #expect(first.errors.contains(": attributes.email: "), "\(first.errors)")
        let second = pushctl.run(daemon.options + arguments)
        #expect(second.end == .exited(1) && second.errors == first.errors)
        let reply = try json(pushctl.run(daemon.options + arguments + ["--json"]).output)
        #expect(reply["rejected"]?.elements.first?["field"]?.string == "attributes.email")
        #expect(try pending().count == 1)
        #expect(try pending("--rejected").map { $0["reason"]?.string?.hasPrefix("attributes.email: ") } == [true])
    }

    @Test("inject takes log lines, completed by the options, and waits for no outcome of theirs")
    func inject() throws {
        let lines = """
            {"op":"log","kind":"custom_event","name":"a"}
            {"op":"log","kind":"custom_event","name":"b","app":"other","properties":{"time":1}}

            """
        let result = daemon.pushctl("inject", "--app", "shop", "--wait", "-", input: lines)
        #expect(result.end == .exited(1) && result.lines.count == 2)
        #expect(result.errors.contains("standard input:2: custom data rejected, entry "), "\(result.errors)")
        #expect(try pending().map { $0["app"]?.string } == ["shop"])
    }

    @Test("waiting entries are flushed by a session, or on demand for a named app, device, user and suite")
    func flush() throws {
        for suite in ["one", "two"] {
            _ = daemon.pushctl("log", "event", "bought", "--app", "shop", "--suite", suite)
            _ = daemon.pushctl("log", "attribute", "suite=\(suite)", "--app", "shop", "--suite", suite)
        }
        let other = daemon.pushctl("flush", "--app", "other")
        #expect(other.end == .exited(0) && other.output == "flushed 0 entries\n")
        let some = daemon.pushctl("flush", "--app", "shop", "--external-id", "anna", "--suite", "two", "--json")
        #expect(try json(some.output)["flushed"]?.int64 == 2)
        #expect(daemon.pushctl("users", "--where", "suite=two").output == "anna\n")
        #expect(try pending().map { $0["suite"]?.string } == ["one", "one"])
        let session = daemon.pushctl(
            "session", "start", "--app", "shop", "--device", "pixel", "--external-id", "anna")
        #expect(session.end == .exited(0))
        #expect(try pending().isEmpty)
        #expect(daemon.pushctl("users", "--where", "suite=one").output == "anna\n")
        #expect(daemon.pushctl("user", "anna").output.contains("\nEvents    2 custom\n"))
    }

    @Test("--reset empties a suite, for one app or for all")
    func reset() throws {
        for app in ["shop", "news"] {
            _ = daemon.pushctl("log", "event", "bought", "--app", app, "--suite", "group")
        }
        #expect(try pending().allSatisfy { $0["storage"]?.string == "pending_custom_events" })
        #expect(daemon.pushctl("pending", "--reset", "group", "--app", "shop").output == "discarded 1 entry\n")
        #expect(try pending().map { $0["app"]?.string } == ["news"])
        #expect(daemon.pushctl("pending", "--reset", "group").output == "discarded 1 entry\n")
        #expect(try pending().isEmpty)
    }

    @Test("a person decides about entries that were sent and perhaps not accepted")
    func unknown() throws {
        for name in ["a", "b", "c"] { _ = daemon.pushctl("log", "event", name, "--braze-id", "b1") }
        // Each forwarder leaves as soon as it has the entries; the daemon accepts the next one when it has noticed
        // that.
        for instance in 1...2 {
            try waitUntil("forwarder \(instance) has the entries") {
                let claim = #"{"op":"claim","instance":"00000000-0000-4000-8000-00000000000\#(instance)","limit":3}"#
                let reply = try Client(path: daemon.installation.controlSocket).ask(claim)
                #expect(reply.isAccepted || reply.errorCode == "unavailable", "\(reply)")
                return reply.isAccepted
            }
        }
        let unknown = try pending("--unknown").compactMap { $0["number"]?.int64 }
        try #require(unknown.count == 3)
        #expect(daemon.pushctl("pending", "--retry", "\(unknown[0]),\(unknown[1])").output == "queued 2 entries\n")
        #expect(try pending("--queued").compactMap { $0["number"]?.int64 } == Array(unknown[..<2]))
        let repeated = daemon.pushctl("pending", "--retry", "\(unknown[0])")
        #expect(repeated.end == .exited(1) && repeated.errors.contains("1 entry is not unknown"))
        #expect(daemon.pushctl("pending", "--discard", "\(unknown[0])").output == "discarded 1 entry\n")
        #expect(daemon.pushctl("pending", "--discard", "\(unknown[0])").end == .exited(1))
        #expect(daemon.pushctl("pending", "--discard", "all").output == "discarded 1 entry\n")
        #expect(try pending("--unknown").isEmpty)
    }

    @Test("an order that the daemon refuses ends with 1 and the reason")
    func refused() {
        let result = daemon.pushctl("flush", "--app", "")
        #expect(result.end == .exited(1))
        #expect(result.errors.hasPrefix("pushctl: flush: refused: app: "), "\(result.errors)")
    }

    @Test("shows the status of custom data, and the entries to be sent in the metrics")
    func status() {
        _ = daemon.pushctl("log", "event", "a", "--braze-id", "b1")
        #expect(daemon.pushctl("status", "--all").output.contains("\ncustom_data.queued                1\n"))
        let metrics = daemon.pushctl("status", "--format", "openmetrics").lines
        #expect(metrics.contains(#"pushrouterd_custom_data_entries{state="queued"} 1"#))
    }
}
