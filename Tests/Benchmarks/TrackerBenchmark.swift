import Glibc
import PushModel
import PushRouter

// Measures deliveries to many devices, then taps and session starts there. Built and run by tracker.sh.

@main
enum TrackerBenchmark {
    static func main() {
        guard CommandLine.arguments.count == 2, let devices = Int(CommandLine.arguments[1]), devices > 0 else {
            print("usage: tracker-benchmark DEVICES")
            exit(2)
        }
        print("\(devices) devices; what the core itself takes, on one thread's clock")
        print("per device  acts                            a second  slowest us  direct opens  influenced opens")
        for (deliveries, acts) in [(10, Acts.mixed), (1, .mixed), (1, .starts), (1, .taps), (0, .starts)] {
            var run = Run(devices: devices)
            let before = residentBytes()
            if deliveries > 0 { run.deliver(deliveries) }
            // Later deliveries reuse the memory of the first.
            if deliveries == 10 {
                let bytes = residentBytes() - before
                print("            \(bytes >> 20) MiB, \(bytes / (10 * devices)) bytes a delivery")
            }
            run.act(acts, deliveries: deliveries)
        }
    }
}

private enum Acts: String {
    case mixed = "taps or session starts"
    case taps, starts = "session starts"
}

private struct Run {
    private let devices: Int
    private var tracker: Tracker
    private var seq: Int64 = 0
    private var now: Int64 = 1_700_000_000_000

    init(devices: Int) {
        self.devices = devices
        var rules = TrackerRules()
        rules.rememberMax = devices * 10
        tracker = Tracker(stateID: UUID128(high: 1, low: 2), rules: rules)
    }

    /// Delivers to each device in turn: two deliveries of one device lie far apart, as in practice.
    mutating func deliver(_ count: Int) {
        var sample = Sample()
        for round in 0..<count {
            for device in 0..<devices {
                seq += 1
                now += device % 10 == 0 ? 1 : 0
                let delivery = TrackedDelivery(
                    seq: SequenceNumber(seq), platform: .android, app: "com.company.shop", device: deviceName(device),
                    externalID: userName(device), messageID: messageID(round, device),
                    campaignID: "Y2FtcGFpZ25fJF8lwm9dW\(device % 100)X2FiY2RlZg==",
                    receivedAt: WallTime(milliseconds: now))
                sample.add { output in
                    tracker.receive(delivery, now: WallTime(milliseconds: now), into: &output)
                }
            }
        }
        sample.print("\(column(count, 10))  receipts")
    }

    /// Acts as many times as there are devices, on random ones: a session of a device that comes twice continues.
    mutating func act(_ acts: Acts, deliveries: Int) {
        var sample = Sample()
        var generator = Generator()
        for number in 0..<devices {
            seq += 1
            now += number % 10 == 0 ? 1 : 0
            let device = Int.random(in: 0..<devices, using: &generator)
            let time = WallTime(milliseconds: now)
            let round = deliveries == 0 ? 0 : Int.random(in: 0..<deliveries, using: &generator)
            if acts == .taps || acts == .mixed && number % 2 == 1 {
                let tap = Interaction(
                    cause: SequenceNumber(seq), subject: .message(messageID(round, device)), act: .opened,
                    platform: .android, app: "com.company.shop", device: deviceName(device),
                    externalID: userName(device), at: time)
                sample.add { output in
                    _ = tracker.interact(tap, now: time, into: &output)
                    tracker.takeDue(now: time, into: &output)
                }
            } else {
                let source = TrackerSource(
                    cause: SequenceNumber(seq), platform: .android, app: "com.company.shop",
                    device: deviceName(device), externalID: userName(device), at: time)
                sample.add { output in
                    tracker.session(.start, source, now: time, into: &output)
                    tracker.takeDue(now: time, into: &output)
                }
            }
        }
        sample.print("\(column(deliveries, 10))  \(acts.rawValue)")
    }

    private func deviceName(_ device: Int) -> String { "\(padded(device))-4f1a-4b7e-9c55-3f0a9b1c77de" }

    private func userName(_ device: Int) -> String { "user-\(padded(device))" }

    private func messageID(_ round: Int, _ device: Int) -> String { "0:17000\(padded(device))\(round)4%f9fd7ecdf9fd" }

    private func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}

/// The measured calls of the core, without making their input, and without two reads of the clock.
private struct Sample {
    private static let clockTakes = {
        let start = threadTime()
        for _ in 0..<100_000 { _ = threadTime() }
        return (threadTime() - start) / 100_000
    }()

    private var calls = 0
    private var took = 0
    private var slowest = 0
    private var opens = 0
    private var influenced = 0

    mutating func add(_ call: (inout TrackerOutput) -> Void) {
        var output = TrackerOutput()
        let start = threadTime()
        call(&output)
        let span = max(0, threadTime() - start - Self.clockTakes)
        calls += 1
        took += span
        slowest = max(slowest, span)
        for event in output.events {
            opens += event.kind == .open ? 1 : 0
            influenced += event.kind == .influencedOpen ? 1 : 0
        }
    }

    func print(_ name: String) {
        let padding = String(repeating: " ", count: max(0, 42 - name.utf8.count))
        Swift.print(
            name + padding + column(calls * 1_000_000_000 / max(1, took), 10), column(slowest / 1000, 11),
            column(opens, 13), column(influenced, 17))
    }
}

private func column(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, width - digits.utf8.count)) + digits
}

/// A random generator with the same numbers in every run, and without a system call: SplitMix64.
private struct Generator: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// The CPU time of this thread in nanoseconds: other work of the machine does not count, though it uses the caches.
private func threadTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
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
