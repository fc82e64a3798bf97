import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Secrets in a payload", .timeLimit(.minutes(30)))
struct SecrecyTests {
    /// A text in keys and values of every payload, and in refused requests.
    private static let secret = "XyZZy-7731"

    private static let refused: [(line: String, code: String)] = [
        (#"{"op":"deliver","payload":{"data":{"k":"\#(secret)"}"#, "invalid_json"),
        (#"{"op":"deliver","payload":{"data":{"\#(secret)":"a","\#(secret)":"b"}}}"#, "duplicate_key"),
        (#"{"op":"\#(secret)"}"#, "unknown_op"),
        (#"{"op":"deliver","\#(secret)":1,"payload":{}}"#, "unknown_key"),
        (#"{"op":"deliver","payload":"\#(secret)"}"#, "invalid_type"),
        (#"{"op":"deliver","state":"\#(secret)","payload":{"data":{}}}"#, "invalid_value"),
        (#"{"op":"deliver","payload":{"message":{"token":"t","data":{"\#(secret)":7}}}}"#, "invalid_payload"),
        (#"{"op":"deliver"}"#, "missing_key"),
        (#"{"op":"deliver","id":"same","payload":{"data":{"k":"\#(secret)"}}}"#, "id_conflict"),
        (
            #"{"op":"deliver","payload":{"data":"# + String(repeating: "[", count: 40) + "\"\(secret)\""
                + String(repeating: "]", count: 40) + "}}", "too_deep"
        ),
    ]

    private static func delivery(_ job: String, _ members: String = "") -> String {
        #"{"op":"deliver","platform":"android","wait":"outcome"\#(members),"#
            + #""payload":{"data":{"job":"\#(job)","\#(secret)":"\#(secret)"}}}"#
    }

    private static let braze = #"{"data":{"_ab":"true","cid":"\#(secret)","t":"\#(secret)","a":"\#(secret)"}}"#

    /// Requests with one outcome each.
    private static let accepted: [(line: String, outcome: String)] = [
        (delivery("well"), "handled"), (delivery("badly"), "failed"), (delivery("gone"), "failed"),
        (delivery("slow"), "timed_out"), (delivery("declines"), "unrouted"), (delivery("log"), "handled"),
        (#"{"op":"deliver","platform":"android","wait":"outcome","payload":\#(braze)}"#, "handed_to_tracker"),
        (
            #"{"op":"deliver","platform":"ios","wait":"outcome","payload":{"aps":{"alert":"\#(secret)"}}}"#,
            "shown_by_system"
        ),
        (
            #"{"op":"deliver","platform":"android","wait":"outcome","payload":{"extras":{"message_type":"\#(secret)"}}}"#,
            "swallowed"
        ),
        (
            #"{"op":"deliver","platform":"android","state":"force_stopped","wait":"outcome","#
                + #""payload":{"data":{"\#(secret)":"\#(secret)"}}}"#, "not_woken"
        ),
        (
            #"{"op":"deliver","platform":"ios","sdk":"nil","wait":"outcome","#
                + #""payload":{"aps":{"content-available":1},"ab":{"c":"\#(secret)"}}}"#, "sdk_not_ready"
        ),
        (#"{"op":"token","kind":"new","platform":"android","wait":"outcome","token":"\#(secret)"}"#, "unrouted"),
    ]

    @Test("reach neither the journal nor standard error, through all refusals and outcomes, a crash and a reload")
    func nowhere() throws {
        let installation = Installation("[Journal]\nSuccessLevel=info\n")
        installation.addJob("well", "cat >/dev/null")
        // The output of a failing handler is reported (ThreatModel); its author decides whether it contains payloads.
        installation.addJob("badly", "cat >/dev/null; exit 1")
        installation.addJob("slow", "sleep 60", route: "Deadline=2s")
        installation.addJob("declines", "exit 80")
        installation.addJob(
            "log",
            "echo '{\"log\":[{\"kind\":\"custom_event\",\"data\":{\"name\":\"\(Self.secret)\",\"properties\":{\"time\":1}}}]}'"
        )
        installation.addHandler("gone", "Exec=/nonexistent/program")
        installation.addRoute("50-gone", to: "gone", match: "Data=job gone")
        installation.addRoute("99-default", to: "journal", match: "Data=job none")
        var text = ""
        do {
            let daemon = try DaemonProcess.ready(installation)
            let client = try installation.injectClient()
            #expect(try client.ask(Requests.deliver(id: "same", waits: false)).isAccepted)
            for (line, code) in Self.refused {
                let reply = try client.ask(line)
                #expect(reply.errorCode == code, "\(reply)")
            }
            for (line, outcome) in Self.accepted {
                let found = try client.outcome(of: line)
                #expect(found.outcome == outcome, "\(found)")
                #expect(found.reason?.contains(Self.secret) != true, "\(found)")
            }
            try client.send(line: Self.delivery("slow"))
            #expect(try client.next().isAccepted)
            daemon.send(SIGHUP)
            try daemon.waitForNotification("READY=1", times: 2)
            daemon.crash()
            text += daemon.standardError
        }
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().outcome(of: Self.delivery("well")).outcome == "handled")
        #expect(try daemon.stop() == .exited(0))
        text += daemon.standardError
        // The examined text must contain the events in question.
        for outcome in Set(Self.accepted.map(\.outcome)) {
            #expect(text.contains("push_outcome=\(outcome)"), "no entry tells of \(outcome)")
        }
        #expect(text.contains("push_refusal=invalid_request"))
        let missed = text.split(separator: "\n").filter { $0.contains("push_outcome=timed_out") }
        #expect(!missed.isEmpty && missed.allSatisfy { $0.contains(" level=warning ") })
        #expect(!text.contains(Self.secret), "\(text.split(separator: "\n").filter { $0.contains(Self.secret) })")
    }
}
