import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The daemon's metrics", .timeLimit(.minutes(30)))
struct MetricsTests {
    private let installation = Installation("[Daemon]\nReadSocketMode=0644\n")

    private func ask(_ reader: Client, _ format: MetricsFormat = .prometheus) throws -> [String] {
        let reply = try reader.ask(#"{"op":"metrics","format":"\#(format.rawValue)","id":"m"}"#)
        #expect(reply["id"]?.string == "m" && reply["content_type"]?.string == format.contentType)
        return (reply["metrics"]?.string ?? "").split(separator: "\n").map(String.init)
    }

    @Test("count the outcomes of deliveries, by handler and provider, and come in both formats over read.sock")
    func counts() throws {
        installation.addJob("good", "exit 0")
        installation.addJob("bad", "exit 1")
        installation.addHandler("gone", "Exec=/nonexistent")
        installation.addRoute("50-gone", to: "gone", match: "Data=job gone", route: "")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for (job, outcome) in [("good", "handled"), ("bad", "failed"), ("gone", "failed"), ("good", "handled")] {
            #expect(try client.ask(Requests.deliver(job: job)).isAccepted)
            #expect(try client.next().outcome == outcome)
        }
        _ = try client.ask("rubbish")
        let reader = try Client(path: installation.readSocket)
        let lines = try ask(reader)
        for line in [
            "pushrouterd_up 1", "pushrouterd_requests_accepted_total 4",
            #"pushrouterd_outcomes_total{outcome="handled"} 2"#, #"pushrouterd_outcomes_total{outcome="failed"} 2"#,
            #"pushrouterd_handler_outcomes_total{handler="good",outcome="handled"} 2"#,
            #"pushrouterd_handler_outcomes_total{handler="bad",outcome="failed"} 1"#,
            #"pushrouterd_handler_start_failures_total{handler="gone"} 1"#,
            #"pushrouterd_handler_start_failures_total{handler="good"} 0"#,
            #"pushrouterd_handler_total_seconds_count{handler="good"} 2"#,
            #"pushrouterd_handler_exec_seconds_count{handler="gone"} 0"#,
            #"pushrouterd_provider_outcomes_total{provider="(none)",outcome="failed"} 2"#,
            #"pushrouterd_peer_refused_total{reason="invalid_request",uid="\#(geteuid())"} 1"#,
            #"pushrouterd_connections{socket="read"} 1"#, "pushrouterd_journal_dropped_total 0",
        ] { #expect(lines.contains(line), "\(line)") }
        let commits = lines.first { $0.hasPrefix("pushrouterd_commit_seconds_count ") }
        let total = lines.first { $0.hasPrefix("pushrouterd_log_commits_total ") }
        #expect(commits?.split(separator: " ").last == total?.split(separator: " ").last)
        let memory = lines.first { $0.hasPrefix("pushrouterd_resident_memory_bytes ") }?.split(separator: " ").last
        #expect(memory.flatMap { Int($0) } ?? 0 > 1 << 20)
        #expect(try ask(reader, .openMetrics).last == "# EOF")
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("come from a status whose members are those that pushctl-status(1) explains, in that order")
    func statusMembers() throws {
        installation.addJob("good", "exit 0")
        let daemon = try DaemonProcess.ready(installation)
        let status = try #require(try Client(path: installation.readSocket).ask(#"{"op":"status"}"#)["status"])
        let page = Program(product: "pushctl").run(["status", "--generate", "man"]).output.split(separator: "\n")
        let section = page.drop { $0 != ".SH STATUS" }.dropFirst().prefix { !$0.hasPrefix(".SH ") }
        let explained = section.filter { $0.hasPrefix(".B ") }.flatMap { $0.dropFirst(3).split(separator: ", ") }
            .map(String.init)
        #expect(explained.count > 90)
        // A member that is null has no members of its own yet.
        let told = members(of: status, "").flatMap { name in
            explained.contains(name) ? [name] : explained.filter { $0.hasPrefix(name + ".") }
        }
        #expect(told == explained)
        #expect(try daemon.stop() == .exited(0))
    }

    /// Returns the names of all members, including nested objects; a handler's name becomes `NAME`.
    private func members(of node: JSONNode, _ path: String) -> [String] {
        let byLabel = [
            "clients.refused", "gaps", "custom_data.settled", "custom_data.pauses", "dead_letters.handlers",
            "payload_warnings",
        ]
        guard node.kind == .object, !byLabel.contains(path) else { return [path] }
        let isOfHandlers = path == "handlers"
        return node.members.flatMap { name, value in
            members(of: value, (path.isEmpty ? "" : path + ".") + (isOfHandlers ? "NAME" : name))
        }
    }

    @Test("answer in the order of the requests, and refuse requests when too many wait")
    func pipelined() throws {
        let daemon = try DaemonProcess.ready(installation)
        let reader = try Client(path: installation.readSocket)
        let count = 200
        for number in 0..<count { try reader.send(line: #"{"op":"metrics","id":"\#(number)"}"#) }
        var answered = 0
        for number in 0..<count {
            let reply = try reader.next()
            #expect(reply["id"]?.string == "\(number)")
            if reply["ok"]?.bool == true {
                answered += 1
            } else {
                #expect(reply["error"]?["code"]?.string == "overloaded")
            }
        }
        #expect(answered > 0)
        withExtendedLifetime(daemon) {}
    }

    @Test("are refused in an unknown format")
    func wrongFormat() throws {
        let daemon = try DaemonProcess.ready(installation)
        let reply = try Client(path: installation.readSocket).ask(#"{"op":"metrics","format":"xml"}"#)
        #expect(reply["error"]?["message"]?.string == "format is one of openmetrics, prometheus")
        withExtendedLifetime(daemon) {}
    }
}
