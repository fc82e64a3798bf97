import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("pushctl, with an observer, a wait and a request without an invocation in the ledger", .timeLimit(.minutes(30)))
struct PushctlShowTests {
    private let installation = Installation()

    init() throws {
        let owner = invocation(0)
        var observer = invocation(1)
        observer.isObserver = true
        observer.result?.waitedFor = Predecessor(
            id: InvocationID(seq: SequenceNumber(40), n: 0), handler: "crm", took: .milliseconds(7))
        observer.result?.ahead = 10
        observer.result?.queue = .milliseconds(84)
        observer.result?.exec = .milliseconds(7)
        observer.result?.total = .milliseconds(91)
        var delivery = request(41, .deliver, #"{"op":"deliver"}"#)
        delivery.state = .forceQuit
        (delivery.originalPriority, delivery.deliveredPriority) = (.high, .normal)
        let session = request(42, .session, #"{"op":"session","kind":"start"}"#)
        let token = request(43, .token, #"{"op":"token","kind":"new","token":"abc"}"#)
        try fillLedger(
            of: installation,
            with: [.request(delivery), .invocation(owner), .invocation(observer), .request(session), .request(token)])
    }

    private func request(_ seq: Int64, _ operation: Operation, _ body: String) -> AcceptedRequest {
        AcceptedRequest(
            seq: SequenceNumber(seq), operation: operation, id: nil, peer: Peer(uid: 0, gid: 0, pid: 1),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: seq), wall: WallTime(milliseconds: 1_795_230_480_000)),
            boot: UUID128(high: 1, low: 2), mode: .device, platform: .ios, app: nil, device: nil, externalID: nil,
            messageID: nil, body: Array(body.utf8))
    }

    private func invocation(_ n: Int) -> InvocationRecord {
        InvocationRecord(
            id: InvocationID(seq: SequenceNumber(41), n: n), callback: .willPresent, provider: nil, route: "90-audit",
            handler: "audit", budget: .seconds(9), deadline: nil, started: false,
            result: InvocationResult(
                outcome: .handled, reason: nil, queue: .zero, exec: .zero, total: .zero, completion: nil,
                decidedAt: WallTime(milliseconds: 1_795_230_480_001)))
    }

    private func show(_ arguments: String...) -> Program.Result {
        pushctl.run(["show", "--state", installation.state, "--config", shippedConfiguration] + arguments)
    }

    @Test("marks the observer, and names the invocation ahead of it and the app's state")
    func observer() throws {
        let text = show("41").output
        #expect(text.contains("\n  state     force_quit\n"), "\(text)")
        #expect(text.contains("\nInvocation 0: willPresent, handled\n"))
        #expect(text.contains("\nObserver 1: willPresent, handled\n"))
        #expect(text.contains("\n  longest before it  invocation 0 of request 40, handler crm, 7 ms\n"), "\(text)")
        #expect(text.contains("waited 84 ms, ran 7 of 9000 ms"), "\(text)")
        #expect(
            text.split(separator: "\n").contains { $0.hasPrefix("  ahead of it") && $0.hasSuffix("  10") }, "\(text)")
        #expect(text.contains("high, delivered as normal"), "\(text)")
        let story = try EndToEndTests.json(show("41", "--json").output)
        #expect(story["state"]?.string == "force_quit")
        #expect(story["invocations"]?.elements.map { $0["observer"]?.bool } == [false, true])
        #expect(story["invocations"]?.elements.last?["waited_for"]?["seq"]?.int64 == 40)
    }

    @Test("says that a session has no invocation, and that a token without one is damage")
    func withoutInvocation() {
        let session = show("42").output
        #expect(session.contains("\n  kind      start\n"), "\(session)")
        #expect(session.hasSuffix("\nNo invocation\n"))
        let token = show("43").output
        #expect(token.contains("\n  token     …\n"), "\(token)")
        #expect(token.hasSuffix("\nNo invocation, although there should be one: the ledger is damaged\n"))
    }

    @Test("reports the same: the observer apart, the session counted, the token's loss as a gap")
    func report() throws {
        let options = ["--state", installation.state, "--config", shippedConfiguration]
        let report = try EndToEndTests.json(pushctl.run(["report", "--json"] + options).output)
        #expect(report["accepted"]?.int64 == 1)
        #expect(report["requests"]?.int64 == 3)
        #expect(report["observers"]?["accepted"]?.int64 == 1)
        #expect(report["observers"]?["by_route"]?["90-audit"]?["count"]?.int64 == 1)
        #expect(report["gaps"]?.elements.map { $0["kind"]?.string } == ["out_of_sequence"])
        let rows = pushctl.run(["report", "--format", "csv"] + options).output.split(separator: "\r\n")
        #expect(rows.dropFirst().map { $0.contains(",true,40.0,") } == [false, true])
    }
}
