import Glibc
import PushModel
import PushRouter

// Measures entries sent at once, in batches of 75, and entries that wait for session starts. Built and run by
// custom-data.sh.

@main
enum CustomDataBenchmark {
    static func main() {
        guard CommandLine.arguments.count == 3, let entries = Int(CommandLine.arguments[2]), entries > 0 else {
            print("usage: custom-data-benchmark sent|stored|one-device|forget ENTRIES")
            exit(2)
        }
        let isOneDevice = CommandLine.arguments[1] == "one-device"
        // A removal from all devices costs most when each device has one entry.
        let perDevice = isOneDevice ? entries : CommandLine.arguments[1] == "forget" ? 1 : 10
        var run = Run(entries: entries, perDevice: perDevice)
        if CommandLine.arguments[1] == "forget" {
            run.log(to: .stored(suite: "group.com.company.appname.xyz"))
            run.forget()
            run.reset()
        } else if CommandLine.arguments[1] == "sent" {
            run.log(to: .sent(.brazeID("5f1e9c2b7a3d4e8f90ab12cd")))
            run.send()
        } else {
            run.log(to: .stored(suite: "group.com.company.appname.xyz"))
            run.flush()
        }
    }
}

private struct Run {
    private static let forwarder = UUID128(high: 1, low: 1)
    private let entries: Int
    /// The number of entries of each device.
    private let perDevice: Int
    private let started = residentBytes()
    private var data: CustomData
    private var output = CustomDataOutput()
    private let now = WallTime(milliseconds: 1_700_000_000_000)
    private let clock = ThreadClock()
    /// The time that logging took.
    private var spent = Duration.zero

    init(entries: Int, perDevice: Int) {
        self.entries = entries
        self.perDevice = perDevice
        var rules = CustomDataRules()
        rules.pendingMax = entries
        rules.pendingSizeMax = .max
        data = CustomData(stateID: UUID128(high: 1, low: 2), rules: rules)
    }

    /// Forgets a person with the entries of one device.
    mutating func forget() {
        let before = clock.now
        data.forget(Person(externalID: "anna", devices: [deviceName(0)]), through: EntryNumber(.max))
        print("a person forgotten beside \(data.summary.pending) entries: \(clock.now - before)")
    }

    /// Begins a reset of the suite that holds all entries.
    mutating func reset() {
        let before = clock.now
        let count = data.reset(suite: "group.com.company.appname.xyz", app: nil, now: now, into: &output)
        print("a reset of \(count) entries begun: \(clock.now - before)")
    }

    /// Logs all entries, each from the text of its request.
    mutating func log(to destination: EntryDestination) {
        var took = Duration.zero
        var worst = Duration.zero
        for number in 0..<entries {
            let text = #"{"name":"added_to_cart","properties":{"sku":"A-\#(number)","price":19.90,"sizes":["S","M"]}}"#
            let bytes = Array(text.utf8)
            let source = EntrySource(
                cause: SequenceNumber(Int64(number + 1)), destination: destination, platform: .android,
                app: "com.company.shop", device: deviceName(number / perDevice), externalID: nil, at: now)
            let before = clock.now
            if let document = try? JSONDocument(scanning: bytes) {
                data.log(.customEvent, document.root, source, now: now, into: &output)
            }
            let span = clock.now - before
            took += span
            worst = max(worst, span)
            output = CustomDataOutput()
        }
        let bytes = residentBytes() - started
        print("\(entries) entries wait: \(bytes / entries) bytes each")
        report("log", entries, took, worst: worst)
        spent = took
    }

    /// Claims and settles all entries.
    mutating func send() {
        var took = Duration.zero
        var worst = Duration.zero
        var sent = 0
        while true {
            let before = clock.now
            let batch = data.claim(by: Self.forwarder, limit: 75, bytes: 1 << 20, now: now, into: &output)
            for entry in batch {
                data.settle(entry.number, .sent, reason: nil, by: Self.forwarder, now: now, into: &output)
            }
            let span = clock.now - before
            took += span
            worst = max(worst, span)
            output = CustomDataOutput()
            guard !batch.isEmpty else { break }
            sent += batch.count
        }
        report("claim and settle, by 75", sent, took, worst: worst)
        report("log, claim and settle", sent, took + spent, worst: worst)
    }

    /// Flushes by one session start for each device, each in as many turns as it takes.
    mutating func flush() {
        var took = Duration.zero
        var worst = Duration.zero
        var flushed = 0
        for device in 0...(entries / perDevice) {
            let session = SessionStart(
                cause: SequenceNumber(Int64(entries + device)), platform: .android, app: "com.company.shop",
                device: deviceName(device), externalID: "user-1", at: now)
            var isFirst = true
            while isFirst || data.isRemoving {
                let before = clock.now
                if isFirst {
                    flushed += data.flush(session, now: now, into: &output)
                } else {
                    data.continueRemoval(now: now, into: &output)
                }
                output = CustomDataOutput()
                let span = clock.now - before
                took += span
                worst = max(worst, span)
                isFirst = false
            }
        }
        report("flush, by session starts", flushed, took, worst: worst)
    }

    private func report(_ name: String, _ count: Int, _ took: Duration, worst: Duration) {
        let perSecond = Int64(count) * 1_000_000_000 / max(1, took.nanoseconds)
        print("\(name): \(perSecond) a second, slowest \(worst.microseconds) us")
    }

    private func deviceName(_ device: Int) -> String { "\(device + 10_000_000)-4f1a-4b7e-9c55-3f0a9b1c77de" }
}

/// The CPU time of this thread: other work of the machine does not count.
private struct ThreadClock {
    var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// The resident memory of the process in bytes, from /proc/self/statm.
private func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, 128, file) != nil else { return 0 }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
