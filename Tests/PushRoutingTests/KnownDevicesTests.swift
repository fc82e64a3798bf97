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
