import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import PushViews
@testable import Store

@Suite("The tracker's scenarios over the socket", .timeLimit(.minutes(30)))
struct TrackerScenarioTests {
    /// Without a grace all decisions are immediate, also with a real clock. T13 needs a scripted handler and T15 a
    /// grace.
    private let installation = Installation("[Tracker]\nGrace=0\nIosForeground=yes\n")

    private static let folder = packageRoot + "/Tests/Fixtures/scenarios/tracker/"

    /// Returns the requests of a scenario.
    private func requests(_ name: String) throws -> [String] {
        let text = String(decoding: try #require(readFile(Self.folder + name + ".jsonl")), as: UTF8.self)
        return text.split(separator: "\n").map(String.init).filter { $0.contains(#""op":"#) }
    }

    /// Returns the events of an output, sorted: a timer's decision may come before or after a request. Leaves out the
    /// state directory's half of each id.
    private func events(_ lines: [String]) throws -> [String] {
        try lines.map { try json($0) }.filter { $0["event_type"] != nil }.map { event in
            event.members.filter { !["type", "at"].contains($0.key) }.map { key, value in
                key == "id" ? String(value.string?.prefix(18) ?? "") : "\(key)=\(value.text)"
            }.joined(separator: " ")
        }.sorted()
    }

    @Test(
        "give the same events as the simulation",
        arguments: [
            "T01-direct-open", "T01-default-category", "T02-opened-once", "T03-no-campaign", "T03-raw-campaign",
            "T04-influenced-open", "T05-window", "T05-short-rhythm", "T06-grace", "T07-resumed", "T07-web",
            "T08-tap-starts-session", "T09-displayed", "T09-ios", "T10-other-user", "T11-foreground-off",
            "foreground/T11-foreground", "T12-dismissed", "T14-duplicate",
        ])
    func same(name: String) throws {
        let requests = try requests(name)
        let scenario = installation.root + "/requests.jsonl"
        writeFile(requests.joined(separator: "\n"), to: scenario)
        let simulation = pushctl.run(["--config", installation.configuration, "simulate", scenario])
        try #require(simulation.end == .exited(0), "\(simulation.output)\(simulation.errors)")

        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for request in requests { #expect(try client.ask(request).isAccepted, "\(request)") }
        try installation.waitUntilIdle()
        let ledger = try installation.ledger()
        try waitUntil("nothing waits for its grace") {
            try ledger.pendingStarts().isEmpty && ledger.heldInteractions().isEmpty
        }
        let names = AnalyticsEvent.Kind.allCases.map(\.rawValue).joined(separator: ",")
        let export = daemon.pushctl("export", "--event", names)
        let simulated = try events(simulation.lines)
        #expect(!simulated.isEmpty)
        #expect(try events(export.lines) == simulated)
    }
}
