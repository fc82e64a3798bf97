import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("An administrative act", .timeLimit(.minutes(30)))
struct AuditTests {
    private let installation = Installation("[Dispatch]\nMode=relay\n")

    /// Returns the rows of the audit that `pushctl export` prints.
    private func rows() throws -> [JSONNode] {
        let words = ["--state", installation.state, "--runtime", installation.runtime]
        let result = pushctl.run(words + ["export", "--audit", "--format", "json"])
        try #require(result.end == .exited(0), "\(result.errors)")
        return try result.lines.map { try json($0) }
    }

    /// The journal entries of acts in a daemon's standard error.
    private func entries(_ daemon: DaemonProcess) -> [Substring] {
        daemon.standardError.split(separator: "\n").filter { $0.contains(MessageID.audited.rawValue) }
    }

    private func control() throws -> Client { try Client(path: installation.controlSocket) }

    /// How an act is done in a test.
    private enum Way {
        /// A request at `control.sock`, with the object and the count of the row.
        case request(String, object: String? = nil, count: Int64? = nil)
        /// A request at `inject.sock`.
        case producer
        /// A command without a daemon, with the tests that cover it.
        case command
    }

    /// A new act does not compile until it has its way here.
    private static func way(_ act: AuditRecord.Act) -> Way {
        switch act {
        case .replay: .request(#"{"op":"replay","requests":[1,99]}"#, object: "requests 1, 99", count: 1)
        case .purge: .request(#"{"op":"purge","requests":[2]}"#, object: "requests 2", count: 1)
        case .flush:
            .request(
                #"{"op":"flush","app":"shop","device":"pixel-1","external_id":"anna","suite":"standard"}"#,
                object: "app shop, suite standard", count: 1)
        case .reset: .request(#"{"op":"reset","suite":"standard"}"#, object: "suite standard", count: 1)
        case .resolve:
            .request(
                #"{"op":"resolve","entries":"all","state":"discarded"}"#, object: "all unknown entries as discarded",
                count: 0)
        case .erase: .request(#"{"op":"erase","external_id":"anna"}"#, count: nil)
        case .reload: .request(#"{"op":"reload"}"#)
        case .logLevel: .request(#"{"op":"log_level","level":"err"}"#, object: "err")
        // `onDevices()`.
        case .device, .token, .topic: .producer
        // `offline()`; Tests/Package/steps.sh, and for a pair `FleetOperationTests`.
        case .restore, .move, .drain: .command
        case .gatewayRotate:
            .request(
                #"{"op":"gateway_rotate","until":"2026-12-24T00:00:00Z"}"#,
                object: "the old authority ends on 2026-12-24T00:00:00Z")
        }
    }

    private func suiteEntry(user: String) -> String {
        #"{"op":"log","app":"shop","device":"pixel-1","platform":"android","external_id":"\#(user)","#
            + #""kind":"custom_event","suite":"standard","name":"e"}"#
    }

    @Test(
        "leaves one row and one journal entry with who, what, on how many, and the result; at read.sock it is refused")
    func every() throws {
        installation.addJob("job", "exit 1")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 1...2 { #expect(try client.outcome(of: Requests.deliver(job: "job")).outcome == "failed") }
        let (control, read) = (try control(), try Client(path: installation.readSocket))
        var (expected, done) = ([String](), 0)
        for act in AuditRecord.Act.allCases {
            guard case .request(let line, let object, _) = Self.way(act) else { continue }
            if act == .flush || act == .reset { #expect(try client.ask(suiteEntry(user: "anna")).isAccepted) }
            #expect(try read.ask(line).errorCode == "unknown_op")
            #expect(try control.ask(line)["ok"]?.bool == true, "\(act)")
            #expect(try rows().count >= expected.count, "\(act)")
            expected += [
                "\(act.rawValue) read refused \(object ?? "-")", "\(act.rawValue) control done \(object ?? "-")",
            ]
            done += 1
        }
        #expect(done == 9)
        // Requests that change nothing are no acts.
        for line in [#"{"op":"status"}"#, #"{"op":"log_level"}"#, #"{"op":"sync"}"#] {
            #expect(try control.ask(line)["ok"]?.bool == true)
        }
        let found = try rows()
        #expect(
            found.map { row in
                let words = ["act", "entrance", "result", "object"].map { row[$0]?.string ?? "-" }
                return words.joined(separator: " ")
            } == expected)
        for row in found {
            #expect(
                row["uid"]?.int64 == Int64(getuid()) && row["pid"]?.int64 == Int64(getpid()) && row["times"]?.int64 == 1
            )
            guard row["result"]?.string == "done" else {
                #expect(row["reason"]?.string?.contains("is for control.sock") == true)
                continue
            }
            let act = try #require(AuditRecord.Act(rawValue: row["act"]?.string ?? ""))
            guard case .request(_, _, let count) = Self.way(act), act != .erase else { continue }
            #expect(row["count"]?.int64 == count, "\(row.text)")
        }
        let erasure = try #require(found.first { $0["act"]?.string == "erase" && $0["result"]?.string == "done" })
        #expect((erasure["count"]?.int64 ?? 0) > 0, "rows of the person: \(erasure.text)")
        #expect(found.allSatisfy { $0["external_id"]?.string == nil && $0["device"]?.string == nil }, "anna is erased")
        #expect(
            found.first { $0["act"]?.string == "replay" && $0["count"]?.int64 == 1 }?["reason"]?.string?.hasPrefix(
                "1 refused, 99: ") == true)
        #expect(try daemon.stop() == .exited(0))
        let entries = entries(daemon)
        #expect(entries.count == expected.count, "\(entries)")
        for (entry, row) in zip(entries, expected) {
            let words = row.split(separator: " ", maxSplits: 3)
            for (name, word) in zip(["act", "entrance", "result"], words) {
                #expect(entry.contains(" push_\(name)=\(word) "), "\(entry)")
            }
            #expect(entry.contains(" push_peer_uid=\(getuid()) ") && !entry.contains("anna"), "\(entry)")
        }
        #expect(entries.dropLast(2).last?.contains("push_object=err") == true, "written at the level err, too")
    }

    @Test("on a device, a token or a topic is recorded for each request at inject.sock; a repetition is no act")
    func onDevices() throws {
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let target = #""platform":"android","app":"shop","device":"pixel-1","external_id":"anna""#
        let token = #"{"op":"token","id":"t","kind":"new","token":"tok-1",\#(target)}"#
        #expect(try client.ask(token).isAccepted)
        #expect(try client.ask(token).isAccepted)
        #expect(
            try client.ask(token.replacing("tok-1", with: "tok-2")).errorCode == "id_conflict")
        #expect(
            try client.ask(#"{"op":"device","app":"shop","device":"pixel-1","state":"foreground"}"#).isAccepted)
        #expect(
            try client.ask(
                #"{"op":"topic","kind":"subscribe","project":"p","topic":"news","tokens":["tok-1","tok-9"]}"#
            ).isAccepted)
        #expect(try client.ask(Requests.deliver(job: "job")).isAccepted, "a push is no act")
        let found = try rows()
        #expect(
            found.map { row in
                ["act", "entrance", "result", "object", "device", "external_id", "reason"].map {
                    row[$0]?.string ?? "-"
                }
                .joined(separator: " ")
            } == [
                "token inject done new, app shop pixel-1 anna -",
                "token inject refused new, app shop pixel-1 anna id_conflict",
                "device inject done app shop pixel-1 - -",
                "topic inject done subscribe news of project p - - -",
            ])
        #expect(found.map { $0["count"]?.int64 } == [nil, nil, nil, 2], "a topic counts its tokens")
        #expect(found.allSatisfy { $0["uid"]?.int64 == Int64(getuid()) && !$0.text.contains("tok-") })
        #expect(try control().ask(#"{"op":"erase","external_id":"anna"}"#)["ok"]?.bool == true)
        #expect(try rows().allSatisfy { $0["external_id"]?.string == nil && $0["device"]?.string == nil })
        #expect(try daemon.stop() == .exited(0))
        #expect(entries(daemon).count == 5)
        #expect(!entries(daemon).contains { $0.contains("anna") || $0.contains("pixel-1") })
    }

    @Test("that is refused is recorded with the reason")
    func refused() throws {
        let daemon = try DaemonProcess.ready(installation)
        let control = try control()
        #expect(try control.ask(#"{"op":"log_level","level":"loud"}"#).errorCode == "invalid_value")
        #expect(try control.ask(#"{"op":"replay","requests":[7]}"#)["ok"]?.bool == true)
        installation.addHandler("broken", "Exec=relative")
        #expect(try control.ask(#"{"op":"reload"}"#)["reloaded"]?.bool == false)
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 3)
        #expect(
            try rows().map {
                "\($0["act"]?.string ?? "") \($0["entrance"]?.string ?? "") \($0["result"]?.string ?? "")"
            }
                == [
                    "log_level control refused", "replay control refused", "reload control refused",
                    "reload signal refused",
                ])
        #expect(try rows().map { $0["uid"]?.int64 == nil } == [false, false, false, true])
        let reasons = try rows().compactMap { $0["reason"]?.string }
        #expect(reasons[0].hasPrefix("level is one of emerg") && reasons[1] == "7: the ledger has no such request")
        #expect(reasons[2] == "the new configuration has errors, which the journal names")
        // This line asks for nothing.
        #expect(try control.ask(#"{"op":"purge"}"#).errorCode == "missing_key")
        #expect(try rows().count == 4)
        #expect(try daemon.stop() == .exited(0))
        #expect(entries(daemon).count == 4)
    }

    @Test("names a person until the person is erased; no file has the name afterwards")
    func erased() throws {
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for user in ["annaXyZZy", "ben"] { #expect(try client.ask(suiteEntry(user: user)).isAccepted) }
        let control = try control()
        for user in ["annaXyZZy", "ben"] {
            let line = #"{"op":"flush","app":"shop","device":"of-\#(user)","external_id":"\#(user)"}"#
            #expect(try control.ask(line)["ok"]?.bool == true)
        }
        #expect(try rows().map { $0["external_id"]?.string } == ["annaXyZZy", "ben"])
        #expect(try rows().map { $0["device"]?.string } == ["of-annaXyZZy", "of-ben"])
        #expect(daemon.pushctl("erase", "--user", "annaXyZZy", "--yes").end == .exited(0))
        #expect(try rows().map { $0["act"]?.string } == ["flush", "flush", "erase"])
        #expect(try rows().map { $0["external_id"]?.string } == [nil, "ben", nil])
        #expect(try rows().map { $0["device"]?.string } == [nil, "of-ben", nil])
        let search = Program(path: "/bin/grep").run(["-r", "-l", "annaXyZZy", installation.state])
        #expect(search.end == .exited(1), "\(search.output)")
        #expect(try daemon.process.stop() == .exited(0))
        #expect(!entries(daemon.process).contains { $0.contains("annaXyZZy") })
    }

    @Test("is in the ledger once it is answered, also after kill -9")
    func crash() throws {
        let daemon = try DaemonProcess.ready(installation)
        let control = try control()
        for number in 1...20 {
            #expect(try control.ask(#"{"op":"purge","requests":[\#(number)]}"#)["ok"]?.bool == true)
        }
        daemon.crash()
        let next = try DaemonProcess.ready(installation)
        #expect(try rows().map { $0["object"]?.string } == (1...20).map { "requests \($0)" })
        #expect(try next.stop() == .exited(0))
    }

    @Test("of a script that acts 10,000 times costs 31 rows and entries, and others nothing; the sums are complete")
    func flood() throws {
        let daemon = try DaemonProcess.ready(installation)
        let (flood, other) = (try control(), try installation.injectClient())
        let lines = Array(String(repeating: #"{"op":"purge","requests":[7]}"# + "\n", count: 100).utf8)
        var longest = Duration.zero
        for number in 1...100 {
            try flood.send(lines)
            let start = ContinuousClock.now
            let request = Requests.deliver(#""platform":"android","payload":{"data":{"k":"v"}}"#, waits: false)
            #expect(try other.ask(request).seq == Int64(number))
            longest = max(longest, ContinuousClock.now - start)
            for _ in 1...100 { #expect(try flood.next()["purged"]?.int64 == 1) }
        }
        // As for a flood of refused requests: tests run on busy machines.
        #expect(longest < .seconds(2), "\(longest)")
        #expect(try daemon.stop() == .exited(0))
        let found = try rows()
        // A slow machine may take longer than a minute.
        #expect((31...62).contains(found.count), "\(found.count)")
        #expect(found.reduce(0) { $0 + ($1["times"]?.int64 ?? 0) } == 10_000)
        #expect(found.reduce(0) { $0 + ($1["count"]?.int64 ?? 0) } == 10_000)
        #expect(entries(daemon).count == found.count)
    }

    @Test("is exported as text, CSV and JSON, from a time on")
    func formats() throws {
        let daemon = try TestDaemon(installation)
        #expect(daemon.pushctl("export", "--audit").output.isEmpty)
        let control = try control()
        #expect(try control.ask(#"{"op":"reset","suite":"a,b"}"#)["ok"]?.bool == true)
        let lines = daemon.pushctl("export", "--audit", "--format", "csv").output.split(separator: "\r\n")
        #expect(lines[0] == "at,act,uid,user,pid,entrance,node,result,count,times,object,external_id,device,reason")
        #expect(lines.last?.contains(#","suite a,b","#) == true, "\(lines)")
        let text = daemon.pushctl("export", "--audit", "--utc").output
        let user = UserName(of: getuid()).text(of: getuid()) ?? ""
        #expect(text.contains("\(user) (\(getuid()))") && text.contains("suite a,b"), "\(text)")
        let words = ["Time", "Act", "Who", "By", "Result", "Count", "What", "Why"]
        #expect(text.split(separator: "\n").first?.split(separator: " ").map(String.init) == words)
        #expect(daemon.pushctl("export", "--audit", "--since", "-1h").output.contains("reset"))
        #expect(daemon.pushctl("export", "--audit", "--since", "2100-01-01").output.isEmpty)
        let wrong = daemon.pushctl("export", "--audit", "--format", "currents")
        #expect(wrong.end == .exited(2) && wrong.errors.contains("the formats of --audit are text, csv, json"))
        #expect(
            daemon.pushctl("export", "--format", "json").errors.contains(
                "the formats of events are currents, envelope, csv"))
        #expect(
            daemon.pushctl("export", "--audit", "--follow").errors.contains("--audit and --follow exclude each other"))
    }

    @Test("of the gateway's authority is told to the daemon by the command, which acts without the daemon, too")
    func rotation() throws {
        let daemon = try TestDaemon(installation)
        let state = installation.root + "/gateway"
        mkdir(state, 0o755)
        writeFile("", to: state + "/ca.pem")
        let words = ["gateway", "rotate", "--state", state, "--end", "2100-01-01T00:00:00Z"]
        #expect(daemon.pushctl(words).end == .exited(0))
        let row = try #require(try rows().first)
        #expect(row["act"]?.string == "gateway_rotate" && row["entrance"]?.string == "control", "\(row.text)")
        #expect(row["object"]?.string == "the old authority ends on 2100-01-01T00:00:00Z")
        #expect(row["uid"]?.int64 == Int64(getuid()))
        #expect(try daemon.process.stop() == .exited(0))
        #expect(daemon.pushctl(words).end == .exited(0))
        #expect(try rows().count == 1)
    }

    @Test("without a daemon is recorded by the program that does it: an erasure, and a restore in the new ledger")
    func offline() throws {
        let daemon = try TestDaemon(installation)
        let file = installation.root + "/backup.db"
        #expect(try control().ask(#"{"op":"reset","suite":"standard"}"#)["ok"]?.bool == true)
        #expect(try installation.injectClient().ask(Requests.deliver(job: "job")).isAccepted)
        #expect(daemon.pushctl("backup", file).end == .exited(0))
        #expect(try daemon.process.stop() == .exited(0))
        #expect(daemon.pushctl("erase", "--user", "anna", "--yes").end == .exited(0))
        #expect(try rows().map { $0["act"]?.string } == ["reset", "erase"])
        #expect(daemon.pushctl("restore", file).end == .exited(0))
        let found = try rows()
        #expect(found.map { $0["act"]?.string } == ["reset", "erase", "restore"])
        #expect(found[2]["entrance"]?.string == "program" && found[2]["object"]?.string == file)
        #expect(found[2]["uid"]?.int64 == Int64(getuid()) && found[2]["result"]?.string == "done")
        #expect(found[2]["count"]?.int64 == 1, "requests")
        let next = try DaemonProcess.ready(installation)
        #expect(try rows().count == 3)
        #expect(try next.stop() == .exited(0))
    }
}
