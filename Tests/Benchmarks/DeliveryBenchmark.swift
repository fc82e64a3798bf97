import Glibc
import PushDispatch
import PushModel
import PushRouting
import PushSettings
import PushTracking

// What the loop does for one delivery in the pure part: scan, read, decide, track, and all of it together. Built and run
// under callgrind by delivery.sh, which takes the difference of two counts: what is done once does not show.

@main
enum DeliveryBenchmark {
    static func main() {
        guard CommandLine.arguments.count == 4, let count = Int(CommandLine.arguments[3]) else {
            print("usage: delivery-benchmark line|scan|read|decide|track|deliver|deliver-new PAYLOAD COUNT")
            exit(2)
        }
        guard let table = Settings.load(.shipped).settings?.routing else { exit(1) }
        let lines = Lines(payload: contents(of: CommandLine.arguments[2]))
        switch CommandLine.arguments[1] {
        case "line": for number in 0..<count { keep(lines.line(number, devices: 64)) }
        case "scan": for number in 0..<count { keep(try? JSONDocument(scanning: lines.line(number, devices: 64))) }
        case "read": for number in 0..<count { keep(try? Request(line: lines.line(number, devices: 64))) }
        case "decide": decideEach(count, lines, table.detection)
        case "track": trackEach(count)
        case "deliver": deliverEach(count, lines, devices: 64, table)
        case "deliver-new": deliverEach(count, lines, devices: .max, table)
        default: exit(2)
        }
    }

    private static func decideEach(_ count: Int, _ lines: Lines, _ settings: DetectionSettings) {
        guard case .deliver(let deliver)? = (try? Request(line: lines.line(0, devices: 1)))?.action else { exit(1) }
        let delivery = Delivery(deliver, platform: .android)
        for _ in 0..<count { keep(try? decide(delivery, settings: settings)) }
    }

    private static func trackEach(_ count: Int) {
        var tracker = Tracker(stateID: UUID128(high: 1, low: 2))
        var output = TrackerOutput()
        let devices = (0..<64).map { "device-\(1_000_000 + $0)" }
        let campaign = String(repeating: "NjNmZGU0", count: 18)
        for number in 0..<count {
            let delivery = TrackedDelivery(
                seq: SequenceNumber(Int64(number + 1)), platform: .android, app: "com.example.shop",
                device: devices[number % 64], externalID: nil, messageID: nil, hasOwnID: false,
                campaignID: campaign, digest: UInt64(number) &* 0x9E37_79B9_7F4A_7C15,
                buttons: [.init(id: "track", action: .deepLink), .init(id: "later", action: .close)], receivedAt: now)
            tracker.receive(delivery, now: now, into: &output)
            keep(output)
            output.events.removeAll(keepingCapacity: true)
            output.records.removeAll(keepingCapacity: true)
        }
    }

    private static func deliverEach(_ count: Int, _ lines: Lines, devices: Int, _ table: RoutingTable) {
        let tracker = Tracker(stateID: UUID128(high: 1, low: 2), rules: table.tracking)
        var router = Router(boot: UUID128(high: 3, low: 4), table: table, tracker: tracker)
        var effects: [RouterEffect] = []
        let moment = Moment(monotonic: Instant(nanoseconds: 1), wall: now)
        for number in 0..<count {
            guard let request = try? Request(line: lines.line(number, devices: devices)),
                (try? router.submit(request, from: peer, at: moment, effects: &effects)) != nil
            else { exit(1) }
            keep(effects)
            effects.removeAll(keepingCapacity: true)
        }
    }
}

private let peer = Peer(uid: 1000, gid: 1000, pid: 1)
private let now = WallTime(milliseconds: 1_700_000_000_000)

/// Has the optimizer believe that a value is looked at.
@inline(never)
@_semantics("optimize.no.crossmodule")
private func keep<Value>(_ value: Value) {}

/// Request lines that differ in their ids and devices.
private struct Lines {
    private let template: [UInt8]
    private let id: Int
    private let device: Int

    init(payload: [UInt8]) {
        let start = #"{"op":"deliver","id":"order-shipped-"#
        let middle = #"","platform":"android","app":"com.example.shop","device":"device-"#
        template = Array("\(start)00000000\(middle)00000000\",\"payload\":".utf8) + payload + [UInt8(ascii: "}")]
        id = start.utf8.count
        device = id + 8 + middle.utf8.count
    }

    func line(_ number: Int, devices: Int) -> [UInt8] {
        var line = template
        line.withUnsafeMutableBufferPointer { bytes in
            for (place, number) in [(id, number), (device, number % devices)] {
                var rest = number
                for digit in (0..<8).reversed() {
                    bytes[place + digit] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
            }
        }
        return line
    }
}

private func contents(of path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { exit(1) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let length = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(length)).filter { $0 != UInt8(ascii: "\n") }
}
