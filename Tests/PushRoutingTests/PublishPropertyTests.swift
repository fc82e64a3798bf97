import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Publishes of several users at random")
struct PublishPropertyTests {
    @Test("reach each device once or leave it out, keep their time, and take turns", arguments: 0..<4)
    func random(seed: UInt64) throws {
        var day = try PublishDay(seed: seed)
        for _ in 0..<80 { try day.step() }
        try day.finish()
        #expect(day.faults == [], "seed \(seed)")
        #expect(day.bench.ledger.violations == [])
    }
}

/// A random day of publishes, and what a reader of the documentation expects of it. It shares nothing with the router
/// but its ledger.
private struct PublishDay {
    private struct Publish {
        var name: String
        var uid: UInt32
        var seq: SequenceNumber
        var members: Int
        var acceptedAt: Duration
        /// The length of its time; `nil`: `PublishTimeMax=`.
        var seconds: Int?
        var isSlow: Bool
        /// The run of the daemon that accepted it.
        var run: Int
        var devices: Set<String> = []
        var isOver = false
    }

    private static let sizes = ["a": 3, "b": 20, "c": 40, "d": 60]
    private static let longest = 300

    private(set) var bench: Bench
    private(set) var faults: [String] = []
    private var generator: SeededGenerator
    private var publishes: [Publish] = []
    private var now = Duration.zero
    private var run = 0
    /// Since when the wall clock is believed; `nil`: it is not.
    private var believedSince: Duration? = .zero
    private var lastNumber: Int64 = 0
    /// The turns since the last delivery of a user who had one to make.
    private var waits: [UInt32: Int] = [:]

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        var table = PublishTests.table(seed.isMultiple(of: 2) ? .relay : .device)
        table.publishTimeMax = .seconds(Self.longest)
        (table.limits.inFlight, table.limits.inFlightPerPeer) = (50_000, 20_000)
        bench = Bench(table)
        for (topic, count) in Self.sizes.sorted(by: { $0.key < $1.key }) { try bench.subscribe(0..<count, to: topic) }
        lastNumber = bench.router.lastNumber.value
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<15: try publish()
        case 15..<25: wait(.milliseconds(pick([10, 400, 3_000, 12_000])))
        case 25..<27: wait(.seconds(pick([61, 301, 4_000])))
        case 27..<40:
            // A handler answers.
            guard let id = bench.runs.keys.filter({ bench.ledger.rows[$0]?.result == nil }).min() else { return }
            bench.handle(.finished(id, .handled(.init())))
        case 40..<43:
            bench.crash(sameBoot: chance(50))
            (run, waits) = (run + 1, [:])
            believedSince = chance(70) ? now : nil
        case 43..<46: believedSince = believedSince ?? now
        default: clock()
        }
        look(isTurn: false)
    }

    private mutating func publish() throws {
        let (topic, count) = pick(Self.sizes.sorted { $0.key < $1.key })
        let (isSlow, seconds) = (chance(40), pick([nil, nil, 0, 2, 20, 1_000]))
        let length = count == 3 ? pick([10, 250_000]) : pick([10, 10, 10, 9_000])
        let name = "p\(publishes.count)"
        let uid = pick([1, 2, 3] as [UInt32])
        var extras = #""k":"\#(String(repeating: "v", count: length))""#
        if isSlow { extras += #","slow":"1""# }
        if let seconds { extras += #","google.ttl":"\#(seconds)""# }
        guard publishes.count(where: { $0.uid == uid && !$0.isOver }) < 30 else { return }
        try bench.publish("{\"extras\":{\(extras)}}", to: topic, as: name, uid: uid)
        publishes.append(
            Publish(
                name: name, uid: uid, seq: bench.router.lastNumber, members: count, acceptedAt: now, seconds: seconds,
                isSlow: isSlow, run: run))
    }

    private mutating func wait(_ time: Duration) {
        now += time
        bench.at(now)
    }

    private mutating func clock() {
        bench.router.forgetsByAge = believedSince != nil
        bench.clock()
        look(isTurn: true)
    }

    private func end(_ publish: Publish) -> Duration { .seconds(min(publish.seconds ?? Self.longest, Self.longest)) }

    /// Looks at the rows that are new, and at the users who wait.
    private mutating func look(isTurn: Bool) {
        var (made, bytes) = (0, 0)
        var turns: Set<UInt32> = []
        let last = bench.router.lastNumber.value
        if last > lastNumber {
            for number in lastNumber + 1...last {
                guard let accepted = bench.ledger.requests[SequenceNumber(number)]?.accepted,
                    accepted.operation == .deliver,
                    let place = publishes.firstIndex(where: { $0.name == accepted.messageID })
                else { continue }
                (made, bytes) = (made + 1, bytes + accepted.body.count)
                note(accepted.device ?? "", place)
                turns.insert(publishes[place].uid)
            }
        }
        lastNumber = last
        if made > 0 {
            if !isTurn { faults.append("\(made) deliveries outside of a turn") }
            if made > 32 || made > 1 && bytes > 256 << 10 { faults.append("a slice has \(made), \(bytes) bytes") }
        }
        for place in publishes.indices where !publishes[place].isOver {
            let progress = bench.ledger.fanOuts[publishes[place].seq]?.progress ?? FanOut.Progress()
            if progress.done == publishes[place].members { publishes[place].isOver = true }
        }
        if isTurn { count(turns) }
    }

    private mutating func note(_ device: String, _ place: Int) {
        let publish = publishes[place]
        let age = now - publish.acceptedAt
        let isFirst = publish.seconds == 0 && publish.run == run && age < .seconds(9) && publish.devices.count < 32
        if age >= end(publish), !isFirst { faults.append("\(publish.name) reaches \(device) after its end") }
        if publish.run < run, believedSince == nil { faults.append("\(publish.name) goes on by a clock in doubt") }
        if !publishes[place].devices.insert(device).inserted {
            faults.append("\(publish.name) reaches \(device) twice")
        }
    }

    /// A user with a publish that no handler slows down gets a turn after one of each other user, for each of its own
    /// publishes.
    private mutating func count(_ turns: Set<UInt32>) {
        for uid in [1, 2, 3] as [UInt32] {
            let open = publishes.filter { $0.uid == uid && !$0.isOver }
            // Within 10 s the router learns that the clock is believed.
            let isSure = believedSince.map { now - $0 > .seconds(10) } ?? false
            let isReady = open.contains {
                !$0.isSlow && now - $0.acceptedAt < end($0) && ($0.run == run || isSure)
            }
            waits[uid] = isReady && !turns.contains(uid) ? waits[uid, default: 0] + 1 : 0
            if waits[uid, default: 0] > 3 * (open.count + 1) {
                faults.append("user \(uid) waits \(waits[uid] ?? 0) turns")
            }
        }
    }

    mutating func finish() throws {
        believedSince = believedSince ?? now
        for _ in 0..<10_000 where bench.router.membersLeft > 0 {
            if !bench.router.hasWorkLeft { wait(max(.milliseconds(1), (bench.nextDue ?? now) - now)) }
            clock()
        }
        for publish in publishes {
            guard let fanOut = bench.ledger.fanOuts[publish.seq] else { throw Lost() }
            let (made, left) = (fanOut.progress.made, fanOut.progress.leftOut)
            if made != publish.devices.count || made + left != publish.members {
                faults.append("\(publish.name) made \(made) of \(publish.members) and left out \(left)")
            }
        }
    }

    private struct Lost: Error {}
}
