import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

/// kill -9 leaves the page cache intact: this tests the loss of process memory. `PowerCutTests` tests the loss of the
/// page cache.
@Suite("kill -9 while the tracker decides")
struct TrackerCrashTests {
    /// Short waits: a second is the least session timeout.
    private let installation = Installation("[Tracker]\nGrace=50ms\nAndroidSessionTimeout=1s\n")

    @Test("loses no event and doubles none: the ledger equals a simulation of the same requests")
    func rounds() throws {
        var load = TrackerLoad(seed: 15)
        var acknowledged: [Int64: String] = [:]
        for _ in 0..<EndToEndTests.rounds {
            let daemon = try DaemonProcess.ready(installation)
            let clients = try (0..<4).map { index in
                let client = try installation.injectClient()
                let lines = load.lines(onDevice: index)
                for line in lines { try client.send(line: line) }
                return (client, lines)
            }
            usleep(load.pause())
            daemon.crash()
            for (client, lines) in clients {
                for (line, reply) in zip(lines, try replies(to: client)) {
                    acknowledged[try #require(reply.seq, "\(line) got \(reply)")] = line
                }
            }
        }
        let daemon = try DaemonProcess.ready(installation)
        try waitUntilDecided()
        daemon.crash()
        let events = try installation.ledger().events(after: 0, limit: .max).map(\.event)
        #expect(Set(events.map(\.id)).count == events.count, "an event is there twice")
        let found = Set(events.map(Self.summary))
        let expected = try simulate(acknowledged)
        #expect(found == expected, "beside the simulation: \(found.symmetricDifference(expected).sorted().prefix(5))")
        // Without these events the rounds would have tested nothing.
        let counts = Dictionary(grouping: events, by: \.kind).mapValues(\.count)
        for kind in [AnalyticsEvent.Kind.received, .open, .influencedOpen, .sessionStart, .sessionEnd] {
            #expect(counts[kind] ?? 0 > 0, "no \(kind)")
        }
        print("kill -9, tracker: \(EndToEndTests.rounds) rounds, \(acknowledged.count) acknowledged, \(counts)")
    }

    /// Returns the replies before the daemon died. A line that it did not finish is not a reply.
    private func replies(to client: Client) throws -> [Line] {
        var lines: [Line] = []
        while let bytes = try client.receiveLine(timeoutMilliseconds: patience), let line = try? Line(bytes) {
            lines.append(line)
        }
        return lines
    }

    /// Waits until no decision depends on a grace or a session timeout any more.
    private func waitUntilDecided() throws {
        let ledger = try installation.ledger()
        try waitUntil("the tracker has decided all") {
            var ended = 0
            try ledger.sessions { ended += $0.end == nil ? 0 : 1 }
            return try ended == 0 && ledger.pendingStarts().isEmpty && ledger.heldInteractions().isEmpty
        }
    }

    /// Returns a simulation's events for all requests in the ledger, each at the time of its acceptance.
    private func simulate(_ acknowledged: [Int64: String]) throws -> Set<String> {
        let ledger = try installation.ledger()
        var numbers: [SequenceNumber] = []
        try ledger.rows { if numbers.last != $0.seq { numbers.append($0.seq) } }
        #expect(numbers.map(\.value) == numbers.indices.map { Int64($0) + 1 }, "a number is missing")
        var script = ""
        for seq in numbers {
            let request = try #require(try ledger.story(of: seq)).request
            let line = String(decoding: request.body, as: UTF8.self)
            if let sent = acknowledged[seq.value] { try #require(line == sent, "seq \(seq)") }
            script += #"{"at":\#(request.acceptedAt.wall.milliseconds),"# + line.dropFirst() + "\n"
        }
        #expect(acknowledged.keys.allSatisfy { $0 <= numbers.count }, "what was acknowledged is lost")
        let simulation = pushctl.run(
            ["simulate", "-", "--config", installation.configuration], input: Array(script.utf8))
        #expect(simulation.end == .exited(0), "\(simulation.errors)")
        var events: Set<String> = []
        for line in simulation.lines {
            let event = try json(line)
            guard event["type"]?.string == "analytics" else { continue }
            events.insert(
                [
                    String(event["id"]?.string?.prefix(18) ?? ""), event["event_type"]?.string ?? "",
                    event["time"]?.text ?? "-",
                    event["external_user_id"]?.string ?? "-", event["message_id"]?.string ?? "-",
                ].joined(separator: " "))
        }
        return events
    }

    /// Returns an event without the state directory's half of its id; the other half is the number and the kind.
    private static func summary(_ event: AnalyticsEvent) -> String {
        [
            String(event.id.description.prefix(18)), event.kind.rawValue, "\(event.time)", event.externalUserID ?? "-",
            event.push?.messageID ?? "-",
        ].joined(separator: " ")
    }
}

/// Random requests of people and producers.
private struct TrackerLoad {
    private var generator: SeededGenerator
    private var messages = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Returns the time until the kill in microseconds.
    mutating func pause() -> UInt32 { .random(in: 0...100_000, using: &generator) }

    /// Returns requests about a device, with taps on deliveries of this load.
    mutating func lines(onDevice device: Int) -> [String] {
        let place = #""platform":"android","app":"shop","device":"d\#(device)""#
        var delivered: [String] = []
        return (0..<Int.random(in: 1...60, using: &generator)).map { _ in
            let user = #""external_id":"u\#(Int.random(in: 0...1, using: &generator))""#
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                messages += 1
                delivered.append("m\(messages)")
                let data = #"{"_ab":"true","cid":"campaign-1","t":"Title","a":"Text"}"#
                return #"{"op":"deliver",\#(place),\#(user),"payload":{"messageId":"m\#(messages)","data":\#(data)}}"#
            case 5..<7:
                let kind = Int.random(in: 0..<3, using: &generator) == 0 ? "dismissed" : "opened"
                let message = delivered.randomElement(using: &generator) ?? "unheard of"
                return #"{"op":"interact","kind":"\#(kind)",\#(place),\#(user),"message":"\#(message)"}"#
            case 7..<9: return #"{"op":"session","kind":"start",\#(place),\#(user)}"#
            default: return #"{"op":"session","kind":"end",\#(place)}"#
            }
        }
    }
}
