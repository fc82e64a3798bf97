import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The table of known devices")
struct KnownDevicesTests {
    private func device(_ number: Int, user: String? = nil, app: String = "shop") -> KnownDevice {
        KnownDevice(
            number: SequenceNumber(Int64(number)), key: DeviceKey(app: app, device: "d\(number)"), platform: .android,
            externalID: user)
    }

    private let all = SequenceNumber(.max)
    private let nobody = DeviceKey(app: nil, device: "")

    private func goingOrder(_ devices: inout KnownDevices, _ count: Int) -> [Int64?] {
        (0..<count).map { _ in devices.removeLeastUsed(but: nobody)?.device.number.value }
    }

    @Test("removes the oldest first, and skips once those used since")
    func order() {
        var devices = KnownDevices()
        for number in 1...6 { devices.set(device(number)) }
        devices.use(device(1).key)
        devices.set(device(3, user: "u1"))
        #expect(goingOrder(&devices, 7) == [2, 4, 5, 6, 1, 3, nil])
        #expect(devices.count == 0 && devices.byteCount == 0 && devices.all.isEmpty)
    }

    @Test("finds the device of a token until the device has another token, or is removed")
    func tokens() {
        var devices = KnownDevices()
        func registered(_ number: Int, _ token: String?) -> KnownDevice {
            var device = device(number)
            device.token = token
            return device
        }
        for number in 1...3 { devices.set(registered(number, "t\(number)")) }
        #expect(devices.device(ofToken: "t2")?.number.value == 2)
        devices.set(registered(2, "other"))
        #expect(devices.device(ofToken: "t2") == nil)
        #expect(devices.device(ofToken: "other")?.number.value == 2)
        // The token moves to its next device before the previous one loses it.
        devices.set(registered(3, "other"))
        devices.set(registered(2, nil))
        #expect(devices.device(ofToken: "other")?.number.value == 3)
        while devices.removeLeastUsed(but: nobody) != nil {}
        #expect(devices.device(ofToken: "other") == nil && devices.device(ofToken: "t1") == nil)
        #expect(devices.byteCount == 0)
    }

    @Test("knows of a device's last four former tokens when they ended, unless another device has the token now")
    func formerTokens() throws {
        var bench = Bench()
        func token(_ token: String, _ device: String, _ kind: String = "new", at second: Int) throws {
            bench.at(.seconds(second))
            let line =
                #"{"op":"token","kind":"\#(kind)","token":"\#(token)","app":"shop","platform":"ios","device":"\#(device)"}"#
            try bench.submit(try Request(line: Array(line.utf8)))
        }
        func end(_ token: String) -> Int64? {
            bench.router.end(ofToken: token).map { $0.seconds - 1_700_000_000 }
        }
        for number in 0..<6 { try token("t\(number)", "a", at: number) }
        #expect((0..<6).map { end("t\($0)") } == [nil, 2, 3, 4, 5, nil])
        try token("t2", "b", at: 7)
        #expect(end("t2") == nil && bench.router.device(ofToken: "t2")?.key.device == "b")
        try token("t2", "b", "unregistered", at: 9)
        #expect(end("t2") == 9)
        // The ledger's rows make the same memory, in any order of the devices.
        for devices in [bench.ledger.devices.values.map(\.self), bench.ledger.devices.values.reversed()] {
            let memory = DeviceMemory(devices, [])
            #expect(memory.known.former(token: "t2")?.ended.seconds == 1_700_000_009)
            #expect(memory.known.former(token: "t4")?.ended.seconds == 1_700_000_005)
            #expect(memory.known.former(token: "t5") == nil)
        }
        let person = Person(externalID: nil, devices: ["a", "b"])
        var known = DeviceMemory(Array(bench.ledger.devices.values), []).known
        _ = known.remove(person, through: SequenceNumber(1000))
        #expect(known.former(token: "t4") == nil && known.byteCount == 0)
    }

    @Test("a send that the gateway refused has a row with the reason, and is remembered nowhere else")
    func refusedSend() throws {
        var bench = Bench()
        let line =
            #"{"op":"deliver","platform":"android","device":"t1","payload":{"body":"{"},"#
            + #""sender":{"answer":404,"reason":"UNREGISTERED","cause":"no device has it"}}"#
        try bench.submit(try Request(line: Array(line.utf8)))
        let end = try #require(bench.ends.values.first)
        #expect(end.result.outcome == .swallowed && end.result.reasonCode == .refusedSend)
        #expect(end.result.reason?.hasSuffix("404 UNREGISTERED") == true)
        #expect(bench.ledger.devices.isEmpty && bench.runs.isEmpty)
        let accepted =
            #"{"op":"deliver","platform":"android","device":"t1","payload":{"a":"b"},"sender":{"answer":200}}"#
        try bench.submit(try Request(line: Array(accepted.utf8)))
        #expect(bench.runs.count == 1)
    }

    @Test("are counted with their bytes for the status")
    func usage() throws {
        var bench = Bench()
        #expect(bench.router.deviceUsage == DeviceUsage(count: 0, byteCount: 0))
        var before = 0
        for number in 1...3 {
            let device = String(repeating: "d", count: 80 * number)
            let line =
                #"{"op":"token","kind":"new","token":"t\#(number)","app":"shop","platform":"ios","device":"\#(device)"}"#
            try bench.submit(try Request(line: Array(line.utf8)))
            let usage = bench.router.deviceUsage
            #expect(usage.count == number && usage.byteCount >= before + 80 * number, "\(usage)")
            before = usage.byteCount
        }
    }

    @Test("a full table of devices never removes the device that it must spare")
    func spared() {
        var devices = KnownDevices()
        devices.set(device(1))
        #expect(devices.removeLeastUsed(but: device(1).key) == nil)
        devices.set(device(2))
        #expect(devices.removeLeastUsed(but: device(1).key)?.device.number.value == 2)
        #expect(devices.removeLeastUsed(but: device(1).key) == nil)
        #expect(devices[device(1).key] == device(1))
    }

    @Test("skips at most 64, so that a removal ends soon")
    func chances() {
        var devices = KnownDevices()
        for number in 1...200 {
            devices.set(device(number))
            devices.use(device(number).key)
        }
        #expect(goingOrder(&devices, 2) == [65, 130])
    }

    @Test("removes older devices before a new one, even when the new one has the slot of a removed one")
    func holes() {
        var devices = KnownDevices()
        for number in 1...10 { devices.set(device(number, user: number == 2 ? "u1" : nil)) }
        #expect(devices.remove(Person(externalID: "u1", devices: ["d2"]), through: all) == [device(2).key])
        devices.set(device(11))
        #expect(goingOrder(&devices, 10) == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    }

    @Test("removes a user's devices and returns all that have the name of one; those of other users stay")
    func person() {
        var devices = KnownDevices()
        devices.set(device(1, user: "anna"))
        devices.set(device(2, user: "berta"))
        devices.set(device(2, app: "news"))
        devices.set(device(3))
        #expect(devices.names(of: "anna") == [ExactName("d1")])
        let named = devices.remove(Person(externalID: "anna", devices: ["d1", "d2"]), through: all)
        #expect(Set(named) == [device(1).key, device(2).key, device(2, app: "news").key])
        #expect(Set(devices.all.map(\.key)) == [device(2).key, device(3).key])
        // Without a user id the person's devices are removed, whichever user they have.
        #expect(devices.remove(Person(externalID: nil, devices: ["d2"]), through: all) == [device(2).key])
        #expect(devices.all.map(\.key) == [device(3).key])
    }

    @Test("holds the devices that were set and not removed, after any sequence")
    func model() {
        var random = SeededGenerator(seed: Search.firstSeed)
        var devices = KnownDevices()
        var model: [DeviceKey: KnownDevice] = [:]
        for step in 1...Search.cases(20_000) {
            let number = Int.random(in: 1...1500, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let new = device(number, user: number % 3 == 0 ? nil : "u\(Int.random(in: 0..<200, using: &random))")
                devices.set(new)
                model[new.key] = new
            case 6..<7: devices.use(device(number).key)
            case 7..<9:
                let gone = devices.removeLeastUsed(but: device(number).key)?.device
                #expect(gone?.key != device(number).key)
                #expect(gone.map { model.removeValue(forKey: $0.key) == $0 } ?? (model.count <= 1))
            default:
                let user = "u\(number % 200)"
                let names = Set(devices.names(of: user))
                #expect(names == Set(model.values.filter { $0.externalID == user }.map { ExactName($0.key.device) }))
                let person = Person(externalID: user, devices: names.map(\.text))
                let keys = names.map { DeviceKey(app: "shop", device: $0.text) }
                #expect(Set(devices.remove(person, through: all)) == Set(keys))
                model = model.filter { $0.value.externalID != user }
            }
            #expect(devices.count == model.count && devices[device(number).key] == model[device(number).key])
            if step % 1000 == 0 { #expect(Set(devices.all) == Set(model.values)) }
        }
    }
}
