import TestSupport
import Testing

@testable import PushModel

@Suite("Figures as bytes")
struct FigureBytesTests {
    private static let key = FigureKey(
        mode: .device, platform: .android, app: "com.example.app", transport: .fcm, originalPriority: .high,
        deliveredPriority: .normal, callback: .onMessageReceived, provider: "onesignal", route: "20-a", handler: nil,
        outcome: .timedOut, reasonCode: .daemonDown, isObserver: false)

    /// - Parameter earlier: the figures counted before.
    private func random(
        _ count: Int, seed: UInt64, after earlier: KeyFigures = KeyFigures()
    ) -> (KeyFigures, SpanFigures) {
        var random = SeededGenerator(seed: seed)
        var (figures, span) = (earlier, SpanFigures())
        for number in 0..<count {
            let queue = Int64.random(in: 0...(Int64(1) << Int64.random(in: 0...30, using: &random)), using: &random)
            let exec = Int64.random(in: 0...(Int64(1) << Int64.random(in: 0...30, using: &random)), using: &random)
            let times = DecidedTimes(budget: 9_000_000, queue: queue, exec: exec, total: queue + exec)
            figures.add(times, of: Self.key)
            span.addRequest(leadsToInvocations: number % 9 != 0)
            let id = InvocationID(seq: SequenceNumber(.random(in: 1...1000, using: &random)), n: number)
            span.add(id, times, of: Self.key, waited: number % 3 == 0)
            span.add(number % 2 == 0 ? .declined : .retry, of: "handler \(number % 4)")
        }
        return (figures, span)
    }

    @Test("are read as written, and can be added up", arguments: [0, 1, 250])
    func roundTrip(count: Int) throws {
        let ((first, firstSpan), (second, secondSpan)) = (random(count, seed: 1), random(300, seed: 2))
        #expect(try first.bytes.withUnsafeBytes { bytes throws in try KeyFigures(bytes) } == first)
        #expect(try firstSpan.bytes.withUnsafeBytes { bytes throws in try SpanFigures(bytes) } == firstSpan)
        let (sum, _) = self.random(300, seed: 2, after: first)
        var read = first
        try second.bytes.withUnsafeBytes { bytes throws in try read.add(bytes) }
        #expect(read == sum && read.count == count + 300)
        var spans = firstSpan
        try secondSpan.bytes.withUnsafeBytes { bytes throws in try spans.add(bytes) }
        #expect(spans.misses.entries.count == 200 && spans.slowest.entries.count == 10)
        #expect(spans.misses.entries == spans.misses.entries.sorted())
        #expect(spans.requests == count + 300 && spans.missed == count + 300)
    }

    @Test(
        "have numbers of at most nine bytes",
        arguments: [(1, 0x7F), (8, 0x7F), (9, nil), (9, 0), (10, nil)] as [(Int, UInt8?)])
    func longestNumber(continued: Int, last: UInt8?) throws {
        let bytes = [UInt8](repeating: 0x80, count: continued) + (last.map { [$0] } ?? [])
        try bytes.withUnsafeBytes { bytes throws in
            var reader = FigureReader(bytes)
            guard let last, continued < 9 else {
                #expect(throws: FigureError.self) { try reader.number() }
                return
            }
            #expect(try reader.number() == Int(last) << (7 * continued) && reader.isAtEnd)
        }
    }

    @Test("give an error with more misses than due invocations")
    func contradiction() {
        let (_, span) = random(40, seed: 5)
        var bytes = span.bytes
        #expect(bytes[5] == span.due && bytes[6] == span.missed)
        bytes[6] = bytes[5] + 1
        #expect(throws: FigureError.self) { try bytes.withUnsafeBytes { bytes throws in _ = try SpanFigures(bytes) } }
    }

    @Test("give an error or other figures, and never trap, if they are cut, changed or of another version")
    func damaged() {
        let (figures, span) = random(40, seed: 3)
        var random = SeededGenerator(seed: 4)
        for bytes in [figures.bytes, span.bytes] {
            for length in stride(from: 0, to: bytes.count, by: 17) {
                #expect(throws: FigureError.self) {
                    try bytes[..<length].withUnsafeBytes { bytes throws in _ = try KeyFigures(bytes) }
                }
            }
            for _ in 0..<300 {
                var changed = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    changed[.random(in: changed.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
                try? changed.withUnsafeBytes { bytes throws in _ = try KeyFigures(bytes) }
                try? changed.withUnsafeBytes { bytes throws in _ = try SpanFigures(bytes) }
            }
        }
        #expect(throws: FigureError.self) {
            var bytes = figures.bytes
            bytes[0] += 1
            try bytes.withUnsafeBytes { bytes throws in _ = try KeyFigures(bytes) }
        }
    }

    @Test("have a key that is read from its unique name")
    func keys() throws {
        var keys: Set<FigureKey> = [Self.key, Self.key.ofOtherApp]
        for change: (inout FigureKey) -> Void in [
            { $0.mode = .relay }, { $0.platform = .web }, { $0.app = nil }, { $0.app = "" }, { $0.app = "a\"\u{0}ü" },
            { $0.transport = nil }, { $0.originalPriority = nil }, { $0.deliveredPriority = .high },
            { $0.callback = .push }, { $0.provider = nil }, { $0.route = nil }, { $0.handler = "" },
            { $0.outcome = .handled }, { $0.reasonCode = nil }, { $0.isObserver = true },
        ] {
            var key = Self.key
            change(&key)
            keys.insert(key)
        }
        #expect(keys.count == 17 && Set(keys.map(\.name)).count == 17)
        for key in keys { #expect(try FigureKey(named: key.name) == key) }
        for name in ["", "[]", "{}", "[\"device\"]", Self.key.name.replacing("timed_out", with: "late")] {
            #expect(throws: FigureError.self) { try FigureKey(named: name) }
        }
    }
}
