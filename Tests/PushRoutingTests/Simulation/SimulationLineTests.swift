import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Lines of a simulation")
struct SimulationLineTests {
    @Test("mark an observer, and name the predecessor that an invocation waited for")
    func observer() {
        let result = InvocationResult(
            outcome: .handled, reason: nil, queue: .seconds(8), exec: .milliseconds(5), total: .milliseconds(8005),
            completion: nil, waitedFor: Predecessor(id: InvocationID(seq: SequenceNumber(40), n: 0), handler: "crm"),
            decidedAt: WallTime(milliseconds: 9000))
        let invocation = InvocationRecord(
            id: InvocationID(seq: SequenceNumber(41), n: 1), callback: .onMessageReceived, isObserver: true,
            provider: "braze", route: "90-audit", handler: "audit", budget: .seconds(9), deadline: nil, started: false,
            result: result)
        let nobody = Peer(uid: 0, gid: 0, pid: 0)
        let request = AcceptedRequest(
            seq: SequenceNumber(41), operation: .deliver, id: nil, peer: nobody,
            acceptedAt: Moment(monotonic: Instant(nanoseconds: 0), wall: WallTime(milliseconds: 995)),
            boot: UUID128(high: 0, low: 0), mode: .device, platform: .android, app: nil, device: nil, externalID: nil,
            messageID: nil, body: [])
        let end = InvocationEnd(request: Indirect(request), invocation: invocation, result: Indirect(result))
        #expect(
            String(decoding: SimulationLine.invocation(end, at: result.decidedAt), as: UTF8.self)
                == #"{"type":"invocation","seq":41,"n":1,"at":9000,"callback":"onMessageReceived","provider":"braze","#
                + #""route":"90-audit","handler":"audit","observer":true,"outcome":"handled","queue_ms":8000,"#
                + #""exec_ms":5,"total_ms":8005,"waited_for":{"seq":40,"n":0,"handler":"crm"}}"#)
    }
}
