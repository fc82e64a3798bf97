import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("pushctl reconcile", .timeLimit(.minutes(30)))
struct PushctlReconcileTests {
    private let daemon: TestDaemon

    /// Three pushes of one campaign: one is tapped, one is shown by Android, one is another handler's.
    init() throws {
        daemon = try TestDaemon(Installation("[Tracker]\nGrace=0\n"))
        let client = try daemon.installation.injectClient()
        for (id, payload) in [
            ("m1", #""data":{"_ab":"true","cid":"spring","t":"T","a":"A"}"#),
            ("m2", #""notification":{"title":"T"},"data":{"_ab":"true","cid":"spring","t":"T","a":"A"}"#),
            ("m3", #""data":{"_ab":"TRUE","cid":"spring","t":"T","a":"A"}"#),
        ] {
            let request =
                #"{"op":"deliver","at":82800000,"platform":"android","app":"shop","device":"pixel","payload":{"#
                + #""messageId":"\#(id)",\#(payload)}}"#
            #expect(try client.ask(request).isAccepted)
        }
        let tap = #"{"op":"interact","kind":"opened","at":82860000,"app":"shop","device":"pixel","message":"m1"}"#
        #expect(try client.ask(tap).isAccepted)
        let ledger = try daemon.installation.ledger()
        try waitUntil("the session is decided") { try ledger.pendingStarts().isEmpty }
        try waitUntil("each push is decided") { try ledger.undecidedInvocations().isEmpty }
    }

    private func path(_ name: String) -> String { "\(daemon.installation.root)/\(name)" }

    private func reconcile(_ words: String...) -> Program.Result {
        pushctl.run(daemon.options + ["reconcile"] + words)
    }

    @Test("compares an export by name with a real ledger, in each format, and fails over a share")
    func compares() throws {
        writeFile(
            "\u{FEFF}Campaign Name;Sends;Unique Direct Opens;Opens;Clicks\r\nSpring;4;0;1;7\r\nbad;x;0;0;0\r\n",
            to: path("b.csv"))
        writeFile("cid,api_id,name\nspring,,Spring\n", to: path("names.csv"))
        let text = reconcile(path("b.csv"), "--names", path("names.csv"), "--timezone", "Europe/Berlin")
        #expect(text.end == .exited(0), "\(text.errors)")
        #expect(text.errors == "pushctl: \(path("b.csv")):3: sent: \"x\" is no count\n")
        #expect(
            text.output.contains("\nSpring (spring)\n  sent 4 | seen here 3 | direct 0 / ours 1 | total 1 / ours 1\n"))
        #expect(text.output.contains("in the time zone Europe/Berlin\n") && text.output.contains("\"Clicks\" (7, 0)"))
        #expect(text.output.contains("certain: Android showed 1 push by itself"))
        #expect(text.output.contains("\n    data.cid:spring -owner:braze\n"))
        let document = try json(reconcile(path("b.csv"), "--names", path("names.csv"), "--json").output)
        let schema = try json(pushctl.run(["--generate", "reconcile-schema"]).output)
        #expect(document.members.map(\.key) == schema["required"]?.elements.compactMap(\.string))
        let codes = document["campaigns"]?.elements[0]["sentences"]?.elements.compactMap { $0["code"]?.string }
        #expect(codes == ["shown_by_system", "other_owner", "direct_missing"])
        #expect(reconcile(path("b.csv"), "--format", "html").output.hasPrefix("<!DOCTYPE html>"))
        let over = reconcile(path("b.csv"), "--names", path("names.csv"), "--format", "csv", "--fail-over", "5%")
        #expect(over.end == .exited(1) && over.errors.contains("Spring: a gap of 2 of 3 (66.7 %)\n"))
        #expect(over.output.contains("\r\nSpring,spring,,,4,0,3,1,0,1,1,1\r\n"))
    }

    @Test("reads the answer of data_series, asks for the order of day and month, and names sessions that are undecided")
    func otherForms() throws {
        let figures = #""sent":3,"direct_opens":1,"total_opens":2"#
        writeFile(
            #"{"data":[{"time":"1970-01-01","messages":{"android_push":[{\#(figures)}]}}],"message":"success"}"#,
            to: path("spring.json"))
        let series = reconcile(path("spring.json"), "--timezone", "UTC", "--format", "csv")
        // A push without an event counts on the day that it names, too, and was accepted today.
        #expect(series.output.contains("\r\nspring,spring,1970-01-01,android,3,0,3,1,1,1,2,1\r\n"), "\(series.errors)")
        writeFile(
            "Report of November\n\ncampaign_id,Date,sent,direct_opens,total_opens\nspring,02/01/1970,3,1,1\n",
            to: path("d.csv"))
        let asked = reconcile(path("d.csv"))
        #expect(asked.end == .exited(65) && asked.errors.contains("d.csv: line 4: \"02/01/1970\" begins with"))
        let told = reconcile(path("d.csv"), "--date-format", "mdy", "--timezone", "UTC")
        #expect(told.output.contains("1970-02-01") && told.output.contains("\"Report of November\""), "\(told.errors)")
        // A daemon that ends before its grace does leaves a session undecided.
        #expect(try daemon.process.stop() == .exited(0))
        let other = try TestDaemon(Installation("[Tracker]\nGrace=1min\n"))
        let client = try other.installation.injectClient()
        for line in [
            #"{"op":"deliver","at":1000,"platform":"ios","app":"shop","device":"x","payload":{"aps":{"alert":"A"},"ab":{"c":"spring"}}}"#,
            #"{"op":"session","kind":"start","at":2000,"platform":"ios","app":"shop","device":"x"}"#,
        ] { #expect(try client.ask(line).isAccepted) }
        other.process.send(SIGKILL)
        #expect(try other.process.waitForEnd() == .signaled(SIGKILL))
        writeFile("campaign_id,sent,direct_opens,total_opens\nspring,1,0,1\n", to: path("u.csv"))
        let undecided = pushctl.run(other.options + ["reconcile", path("u.csv")])
        #expect(undecided.output.contains("possible: 1 session after a push is undecided here"), "\(undecided.output)")
    }

    @Test("reads days in the zone that is named, proposes names, and says what is wrong with a command or a file")
    func refuses() throws {
        let head = "campaign_id,Date,sent,direct_opens,total_opens\n"
        writeFile(head + "Spring!,1970-01-02,3,1,1\n", to: path("days.csv"))
        let proposed = reconcile(path("days.csv"), "--propose-names", "--timezone", "+02:00")
        #expect(proposed.output.hasSuffix("\r\nspring,,Spring!,the same letters and digits\r\n"))
        writeFile(head + "spring,1970-01-02,3,1,1\n", to: path("id.csv"))
        let east = reconcile(path("id.csv"), "--timezone", "+02:00", "--format", "csv")
        #expect(east.output.hasSuffix("\r\nspring,spring,1970-01-02,,3,0,3,1,1,1,1,1\r\n"), "\(east.output)")
        let west = reconcile(path("id.csv"), "--timezone", "UTC", "--format", "csv")
        #expect(west.output.hasSuffix("\r\nspring,spring,1970-01-02,,3,0,0,0,1,0,1,0\r\n"), "\(west.output)")
        let missing = reconcile(path("days.csv"), "--map", "direct=Opens")
        #expect(missing.end == .exited(65) && missing.errors.contains("--map direct=Opens: there is no such heading"))
        let figure = reconcile(path("days.csv"), "--map", "direkt=Opens")
        #expect(figure.end == .exited(2) && figure.errors.contains("did you mean direct?"))
        let zone = reconcile(path("days.csv"), "--timezone", "Mars/Phobos")
        #expect(zone.end == .exited(2) && zone.errors.contains("--timezone Mars/Phobos: there is no such time zone"))
        #expect(reconcile(path("none.csv")).end == .exited(66))
        writeFile(head, to: path("empty.csv"))
        #expect(reconcile(path("empty.csv")).errors.contains("the export has no row that can be compared"))
    }
}
