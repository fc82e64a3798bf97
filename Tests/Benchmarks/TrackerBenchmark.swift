import Glibc
import PushModel
import PushTracking

// Ten deliveries on each device, then taps and session starts on random ones. Built and run by tracker.sh.

@main
enum TrackerBenchmark {
    static func main() {
        guard CommandLine.arguments.count == 2, let devices = Int(CommandLine.arguments[1]), devices > 0 else {
            print("usage: tracker-benchmark DEVICES")
            exit(2)
        }
        var run = Run(devices: devices)
        run.deliver()
        run.act()
    }
}

private struct Run {
    private let devices: Int
    private let started = residentBytes()
    private var tracker: Tracker
    private var output = TrackerOutput()
    private var seq: Int64 = 0
    private var now: Int64 = 1_700_000_000_000

    init(devices: Int) {
        self.devices = devices
        var rules = TrackerRules()
        rules.rememberMax = devices * 10
        tracker = Tracker(stateID: UUID128(high: 1, low: 2), rules: rules)
    }

    mutating func deliver() {
        let clock = ThreadClock()
        var took = Duration.zero
        var worst = Duration.zero
        for round in 0..<10 {
            for device in 0..<devices {
                seq += 1
                now += device % 10 == 0 ? 1 : 0
                let delivery = TrackedDelivery(
                    seq: SequenceNumber(seq), platform: .android, app: "com.company.shop", device: deviceName(device),
                    externalID: userName(device), messageID: messageID(round, device),
                    campaignID: "Y2FtcGFpZ25fJF8lwm9dW\(device % 100)X2FiY2RlZg==",
                    receivedAt: WallTime(milliseconds: now))
                let before = clock.now
                tracker.receive(delivery, now: WallTime(milliseconds: now), into: &output)
                let span = clock.now - before
                took += span
                worst = max(worst, span)
                output = TrackerOutput()
            }
        }
        let count = devices * 10
        let bytes = residentBytes() - started
        print("\(count) deliveries on \(devices) devices: \(bytes >> 20) MiB, \(bytes / count) bytes each")
        report("receive", count, took, worst: worst)
    }

    mutating func act() {
        let count = max(devices, 100_000)
        var generator = SystemRandomNumberGenerator()
        let clock = ThreadClock()
        var took = Duration.zero
        var worst = Duration.zero
        var influenced = 0
        var opens = 0
        for number in 0..<count {
            seq += 1
            now += number % 10 == 0 ? 1 : 0
            let device = Int.random(in: 0..<devices, using: &generator)
            let time = WallTime(milliseconds: now)
            let subject = Interaction.Subject.message(messageID(Int.random(in: 0..<10, using: &generator), device))
            let tap = Interaction(
                cause: SequenceNumber(seq), subject: subject, act: .opened, platform: .android, app: "com.company.shop",
                device: deviceName(device), externalID: userName(device), at: time)
            let source = TrackerSource(
                cause: SequenceNumber(seq), platform: .android, app: "com.company.shop", device: deviceName(device),
                externalID: userName(device), at: time)
            let before = clock.now
            if number % 2 == 0 {
                tracker.session(.start, source, now: time, into: &output)
            } else {
                _ = tracker.interact(tap, now: time, into: &output)
            }
            tracker.takeDue(now: time, into: &output)
            let span = clock.now - before
            took += span
            worst = max(worst, span)
            influenced += output.events.count { $0.kind == .influencedOpen }
            opens += output.events.count { $0.kind == .open }
            output = TrackerOutput()
        }
        report("tap or session start", count, took, worst: worst)
        let bytes = residentBytes() - started
        print("\(opens) opens, \(influenced) influenced opens; \(bytes >> 20) MiB")
    }

    private func report(_ name: String, _ count: Int, _ took: Duration, worst: Duration) {
        let perSecond = Int64(count) * 1_000_000_000 / max(1, took.nanoseconds)
        print("\(name): \(perSecond) a second, slowest \(worst.microseconds) us")
    }

    private func deviceName(_ device: Int) -> String { "\(padded(device))-4f1a-4b7e-9c55-3f0a9b1c77de" }

    private func userName(_ device: Int) -> String { "user-\(padded(device))" }

    private func messageID(_ round: Int, _ device: Int) -> String { "0:17000\(padded(device))\(round)4%f9fd7ecdf9fd" }

    private func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}

/// The time that this thread had a processor: other work of the machine does not count.
private struct ThreadClock {
    var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// What the process holds in memory, as the kernel counts it.
private func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, 128, file) != nil else { return 0 }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
