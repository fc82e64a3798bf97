import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A device that is forgotten")
struct ForgottenDeviceTests {
    @Test("leaves neither its user nor the ids in FCM's list")
    func everything() throws {
        var bench = Bench(devicesMax: 1)
        try bench.submit(.deliver(Payload.message("m1"), to: "phone", user: "u1"))
        #expect(try bench.submit(.deliver(Payload.message("m2"), to: "tablet")).contains("forget device 1"))
        #expect(bench.router.memory.devices.recentMessages.count == 1 && bench.router.memory.devices.known.count == 1)
        #expect(try !bench.submit(.deliver(Payload.message("m1"), to: "phone")).contains("end 3.0 duplicate"))
        #expect(bench.ledger.requests[SequenceNumber(3)]?.accepted.externalID == nil)
    }

    @Test("makes room: thousands of devices that come once leave the tables at their bound")
    func bounded() throws {
        var bench = Bench(.testing(handlers: [Handler(name: "crm", kind: .discard)]), devicesMax: 10)
        for number in 1...2000 { try bench.submit(.deliver(Payload.message("m"), to: "device-\(number)")) }
        #expect(bench.router.memory.devices.known.count == 10)
        #expect(bench.router.memory.devices.recentMessages.count == 10)
        #expect(bench.router.lanes.isEmpty && bench.router.invocations.isEmpty)
    }

    @Test("has no recent ids after a start")
    func restored() {
        let known = KnownDevice(
            number: SequenceNumber(1), key: DeviceKey(app: "shop", device: "phone"), platform: .android,
            externalID: nil)
        let deliveries = ["phone", "tablet"].map {
            RecentDelivery(device: DeviceKey(app: "shop", device: $0), duplicateID: "m1", state: nil)
        }
        let table = RoutingTable.testing()
        let router = Router(
            boot: UUID128(high: 3, low: 4), table: table,
            tracker: Tracker(stateID: UUID128(high: 1, low: 2), rules: table.tracking), devices: [known],
            recentDeliveries: deliveries)
        #expect(router.memory.devices.recentMessages.keys.map(\.device) == ["phone"])
    }

    @Test("belongs to a user by the bytes of the id: two spellings of a letter differ")
    func spelling() throws {
        var bench = Bench()
        let (one, two) = ("ren\u{E9}", "rene\u{301}")
        #expect(one == two)
        try bench.submit(.session(on: "phone", user: one))
        try bench.submit(.session(on: "phone", user: two))
        let known = bench.router.memory.devices.known[DeviceKey(app: "shop", device: "phone")]
        #expect(known?.externalID.isSame(as: two) == true)
        #expect(bench.ledger.devices.values.allSatisfy { $0.externalID.isSame(as: two) })
    }
}
