import PushModel
import Testing

@testable import PushRouting

@Suite("A device that is forgotten")
struct ForgottenDeviceTests {
    @Test("leaves nothing: neither its user nor the ids that FCM on it saw")
    func everything() throws {
        var bench = Bench(devicesMax: 1)
        try bench.submit(.deliver(Payload.message("m1"), to: "phone", user: "u1"))
        #expect(try bench.submit(.deliver(Payload.message("m2"), to: "tablet")).contains("forget device 1"))
        #expect(bench.router.recentMessages.count == 1 && bench.router.knownDevices.count == 1)
        #expect(try !bench.submit(.deliver(Payload.message("m1"), to: "phone")).contains("end 3.0 duplicate"))
        #expect(bench.ledger.requests[SequenceNumber(3)]?.accepted.externalID == nil)
    }

    @Test("makes room: thousands that come once leave the tables at their bound")
    func bounded() throws {
        var bench = Bench(.testing(handlers: [Handler(name: "crm", kind: .discard)]), devicesMax: 10)
        for number in 1...2000 { try bench.submit(.deliver(Payload.message("m"), to: "device-\(number)")) }
        #expect(bench.router.knownDevices.count == 10)
        #expect(bench.router.recentMessages.count == 10)
        #expect(bench.router.lanes.isEmpty && bench.router.invocations.isEmpty)
    }
}
