import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A rule for producers", .timeLimit(.minutes(30)))
struct ProducerTests {
    private let installation = Installation("[Daemon]\nInjectSocketMode=0666\n")

    init() { mkdir(installation.configuration + "/producers.d", 0o755) }

    private func write(_ name: String, _ text: String) { installation.write("producers.d/\(name).producer", text) }

    private func deliver(app: String, id: String? = nil) -> String {
        Requests.deliver(#""app":"\#(app)","platform":"android","payload":{"data":{"k":"v"}}"#, id: id, waits: false)
    }

    private func status() throws -> DaemonStatus { try DaemonStatus(of: installation) }

    @Test("keeps another user to its ops, apps and persons before any row; others send on", .needsRoot)
    func otherUser() throws {
        write("10-shop", "[Match]\nUser=4711 4712\n[Producer]\nOperation=deliver\nApp=shop.*\nExternalID=test-*\n")
        let daemon = try TestDaemon(installation)
        let allowed = Requests.deliver(
            #""app":"shop.a","external_id":"test-1","platform":"android","payload":{"data":{"k":"v"}}"#, waits: false)
        #expect(try ask(allowed, ofUser: 4711, at: installation).seq == 1)
        let session = #"{"op":"session","kind":"start","app":"shop.a","device":"d","id":"s1"}"#
        let refused = try ask(session, ofUser: 4711, at: installation)
        #expect(
            refused.description
                == #"{"ok":false,"id":"s1","error":{"code":"not_allowed","field":"op","message":"the rule producers.d/10-shop.producer does not allow op session; it allows deliver","retry":false,"rule":"10-shop"}}"#
        )
        #expect(try ask(deliver(app: "bank"), ofUser: 4711, at: installation).errorCode == "not_allowed")
        #expect(try ask(deliver(app: "shop.a"), ofUser: 4712, at: installation).errorCode == "not_allowed")
        #expect(try ask(session, ofUser: 4713, at: installation).seq == 2, "no rule matches it")
        #expect(try installation.injectClient().ask(deliver(app: "bank")).seq == 3)

        let entries = try #require(try status()["clients"]?["refused_by_rule"]?.elements)
        #expect(
            entries.map { "\($0["rule"]?.string ?? "") \($0["uid"]?.string ?? "") \($0["count"]?.int64 ?? 0)" }
                == ["10-shop 4711 2", "10-shop 4712 1"])
        #expect(try status()["clients"]?["refused"]?["not_allowed"]?.int64 == 3)
        let metrics = try Client(path: installation.readSocket).ask(#"{"op":"metrics"}"#)["metrics"]?.string ?? ""
        #expect(metrics.contains("pushrouterd_rule_refused_total{rule=\"10-shop\",uid=\"4711\"} 2\n"), "\(metrics)")
        let doctor = daemon.pushctl("doctor").output
        #expect(doctor.contains("producers.d/10-shop.producer has refused 2 requests of the user 4711"), "\(doctor)")
        #expect(try daemon.process.stop() == .exited(0))
        let logged = "refused uid 4711: a request (not_allowed by the rule 10-shop)"
        #expect(daemon.process.standardError.contains(logged), "\(daemon.process.standardError)")
        #expect(daemon.process.standardError.contains(" push_rule=10-shop"))
    }

    @Test("matches the groups that the client had, also supplementary ones", .needsRoot)
    func groups() throws {
        write("10-qa", "[Match]\nGroup=4799\n[Producer]\nRefuse=yes\n")
        let daemon = try TestDaemon(installation)
        let copy = installation.root + "/pushctl"
        #expect(Program(path: "/bin/cp").run([Program(product: "pushctl").path, copy]).end == .exited(0))
        func inject(_ groups: String...) -> Program.Result {
            Program(path: "/usr/bin/setpriv").run(
                ["--reuid", "4711", "--regid", "4711"] + groups + [
                    copy, "--runtime", installation.runtime, "inject", "-",
                ],
                input: Array((deliver(app: "shop") + "\n").utf8))
        }
        #expect(inject("--groups", "4798").end == .exited(0))
        let refused = inject("--groups", "4798,4799")
        #expect(refused.end == .exited(1) && refused.errors.contains("allows its senders nothing"), "\(refused.errors)")
        withExtendedLifetime(daemon) {}
    }

    @Test("knows a gateway's senders by credential and project, and takes them from nobody else")
    func credentials() throws {
        let own = getuid()
        write(
            "10-shop",
            "[Match]\nUser=\(own)\nAccount=*@shop.example\nProject=shop\n[Producer]\nApp=shop\n")
        write("20-rest", "[Match]\nUser=\(own)\nProject=*\n[Producer]\nRefuse=yes\n")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        func send(_ app: String, _ sender: String) throws -> Line {
            let payload = #""platform":"android","payload":{"data":{"k":"v"}}"#
            return try client.ask(
                Requests.deliver(#""app":"\#(app)",\#(payload),"sender":{\#(sender)}"#, waits: false))
        }
        #expect(try send("shop", #""account":"a@shop.example","project":"shop""#).isAccepted)
        #expect(try send("bank", #""account":"a@shop.example","project":"shop""#).errorCode == "not_allowed")
        #expect(
            try send("shop", #""account":"a@bank.example","project":"shop""#)["error"]?["rule"]?.string == "20-rest")
        withExtendedLifetime(daemon) {}
    }

    @Test("allows a burst, tells when there is room again, and takes a changed rate at a reload")
    func rate() throws {
        write("10-all", "[Producer]\nRate=1\nBurst=3\n")
        // The disk gives the daemon its clock, and has none of its files.
        mkdir("\(installation.root)/clock", 0o755)
        let clock = FaultyDisk("\(installation.root)/clock", platterAt: "\(installation.root)/platter", seed: 1)
        let daemon = try DaemonProcess.ready(installation, environment: clock.environment)
        let client = try installation.injectClient()
        for seq in 1...3 { #expect(try client.ask(deliver(app: "a")).seq == Int64(seq)) }
        let line = try client.ask(deliver(app: "a", id: "x"))
        #expect(line.errorCode == "overloaded" && line["error"]?["retry"]?.bool == true, "\(line)")
        #expect(line["error"]?["rule"]?.string == "10-all")
        let wait = try #require(line["error"]?["retry_after_ms"]?.int64)
        #expect(1...1000 ~= wait)
        #expect(
            line.errorMessage == "the rule producers.d/10-all.producer allows 1 request a second, and 3 at once",
            "\(line)")
        clock.clockOffset += 1
        #expect(try client.ask(deliver(app: "a", id: "x")).seq == 4)
        #expect(try status()["clients"]?["refused"]?["rate"]?.int64 == 1)

        write("10-all", "[Producer]\nRate=1\nBurst=100\n")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        for seq in 5...20 { #expect(try client.ask(deliver(app: "a")).seq == Int64(seq), "on the old connection") }
        write("10-all", "[Producer]\nRate=often\n")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 3)
        #expect(try client.ask(deliver(app: "a")).seq == 21, "a mistake changes nothing")
        write("10-all", "[Producer]\nRefuse=yes\n")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 4)
        #expect(try client.ask(deliver(app: "a")).errorCode == "not_allowed")
        #expect(try daemon.stop() == .exited(0))
        // A start with a mistake goes on with the rules that were in force.
        write("10-all", "[Producer]\nRate=often\n")
        let next = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(deliver(app: "a")).errorCode == "not_allowed")
        #expect(try next.stop() == .exited(0))
    }

    @Test("keeps a flood from the log, and from other clients' time")
    func flood() throws {
        write("10-all", "[Producer]\nOperation=deliver\n")
        let daemon = try DaemonProcess.ready(installation)
        let session = #"{"op":"session","kind":"start","app":"a","device":"d"}"# + "\n"
        let flood = try installation.injectClient()
        let (count, other) = (20_000, try installation.injectClient())
        let lines = Array(String(repeating: session, count: 100).utf8)
        var sent = 0
        var longest = Duration.zero
        var answered = 0
        for number in 1...200 {
            try flood.send(lines)
            sent += 100
            let start = ContinuousClock.now
            #expect(try other.ask(deliver(app: "a")).seq == Int64(number))
            longest = max(longest, ContinuousClock.now - start)
            while answered < sent { answered += try flood.next().errorCode == "not_allowed" ? 1 : 0 }
        }
        #expect(sent == count && longest < .seconds(2), "\(longest)")
        #expect(try status()["clients"]?["refused_by_rule"]?.elements.first?["count"]?.int64 == Int64(count))
        #expect(try status().number("last_seq") == 200)
        #expect(try daemon.stop() == .exited(0))
        let entries = daemon.standardError.split(separator: "\n").filter { $0.contains("not_allowed") }
        #expect(entries.count < 20, "the journal has few entries: \(entries.count)")
    }

    @Test("can be tested by pushctl verify --producer, which the daemon agrees with")
    func verify() throws {
        write("10-me", "[Match]\nUser=\(getuid())\n[Producer]\nApp=shop\nRate=1\nBurst=2\n")
        let lines = [deliver(app: "shop"), deliver(app: "bank"), deliver(app: "shop"), deliver(app: "shop")]
        let input = lines.joined(separator: "\n") + "\n"
        func verify(_ user: String, _ more: String...) -> Program.Result {
            pushctl.run(
                ["verify", "--config", installation.configuration, "--producer", user, "-"] + more,
                input: Array(input.utf8))
        }
        let result = verify("\(getuid())")
        #expect(
            result.lines == [
                "standard input:1: allowed by producers.d/10-me.producer",
                "standard input:2: refused: the rule producers.d/10-me.producer does not allow this app; it allows shop",
                "standard input:3: allowed by producers.d/10-me.producer",
                "standard input:4: refused: the rule producers.d/10-me.producer allows 1 request a second, and 2 at "
                    + "once; again after 1000 ms",
            ], "\(result.errors)")
        #expect(result.end == .exited(1))
        let other = verify("4712", "--json")
        #expect(other.end == .exited(0))
        #expect(other.lines == (1...4).map { #"{"line":\#($0),"allowed":true,"rule":null}"# })
        #expect(verify("no-such-user").errors.contains("there is no such user on this machine"))
        let list = pushctl.run(["verify", "--config", installation.configuration]).output
        #expect(list.contains("10-me  User=\(getuid()) -> App=shop, Rate=1, Burst=2\n"), "\(list)")
        write("20-x", "[Match]\nUser=no-such-user\nGroup=no-such-group\n")
        let warnings = pushctl.run(["verify", "--config", installation.configuration]).lines.filter {
            $0.contains("no-such")
        }
        #expect(
            warnings.count == 3
                && warnings[1].hasSuffix(": warning: User=no-such-user: there is no such user on this machine"))
    }
}
