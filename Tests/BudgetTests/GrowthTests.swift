import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// A table that doubles moves all its elements, in one turn of the loop. The time of that follows the allocated memory,
/// which does not depend on the machine.
@Suite("The growth of tables", .needs("an allocator without a sanitizer", if: Allocations.isCounted))
struct GrowthTests {
    private static let count: Int64 = 200_000
    /// The bytes for one insertion. These tables would allocate 12 to 60 MB in one piece.
    private static let bytesMax = 512 << 10

    private let peer = Peer(uid: 1000, gid: 100, pid: 4242)
    private let now = Moment(monotonic: Instant(nanoseconds: 1), wall: WallTime(milliseconds: 1_760_000_000_000))

    @Test("by a device is small at a time, however many devices are known")
    func devices() {
        var devices = DeviceMemory([], [])
        let most = most { number in
            let key = DeviceKey(app: "shop", device: "device-\(number)")
            devices.set(KnownDevice(number: SequenceNumber(number), key: key, platform: .android, externalID: nil))
            devices.receive(RecentDelivery(device: key, duplicateID: "0:1", state: nil))
        }
        #expect(most < Self.bytesMax, "\(most) bytes")
        #expect(devices.known.count == Int(Self.count) && devices.recentMessages.count == Int(Self.count))
        devices.byteLimit = 0
        let removed = (1...Self.count / 2).map { _ in
            Allocations.count {
                var effects = Effects(rows: RowBuffer())
                devices.makeRoom(but: nil, atMost: 1, &effects)
            }.bytes
        }
        #expect(removed.max() ?? .max < Self.bytesMax)
        #expect(devices.known.count == Int(Self.count / 2))
    }

    @Test("is none when a person is erased, however many devices others have")
    func erasure() throws {
        var router = router()
        for number in 1...Self.count {
            let key = DeviceKey(app: "shop", device: "device-\(number)")
            router.memory.devices.set(
                KnownDevice(
                    number: SequenceNumber(number), key: key, platform: .android, externalID: "user-\(number)"))
            router.memory.devices.receive(RecentDelivery(device: key, duplicateID: "0:1", state: nil))
        }
        let asked = try Allocations.count {
            let (person, _) = router.bound(of: Person(externalID: "user-777"))
            let bound = ErasureBound(request: SequenceNumber(Self.count), entry: EntryNumber(0))
            try router.forget(person, through: bound)
            return person
        }
        #expect(asked.bytes < Self.bytesMax, "\(asked.bytes) bytes")
        #expect(asked.value.devices == [ExactName("device-777")])
        #expect(router.memory.devices.known.count == Int(Self.count) - 1)
        #expect(router.memory.devices.recentMessages.count == Int(Self.count) - 1)
    }

    @Test("is none when all waiting entries leave their suite: the removal works in place")
    func removal() throws {
        // The first part of a removal costs the same however many entries wait.
        for (few, many) in zip(try bytesOfRemovals(of: 300), try bytesOfRemovals(of: 30_000)) {
            #expect(many < few + Self.bytesMax, "\(many) bytes, and \(few) of 300 entries")
        }
    }

    /// The bytes that a reset, a flush and `resolveUnknown` each allocate for so many entries.
    private func bytesOfRemovals(of count: Int) throws -> [Int] {
        let now = now.wall
        var data = CustomData(stateID: UUID128(high: 1, low: 2))
        var output = CustomDataOutput()
        let object = try JSONDocument(scanning: Array(#"{"name":"bought"}"#.utf8)).root
        func log(_ destination: EntryDestination) {
            let source = EntrySource(
                cause: SequenceNumber(1), destination: destination, platform: .android, app: "shop", device: "phone",
                externalID: nil,
                at: now)
            for _ in 1...count { data.log(.customEvent, object, source, now: now, into: &output) }
        }
        func asked(_ act: (inout CustomData, inout CustomDataOutput) -> Int) -> Int {
            output = CustomDataOutput()
            let asked = Allocations.count { act(&data, &output) }
            #expect(asked.value == count && output.records.count >= 256)
            while data.isRemoving { data.continueRemoval(now: now, into: &output) }
            return asked.bytes
        }
        log(.stored(suite: "standard"))
        let reset = asked { $0.reset(suite: "standard", app: nil, now: now, into: &$1) }
        log(.stored(suite: "standard"))
        let session = SessionStart(
            cause: SequenceNumber(2), platform: .android, app: "shop", device: "phone", externalID: nil, at: now)
        let flush = asked { $0.flush(session, now: now, into: &$1) }
        log(.sent(.brazeID("b1")))
        for run in 1...4 as ClosedRange<UInt64> {
            _ = data.claim(by: UUID128(high: 7, low: run), limit: count, bytes: 1 << 30, now: now, into: &output)
        }
        let resolve = asked { $0.resolveUnknown(.discarded, now: now, into: &$1) }
        return [reset, flush, resolve]
    }

    @Test("by a request is small at a time, however many requests are in flight")
    func requests() throws {
        var router = router()
        var effects = Effects(rows: RowBuffer(headroom: 0))
        let line = #"{"op":"deliver","platform":"android","app":"shop","payload":{"data":{"k":"v"}}}"#
        _ = try router.submit(
            Request(line: Array(line.utf8), limits: JSONLimits(depth: 32)), from: peer, at: now, effects: &effects)
        let invocation = try #require(router.invocations[InvocationID(seq: SequenceNumber(1), n: 0)])
        let most = most { number in
            let id = InvocationID(seq: SequenceNumber(number + 1), n: 0)
            var another = invocation
            another.record.id = id
            router.invocations.put(another)
            router.usage.began(id, of: peer.account, bytes: 100, memory: 1700)
            // Two in each lane: the head, and one that waits.
            for _ in 1...2 {
                _ = router.lanes.join(DeviceKey(app: "shop", device: "device-\(number)"), id, at: now.monotonic)
            }
        }
        #expect(most < Self.bytesMax, "\(most) bytes")
        #expect(router.requestsInFlight == Int(Self.count) + 1 && router.lanes.crowded == Int(Self.count))
    }

    private func router() -> Router {
        let handler = Handler(name: "crm", kind: .exec(Handler.Command(arguments: ["/usr/bin/crm"])))
        let route = Route(name: "50-crm", match: RouteMatch(), handler: "crm")
        let table = RoutingTable(mode: .relay, routes: [route], handlers: ["crm": handler])
        let tracker = Tracker(stateID: UUID128(high: 1, low: 2), rules: table.tracking)
        return Router(boot: UUID128(high: 3, low: 4), table: table, tracker: tracker)
    }

    /// The most memory that one insertion allocates.
    private func most(_ insert: (Int64) -> Void) -> Int {
        var most = 0
        for number in 1...Self.count { most = max(most, Allocations.count { insert(number) }.bytes) }
        return most
    }
}
