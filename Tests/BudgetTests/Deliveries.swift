import Glibc
import TestSupport

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// Deliveries with the payload of `Tests/Benchmarks`, as lines from the socket.
struct Deliveries {
    private var router: Router
    private let payload: [UInt8]
    private var number = 0

    /// A router with the shipped configuration only.
    init() throws {
        guard let table = Settings.load(ConfigurationSources()).settings?.routing else { throw Unusable() }
        let tracker = Tracker(stateID: UUID128(high: 1, low: 2), rules: table.tracking)
        router = Router(boot: UUID128(high: 3, low: 4), table: table, tracker: tracker)
        let here = #filePath
        guard let end = here.lastIndex(of: "/"),
            let bytes = readFile(here[..<end] + "/../Benchmarks/ingest/payload.json")
        else { throw Unusable() }
        payload = bytes.filter { $0 != UInt8(ascii: "\n") }
    }

    private struct Unusable: Error {}

    /// The number of the last accepted request.
    var lastNumber: SequenceNumber { router.lastNumber }

    /// The line of the next delivery: to one of 64 devices, with a new id.
    mutating func line() -> [UInt8] {
        number += 1
        let head =
            #"{"op":"deliver","id":"0123456789-\#(1_000_000 + number)","platform":"android","app":"com.example.shop","#
            + #""device":"device-\#(1000 + number % 64)","payload":"#
        return Array(head.utf8) + payload + [UInt8(ascii: "}")]
    }

    /// Reads a line, decides, and writes the rows: all work of the loop's thread for a delivery.
    mutating func submit(_ line: [UInt8], into effects: inout Effects) throws {
        let request = try Request(line: line, limits: JSONLimits(depth: 32))
        let now = Moment(
            monotonic: Instant(nanoseconds: Int64(number) * 1_000_000),
            wall: WallTime(milliseconds: 1_760_000_000_000 + Int64(number)))
        _ = try router.submit(request, from: Peer(uid: 1000, gid: 100, pid: 4242), at: now, effects: &effects)
        _ = effects.takeList()
    }
}
