import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

/// A private bus with a notification service that a test controls.
private final class Desktop {
    let address: String
    let events: Messages
    private let commands: Messages
    private let root: String
    private let bus: Service
    private var service: Service?

    /// - Parameters:
    ///   - root: the directory of the files.
    ///   - hasService: whether the service runs from the beginning.
    init(_ root: String, hasService: Bool = true) throws {
        self.root = root
        address = "unix:path=\(root)/bus"
        events = Messages("\(root)/events")
        commands = Messages("\(root)/commands")
        let settings = """
            <busconfig><type>session</type><listen>\(address)</listen><policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            </policy></busconfig>
            """
        writeFile(settings, to: "\(root)/bus.conf")
        bus = try Service(["/usr/bin/dbus-daemon", "--config-file=\(root)/bus.conf", "--nofork", "--nopidfile"])
        // The socket exists before the bus listens on it.
        try waitUntil("the bus listens") { [root] in SocketProbe.problem(at: "\(root)/bus") == nil }
        if hasService { try start() }
    }

    func start() throws {
        service = try Service(
            [
                Program.notificationService.path, address, "\(root)/events", "\(root)/commands", "actions", "body",
                "body-markup",
            ])
        #expect(try events.next() == "ready")
    }

    /// Kills the service.
    func end() { service = nil }

    func send(_ command: String) { commands.send(command) }
}

@Suite(
    "A notification on the desktop", .needs(program: "/usr/bin/dbus-daemon", of: "dbus-daemon"),
    .timeLimit(.minutes(30)))
struct NotificationTests {
    private let installation = Installation()

    private func addHandler(_ lines: String = "", route: String = "") {
        write("desk", lines)
        installation.addRoute("50-desk", to: "desk", match: "Data=title", route: route)
    }

    private func write(_ handler: String, _ lines: String = "") {
        let bus = "Bus=unix:path=\(installation.root)/bus"
        let text = "[Handler]\nType=notify\n\(bus)\nAppName=Shop\n\(lines)\n"
        installation.write("handlers.d/\(handler).handler", text)
    }

    private func relay() { installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\n") }

    private func deliver(_ data: String = #""title":"Hello","body":"a < b""#) -> String {
        Requests.deliver(#""platform":"android","app":"shop","payload":{"data":{\#(data)}}"#, device: "d")
    }

    /// Returns the ids of the interactions in the ledger, in order.
    private func interactions() throws -> [String] {
        var ids: [String] = []
        try installation.ledger().rows { row in
            if row.operation == .interact, ids.last != row.id { ids.append(row.id ?? "none") }
        }
        return ids
    }

    @Test("shows the texts of the payload, and is handled once it is shown")
    func shown() throws {
        addHandler("Icon=shop\nDesktopEntry=com.shop\nExpire=5s")
        let desktop = try Desktop(installation.root)
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let actions = #""[{\"action\":\"buy\",\"title\":\"Buy\"}]""#
        let line = try client.outcome(
            of: deliver(#""title":"Hello","body":"a < b","tag":"t","priority":"max","actions":\#(actions)"#))
        #expect(line.outcome == "handled", "\(line)")
        #expect(
            try desktop.events.next()
                == "notify 1 app=Shop icon=shop summary=Hello body=a &lt; b actions=default||buy|Buy| urgency=2 "
                + "desktop-entry=com.shop expires=5000")
        #expect(try client.outcome(of: deliver(#""title":"Again","tag":"t""#)).outcome == "handled")
        #expect(try desktop.events.next().hasPrefix("notify 1 "), "it replaces the one with the same tag")
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("that is clicked, acted on or dismissed is one interaction, routed like any other")
    func clicks() throws {
        addHandler()
        installation.addJob("taps", "echo \"$PUSH_OP $PUSH_KIND $PUSH_ACTION\" >$ROOT/taps")
        // The handler declines anything but a delivery, so the next route gets the interaction.
        installation.addRoute("60-taps", to: "taps", match: "")
        let taps = Messages(installation.root + "/taps")
        let desktop = try Desktop(installation.root)
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for (number, (command, expected)) in [
            ("act 1 default", "interact opened "), ("act 2 buy", "interact action buy"),
            ("close 3 2", "interact dismissed "),
        ].enumerated() {
            #expect(try client.outcome(of: deliver()).outcome == "handled")
            #expect(try desktop.events.next().hasPrefix("notify \(number + 1) "))
            desktop.send(command)
            // Later signals about the same notification, and those about another program's, have no effect.
            desktop.send("act \(number + 1) default")
            desktop.send("close \(number + 1) 2")
            desktop.send("act 99 default")
            #expect(try taps.next() == expected)
        }
        #expect(try client.outcome(of: deliver()).outcome == "handled")
        desktop.send("close 4 1")
        #expect(try client.outcome(of: deliver()).outcome == "handled", "the signals before it were taken in")
        #expect(try daemon.stop() == .exited(0))
        let ids = try interactions()
        #expect(ids.count == 3, "\(ids)")
    }

    @Test("that the service refuses has failed, with the service's error")
    func refused() throws {
        addHandler()
        let desktop = try Desktop(installation.root)
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        desktop.send("refuse")
        let line = try installation.injectClient().outcome(of: deliver())
        #expect(line.outcome == "failed")
        #expect(
            line.reason == "the notification service refused it: not today (org.example.Refused)", "\(line)")
    }

    @Test("of a service that hangs has timed out; if shown too late it is closed, and the next one is shown")
    func hangs() throws {
        addHandler(route: "Deadline=3s")
        let desktop = try Desktop(installation.root)
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: deliver()).outcome == "handled")
        #expect(try desktop.events.next().hasPrefix("notify 1 "))
        desktop.send("hang")
        let line = try client.outcome(of: deliver())
        #expect(line.outcome == "timed_out", "\(line)")
        #expect(try desktop.events.next().hasPrefix("notify 2 "))
        desktop.send("answer")
        #expect(try desktop.events.next() == "withdrawn 2")
        #expect(try client.outcome(of: deliver()).outcome == "handled")
    }

    @Test("fails in device mode without a bus, with the reason")
    func absentBus() throws {
        addHandler()
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let line = try installation.injectClient().outcome(of: deliver())
        #expect(line.outcome == "failed" && line.reasonCode == "handler_not_started", "\(line)")
        let reason = "the notification service cannot be reached: cannot connect to the bus "
        #expect(line.reason?.hasPrefix(reason) == true)
    }

    @Test("waits in relay mode for a service that is not running yet, and fails with the reason if none starts")
    func absentService() throws {
        relay()
        // Limited retries: an attempt that ran at the deadline would time out instead.
        addHandler("Retry=5")
        write("patient")
        installation.addRoute("40-patient", to: "patient", match: "Data=patient")
        let desktop = try Desktop(installation.root, hasService: false)
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let line = try client.outcome(of: deliver())
        #expect(line.outcome == "failed", "\(line)")
        #expect(line.reason?.contains("ServiceUnknown") == true, "\(line)")
        #expect(try client.ask(deliver(#""title":"Hello","patient":"1""#)).isAccepted)
        try desktop.start()
        #expect(try client.next().outcome == "handled")
    }

    @Test("is shown again by a restarted service, and clicks on notifications of the former one have no effect")
    func dies() throws {
        relay()
        addHandler()
        let desktop = try Desktop(installation.root)
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: deliver()).outcome == "handled")
        #expect(try desktop.events.next().hasPrefix("notify 1 "))
        // The service dies with an unanswered call.
        desktop.send("hang")
        #expect(try client.ask(deliver()).isAccepted)
        #expect(try desktop.events.next().hasPrefix("notify 2 "))
        desktop.end()
        try desktop.start()
        #expect(try client.next().outcome == "handled", "it is shown again")
        #expect(try desktop.events.next().hasPrefix("notify 1 "))
        desktop.send("act 2 default")
        desktop.send("act 1 default")
        try waitUntil("the click is in the ledger") { try interactions() == ["notification:2:0"] }
    }

    @Test("is unknown to a restarted daemon: a click on it is ignored")
    func restarted() throws {
        addHandler()
        let desktop = try Desktop(installation.root)
        do {
            let daemon = try DaemonProcess.ready(installation)
            let client = try installation.injectClient()
            #expect(try client.outcome(of: deliver()).outcome == "handled")
            #expect(try daemon.stop() == .exited(0))
        }
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: deliver()).outcome == "handled")
        desktop.send("act 1 default")
        desktop.send("act 2 default")
        try waitUntil("the click is in the ledger") { try interactions() == ["notification:2:0"] }
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("can be tried with run-handler, which prints the call")
    func runHandler() throws {
        addHandler()
        let desktop = try Desktop(installation.root)
        defer { withExtendedLifetime(desktop) {} }
        let payload = installation.root + "/payload.json"
        writeFile(#"{"data":{"title":"Hello"}}"#, to: payload)
        let result = Program(product: "pushctl").run([
            "--config", installation.configuration, "run-handler", "desk", payload, "--json",
        ])
        #expect(result.end == .exited(0), "\(result.output)\(result.errors)")
        #expect(result.output.contains(#""summary":"Hello""#), "\(result.output)")
        #expect(result.output.contains(#""outcome":"handled""#), "\(result.output)")
    }
}
