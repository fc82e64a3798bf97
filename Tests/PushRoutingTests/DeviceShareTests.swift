import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The memory of devices that accounts share")
struct DeviceShareTests {
    /// A model that looks at all devices for each answer.
    private struct Model {
        struct Entry {
            var device: KnownDevice
            var topics: Set<TopicName> = []
            var wasUsed = false
            var isRegistered: Bool { device.token != nil || !topics.isEmpty }
            var bytes: Int {
                KnownDevices.fixedByteCount + (device.key.app?.utf8.count ?? 0) + device.key.device.utf8.count
                    + (device.externalID?.utf8.count ?? 0)
                    + (device.token.map { KnownDevices.tokenByteCount + $0.utf8.count } ?? 0)
                    + topics.reduce(0) { $0 + TopicIndex.byteCount(of: $1) }
            }
        }

        /// All devices, each account's in the order in which they go; a device that changes its ring goes last.
        var entries: [Entry] = []
        var accounts: [Account?] = []

        func bytes(of account: Account?) -> Int {
            entries.reduce(0) { $0 + ($1.device.owner == account ? $1.bytes : 0) }
        }

        var bytes: Int { entries.reduce(0) { $0 + $1.bytes } }

        /// The accounts that have a device.
        var present: Int { accounts.count { account in entries.contains { $0.device.owner == account } } }

        mutating func change(_ key: DeviceKey, _ act: (inout Entry) -> Void) {
            guard let place = entries.firstIndex(where: { $0.device.key == key }) else { return }
            let before = entries[place].isRegistered
            act(&entries[place])
            entries[place].wasUsed = true
            if entries[place].isRegistered != before { entries.append(entries.remove(at: place)) }
        }

        mutating func set(_ device: KnownDevice) {
            if !accounts.contains(device.owner) { accounts.append(device.owner) }
            guard entries.contains(where: { $0.device.key == device.key }) else {
                return entries.append(Entry(device: device))
            }
            change(device.key) { $0.device = device }
        }

        mutating func removeNext(but spared: DeviceKey) -> DeviceKey? {
            var largest: (account: Account?, bytes: Int)?
            for account in accounts where bytes(of: account) > (largest?.bytes ?? -1) {
                largest = (account, bytes(of: account))
            }
            guard let account = largest.map(\.account) else { return nil }
            var chances = 0
            for isRegistered in [false, true] {
                while true {
                    let ring = entries.indices.filter {
                        entries[$0].device.owner == account && entries[$0].isRegistered == isRegistered
                    }
                    guard let head = ring.first, ring.contains(where: { entries[$0].device.key != spared }) else {
                        break
                    }
                    if entries[head].device.key != spared {
                        guard entries[head].wasUsed, chances < 64 else { return entries.remove(at: head).device.key }
                        chances += 1
                        entries[head].wasUsed = false
                    }
                    entries.append(entries.remove(at: head))
                }
            }
            return nil
        }
    }

    private func device(_ number: Int, _ account: Account?, user: String?, token: String?) -> KnownDevice {
        KnownDevice(
            number: SequenceNumber(Int64(number)),
            key: DeviceKey(app: "app", device: "d\(number)" + String(repeating: "x", count: number % 40)),
            platform: .android, externalID: user, token: token, owner: account)
    }

    @Test(
        "goes as a model says: bytes, the device that goes next, and never one of an account below its share",
        arguments: [UInt64(1), 2, 3, 4])
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (devices, model) = (KnownDevices(), Model())
        let topics = (0..<6).compactMap {
            TopicName(project: "p\($0 % 2)", topic: "t\($0)" + String(repeating: "y", count: 30 * $0))
        }
        // A device keeps its account.
        let accounts: [Account?] = [nil, Account(uid: 1), Account(uid: 2), Account(uid: 3)]
        for step in 1...2500 {
            let number = Int.random(in: 1...60, using: &random)
            let key = device(number, nil, user: nil, token: nil).key
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let token = Bool.random(using: &random) ? "token-\(number)" : nil
                let new = device(
                    number, accounts[number % 4], user: Bool.random(using: &random) ? "anna" : nil, token: token)
                devices.set(new)
                model.set(new)
            case 4..<6:
                let topic = try #require(topics.randomElement(using: &random))
                devices.start(topic, since: 1, of: [devices.place(of: key)].compactMap(\.self))
                if model.entries.first(where: { $0.device.key == key })?.topics.contains(topic) == false {
                    model.change(key) { $0.topics.insert(topic) }
                }
            case 6:
                let topic = try #require(topics.randomElement(using: &random))
                devices.end(topic, of: [devices.place(of: key)].compactMap(\.self))
                if model.entries.first(where: { $0.device.key == key })?.topics.contains(topic) == true {
                    model.change(key) { $0.topics.remove(topic) }
                }
            case 7:
                devices.use(key)
                if let place = model.entries.firstIndex(where: { $0.device.key == key }) {
                    model.entries[place].wasUsed = true
                }
            default:
                let (total, count) = (model.bytes, max(1, model.present))
                let before = accounts.map { model.bytes(of: $0) }
                let expected = model.removeNext(but: key)
                let found = devices.removeLeastUsed(but: key)
                #expect(found?.device.key == expected, "step \(step)")
                if let found, let place = accounts.firstIndex(of: found.device.owner) {
                    #expect(before[place] * count >= total, "an account below its share lost a device")
                }
            }
            #expect(devices.byteCount == model.bytes && devices.count == model.entries.count)
            for account in accounts { #expect(devices.byteCount(of: account) == model.bytes(of: account)) }
            if let entry = model.entries.first(where: { $0.device.key == key }), let found = devices[key] {
                #expect(Set(devices.whole(found).detail.topics.map(\.topic)) == entry.topics)
                #expect(devices.place(of: key).map(devices.topicCount) == entry.topics.count)
            }
        }
        for topic in topics {
            let members = devices.members(ofTopics: [topic.topic], of: topic.project, limit: .max)?
                .compactMap { devices.device(at: $0.place)?.key }
            let expected = model.entries.filter { $0.topics.contains(topic) }.map(\.device.key)
            #expect(Set(members ?? []) == Set(expected))
        }
    }

    @Test("loses devices of the account that floods it: another account keeps its tokens and topics")
    func flood() throws {
        var bench = Bench(devicesMax: 300)
        func topic(_ name: String, _ tokens: [String]) throws -> Request {
            let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
            return try Request(
                line: Array(
                    #"{"op":"topic","kind":"subscribe","project":"p","topic":"\#(name)","tokens":[\#(list)],"#.utf8)
                    + Array(#""unknown":"register"}"#.utf8))
        }
        try bench.submit(topic("alerts", (0..<50).map { "b\($0)" }), uid: 2)
        for round in 0..<20 { try bench.submit(topic("x", (0..<100).map { "a\(round)-\($0)" }), uid: 1) }
        let known = bench.router.memory.devices.known
        #expect(known.members(ofTopics: ["alerts"], of: "p", limit: .max)?.count == 50)
        #expect(known.byteCount <= bench.router.memory.devices.byteLimit)
        let evictions = bench.router.deviceEvictions
        #expect(evictions.count == evictions.registered && evictions.registered > 1500)
        #expect(evictions.lastOwner == Account(uid: 1))
        #expect(bench.ledger.devices.count == known.count)
        #expect(bench.ledger.violations == [])
        // The owners are the same after a restart.
        bench.crash()
        try bench.submit(topic("x", (0..<100).map { "again-\($0)" }), uid: 1)
        #expect(
            bench.router.memory.devices.known.members(ofTopics: ["alerts"], of: "p", limit: .max)?.count == 50)
    }

    @Test("loses devices without token and topics first")
    func plainFirst() throws {
        var bench = Bench(devicesMax: 20)
        try bench.submit(
            Request(line: Array(#"{"op":"token","token":"t1","app":"shop","platform":"ios","device":"iphone"}"#.utf8)))
        for number in 0..<200 { try bench.submit(.deliver(Payload.message("m"), to: "device-\(number)")) }
        #expect(bench.router.device(ofToken: "t1")?.key.device == "iphone")
        #expect(bench.router.deviceEvictions.registered == 0 && bench.router.deviceEvictions.count > 100)
    }
}
