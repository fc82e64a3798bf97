// Deliveries a second through the committer: each a request, one decided invocation and one receipt.
// Usage: store DIRECTORY BATCH SECONDS BYTES none|id|message
// With id each has a producer's id, with message each can be found by its message id; otherwise the tracker remembers
// it.
// Prints deliveries a second that are acknowledged and in the ledger at the end, and the median and 99th percentile of a
// commit to the log in microseconds.
import Glibc
import PushModel
import Store
import Synchronization

let arguments = CommandLine.arguments
guard arguments.count == 6, let batchSize = Int64(arguments[2]), let seconds = Int64(arguments[3]),
    let bytes = Int(arguments[4])
else {
    print("usage: store DIRECTORY BATCH SECONDS BYTES none|id|message")
    exit(2)
}
let withID = arguments[5] == "id"
let isTracked = arguments[5] != "message"
let body = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
let boot = UUID128(high: 1, low: 2)

func delivery(_ number: Int64) -> [LedgerRecord] {
    let seq = SequenceNumber(number)
    let wall = WallTime(milliseconds: 1_760_000_000_000 + number / 50)
    let request = AcceptedRequest(
        seq: seq, operation: .deliver, id: withID ? "\(UInt64.random(in: .min ... .max))" : nil,
        peer: Peer(uid: 1000, gid: 1000, pid: 4242),
        acceptedAt: Moment(monotonic: Instant(nanoseconds: number * 20_000), wall: wall), boot: boot, mode: .relay,
        platform: .android, app: "com.example.shop", device: "device-\(number % 1000)",
        externalID: "user-\(number % 1000)", messageID: "0:1510161\(number)%7ac1",
        state: .background, duplicateID: "0:1510161\(number)%7ac1", isTracked: isTracked, body: body)
    let result = InvocationResult(
        outcome: .handedToTracker, reason: nil, queue: .microseconds(12), exec: .zero, total: .microseconds(12),
        completion: nil, decidedAt: wall)
    let invocation = InvocationRecord(
        id: InvocationID(seq: seq, n: 0), callback: .onMessageReceived, provider: "braze", route: nil, handler: nil,
        budget: .seconds(9), deadline: nil, started: false, result: result)
    let event = AnalyticsEvent(
        id: UUID128(high: UInt64(number), low: .random(in: .min ... .max)), time: wall.seconds,
        seq: seq, delivery: seq, externalUserID: request.externalID, deviceID: request.device, appID: request.app,
        platform: .android,
        content: .received(.init(campaignID: "campaign-2026-11", messageID: request.messageID)))
    let tracked = TrackedRow(
        seq: seq, receivedAt: wall, since: wall, isDisplayed: true, hasOwnID: true, uniqueID: nil, digest: nil,
        buttons: [])
    let records: [LedgerRecord] = [.request(request), .invocation(invocation), .event(event)]
    return isTracked ? records + [.tracker(.delivery(tracked))] : records
}

// As in the loop, the next batch is formed while the last one is written, and submitted when that is reported.
let reports = Mutex<[Duration]>([])
var pipes: [Int32] = [0, 0]
guard pipe(&pipes) == 0 else { fatalError("pipe") }
let (reading, writing) = (pipes[0], pipes[1])

let committer = try Committer(directory: StateDirectory(path: arguments[1])) { report in
    switch report {
    case .durable(_, let duration):
        reports.withLock { $0.append(duration) }
        write(writing, [0], 1)
    // The ledger is a whole log behind: the next batch waits for it.
    case .applied, .stalled: break
    default: fatalError("\(report)")
    }
}
func batch(_ number: Int64) -> CommitBatch {
    let rows = committer.takeBuffer()
    for seq in number * batchSize + 1...(number + 1) * batchSize {
        for record in delivery(seq) { rows.append(record) }
    }
    return CommitBatch(
        number: UInt64(number + 1), rows: rows, lastSequence: SequenceNumber((number + 1) * batchSize))
}
let start = ContinuousClock.now
var number: Int64 = 0
var next = batch(number)
while ContinuousClock.now - start < .seconds(seconds) {
    committer.submit(next)
    number += 1
    next = batch(number)
    var byte: UInt8 = 0
    guard read(reading, &byte, 1) == 1 else { fatalError("read") }
}
// The ledger lags behind the acknowledged batches: the measured time includes applying the rest.
committer.stop()
let elapsed = ContinuousClock.now - start
let durations = reports.withLock { $0.sorted() }
let rate = Double(number * batchSize) / (elapsed / .seconds(1))
print(Int(rate), durations[durations.count / 2].microseconds, durations[durations.count * 99 / 100].microseconds)
