import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

/// kill -9 leaves the page cache intact: this tests the loss of process memory. `PowerCutTests` tests the loss of the
/// page cache.
@Suite("kill -9 while stored entries are flushed")
struct StoredCrashTests {
    private let installation = Installation()

    /// Returns, in turn, an event to log, a counter step to log, and a session start of another user.
    private static func line(_ number: Int) -> String {
        let target = #""platform":"android","app":"shop","device":"d""#
        return switch number % 3 {
        case 0:
            #"{"op":"log",\#(target),"kind":"custom_event","name":"e","suite":"s\#(number % 2)","#
                + #""properties":{"n":\#(number)}}"#
        case 1: #"{"op":"log",\#(target),"kind":"custom_attributes","attributes":{"count":{"inc":1},"n":\#(number)}}"#
        default: #"{"op":"session","kind":"start",\#(target),"external_id":"u\#(number % 2)"}"#
        }
    }

    /// Returns the sequence numbers of `count` acknowledged lines, or of all until the daemon is gone.
    private func acknowledged(_ client: Client, count: Int = .max) throws -> [Int64] {
        var numbers: [Int64] = []
        while numbers.count < count, let bytes = try client.receiveLine(timeoutMilliseconds: patience),
            let line = try? Line(bytes)
        {
            numbers.append(try #require(line.seq, "\(line)"))
        }
        return numbers
    }

    @Test("each is flushed once, in order, and no acknowledged one is lost")
    func rounds() throws {
        var random = SeededGenerator(seed: 23)
        var acknowledged: Set<Int64> = []
        var next = 0
        for _ in 0..<EndToEndTests.rounds {
            let daemon = try DaemonProcess.ready(installation)
            let client = try installation.injectClient()
            let count = Int.random(in: 30...100, using: &random)
            for _ in 0..<count {
                try client.send(line: Self.line(next))
                next += 1
            }
            let first = try self.acknowledged(client, count: .random(in: 0...count, using: &random))
            usleep(.random(in: 0...2000, using: &random))
            daemon.crash()
            acknowledged.formUnion(try first + self.acknowledged(client))
        }
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for user in ["last", "u0"] {
            let session = #"{"op":"session","kind":"start","app":"shop","device":"d","external_id":"\#(user)"}"#
            #expect(try client.ask(session).isAccepted)
        }
        #expect(try daemon.stop() == .exited(0))
        try check(acknowledged)
    }

    private func check(_ acknowledged: Set<Int64>) throws {
        let entries = try installation.entries()
        #expect(entries.allSatisfy { $0.state == .flushed })
        #expect(entries.map(\.entry.number) == entries.map(\.entry.number).sorted())
        let reader = try installation.ledger()
        for seq in acknowledged {
            let story = try #require(try reader.story(of: SequenceNumber(seq)), "\(seq) was acknowledged")
            if story.request.operation == .log { #expect(story.entries.count == 1, "\(seq)") }
        }
        // Each event occurs once, in the order in which the entries were saved.
        let told = try reader.events(after: 0, limit: .max).map(\.event).filter { $0.kind == .customEvent }
        let events = entries.filter { $0.entry.kind == .customEvent }
        #expect(told.map { $0.properties ?? "" } == events.map { String(decoding: $0.entry.data, as: UTF8.self) })
        #expect(Set(told.map(\.id)).count == told.count)
        // Each step is set once: a repeated step would show in the sum.
        var sum: Int64 = 0
        for user in ["u0", "u1", "last"] {
            let count = try reader.attributes(of: .user(user)).first { $0.name == "count" }
            sum += count.flatMap { Int64($0.value) } ?? 0
        }
        #expect(sum == entries.count { $0.entry.kind == .customAttributes })
        // Without these the rounds would have tested nothing.
        #expect(told.count > 0 && sum > 0 && !acknowledged.isEmpty)
        print(
            "kill -9, stored: \(EndToEndTests.rounds) rounds, \(acknowledged.count) acknowledged, "
                + "\(entries.count) flushed")
    }
}
