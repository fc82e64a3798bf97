import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The memory of waiting deliveries", .needs("an allocator without a sanitizer", if: Allocations.isCounted))
struct WaitingMemoryTests {
    /// The most bytes that a waiting delivery may hold beside its payload.
    private static let bytesMax = 1024
    private static let count = 4096

    private static let handler = Handler(
        name: "crm", kind: .exec(Handler.Command(arguments: ["/usr/bin/crm"])), maxConcurrent: 1)
    private static let route = Route(name: "50-crm", match: RouteMatch(), handler: "crm")

    @Test(
        "without its payload a delivery that waits for a handler, or in a lane, has less than 1 KB, as counted",
        arguments: DispatchMode.allCases, [0, 1 << 30])
    func waiting(mode: DispatchMode, payloadMemory: Int) throws {
        for device in [nil, #","device":"phone""#] {
            var table = RoutingTable(mode: mode, routes: [Self.route], handlers: ["crm": Self.handler])
            table.limits.payloadMemory = payloadMemory
            var router = Router(
                boot: UUID128(high: 3, low: 4), table: table,
                tracker: Tracker(stateID: UUID128(high: 1, low: 2), rules: table.tracking))
            var effects = Effects(rows: RowBuffer(headroom: 0))
            func submit(_ number: Int) throws {
                let line =
                    #"{"op":"deliver","id":"0123456789-\#(1_000_000 + number)","platform":"android","app":"shop""#
                    + #"\#(device ?? ""),"payload":{"data":{"order":"\#(number)","text":"a text of some length"}}}"#
                let now = Moment(
                    monotonic: Instant(nanoseconds: Int64(number)),
                    wall: WallTime(milliseconds: 1_760_000_000_000 + Int64(number)))
                let request = try Request(line: Array(line.utf8), limits: JSONLimits(depth: 32))
                _ = try router.submit(
                    request, from: Peer(uid: 1000, gid: 100, pid: 4242), at: now, effects: &effects)
                _ = effects.takeList()
                effects.rows?.removeAll(keeping: 1 << 20)
            }
            // Ten requests, not counted, make the one-time allocations and take the places to run.
            for number in 1...10 { try submit(number) }
            let (held, payloads, before) = (Allocations.heldBytes, router.payloadBytes, router.invocationBytes)
            for number in 11...10 + Self.count { try submit(number) }
            let bytes = (Allocations.heldBytes - held - (router.payloadBytes - payloads)) / Self.count
            #expect(router.requestsInFlight == 10 + Self.count)
            #expect(bytes < Self.bytesMax, "\(bytes) bytes, \(mode), \(device ?? "no device")")
            let counted = (router.invocationBytes - before) / Self.count
            #expect((counted * 8 / 10...counted * 11 / 10).contains(bytes), "\(bytes) bytes, counted as \(counted)")
        }
    }
}
