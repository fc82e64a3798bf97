import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A publish")
struct PublishTests {
    /// Payloads with `slow` go to a handler with one place and a queue of one; all others end at once.
    static func table(_ mode: DispatchMode = .relay) -> RoutingTable {
        var slow = Handler.exec("slow")
        (slow.maxConcurrent, slow.queueMax) = (1, 1)
        return .testing(
            mode, routes: [.key("slow", to: "slow"), .all(to: "fast")],
            handlers: [slow, Handler(name: "fast", kind: .journal)])
    }

    private func bench(devices: Int, platform: String = "android") throws -> Bench {
        var bench = Bench(Self.table())
        try bench.subscribe(0..<devices, platform: platform)
        return bench
    }

    @Test("of one user does not wait for another user's slow handler")
    func accounts() throws {
        var bench = try bench(devices: 100)
        try bench.publish(#"{"slow":"1"}"#, as: "a", uid: 1)
        for _ in 0..<3 { bench.clock() }
        try bench.publish(as: "b", uid: 2)
        // 4 slices, and one turn of the other user.
        for _ in 0..<5 { bench.clock() }
        #expect(bench.delivered("b").count == 100 && bench.delivered("a").count < 3)
        #expect(bench.ledger.violations == [])
    }

    @Test("pauses alone: another one of the same user goes on")
    func pause() throws {
        var bench = try bench(devices: 100)
        try bench.publish(#"{"slow":"1"}"#, as: "a")
        try bench.publish(as: "b")
        for _ in 0..<5 { bench.clock() }
        let before = bench.delivered("a").count
        #expect(bench.delivered("b").count == 100 && before < 3)
        #expect(!bench.router.hasWorkLeft)
        // The handler's place becomes free, and the pause ends.
        bench.finished(try #require(bench.runs.keys.min()?.seq.value))
        bench.at(try #require(bench.nextDue))
        bench.clock()
        #expect(bench.delivered("a").count == before + 1)
    }

    @Test("waits without a wake-up while there is no room for its rows, whatever timers fire, and goes on with room")
    func noRoom() throws {
        var bench = try bench(devices: 100)
        try bench.publish(as: "a")
        bench.clock()
        let made = bench.delivered("a").count
        #expect(made == FanOuts.slice)
        bench.router.hasRoomForPublishes = false
        for _ in 0..<5 { bench.clock() }
        #expect(bench.delivered("a").count == made)
        #expect(bench.router.hasPublishes && !bench.router.hasWorkLeft && bench.nextDue == nil)
        bench.router.hasRoomForPublishes = true
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(bench.delivered("a").count == 100 && !bench.router.hasPublishes)
    }

    @Test("of one user takes its turns beside another's, slice by slice")
    func turns() throws {
        var bench = try bench(devices: 200)
        for name in ["a1", "a2", "a3"] { try bench.publish(as: name, uid: 1) }
        try bench.publish(as: "b", uid: 2)
        for _ in 0..<6 { bench.clock() }
        let counts = ["a1", "a2", "a3", "b"].map { bench.delivered($0).count / FanOuts.slice }
        #expect(counts == [1, 1, 1, 3])
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(["a1", "a2", "a3", "b"].allSatisfy { bench.delivered($0).count == 200 })
    }

    @Test("through the gateway takes its turns beside another project's, and a quarter of the places")
    func projects() throws {
        var bench = try bench(devices: 200)
        try bench.subscribe(0..<200, of: "other")
        for number in 0..<FanOuts.openMax / 4 { try bench.publish(as: "a\(number)", isThroughGateway: true) }
        let refusal = #expect(throws: Refusal.self) { try bench.publish(as: "more", isThroughGateway: true) }
        #expect("\(refusal as Any)".contains("16 publishes of project p are being delivered"))
        try bench.publish(of: "other", as: "b", isThroughGateway: true)
        // A user's own projects share the user's turns and places.
        try bench.publish(as: "direct", uid: 2)
        for _ in 0..<9 { bench.clock() }
        let counts = ["a0", "a1", "a2", "b", "direct"].map { bench.delivered($0).count / FanOuts.slice }
        #expect(counts == [1, 1, 1, 2, 4])
    }

    @Test("takes at most half of the places, devices and bytes of open publishes for one user")
    func shares() throws {
        var bench = try bench(devices: 3)
        for number in 0..<FanOuts.openMax / 2 { try bench.publish(as: "a\(number)", uid: 1) }
        let refusal = #expect(throws: Refusal.self) { try bench.publish(as: "more", uid: 1) }
        #expect(
            refusal
                == .overloaded(
                    message: "32 publishes of uid 1 are being delivered, the limit; send this one again later",
                    retryAfter: .seconds(1)))
        for number in 0..<FanOuts.openMax / 2 { try bench.publish(as: "b\(number)", uid: 2) }
        #expect(throws: Refusal.self) { try bench.publish(as: "more", uid: 3) }
        // Devices and bytes, without a million devices.
        let accepted = try #require(bench.ledger.requests.values.first { $0.accepted.operation == .publish })
        let members = (0..<FanOuts.membersMax / 2).map { OpenFanOut.Member(SequenceNumber(Int64($0)), at: nil) }
        var open = FanOuts()
        let time = FanOutTime(from: bench.now, ends: [:])
        let account = FanOutSender(accepted.accepted.peer.account, of: accepted.request)
        let other = FanOutSender(Account(uid: 77), of: accepted.request)
        open.append(OpenFanOut(accepted.accepted, accepted.request, to: members, time: time))
        #expect(open.refusal(of: account, adding: 0, bytes: 10) == nil)
        #expect(open.refusal(of: account, adding: 1, bytes: 10)?.contains("the limit of 500000") == true)
        #expect(open.refusal(of: other, adding: FanOuts.membersMax / 2, bytes: 10) == nil)
        #expect(open.refusal(of: other, adding: FanOuts.membersMax / 2 + 1, bytes: 10)?.contains("1000001") == true)
        #expect(open.refusal(of: other, adding: 0, bytes: FanOuts.byteMax / 2) == nil)
        #expect(open.refusal(of: other, adding: 0, bytes: FanOuts.byteMax / 2 + 1) != nil)
        #expect(MemoryLayout<OpenFanOut.Member>.stride == 8)
    }

    @Test(
        "makes 256 KiB of deliveries in a slice, and at least one",
        arguments: [
            (250_000, 1), (120_000, 2), (20_000, 12), (10, 32),
        ])
    func bytes(length: Int, deliveries: Int) throws {
        var bench = try bench(devices: 40)
        try bench.publish("{\"k\":\"\(String(repeating: "v", count: length))\"}", as: "a")
        bench.clock()
        #expect(bench.delivered("a").count == deliveries)
        bench.clock()
        #expect(bench.delivered("a").count == min(40, 2 * deliveries))
    }

    @Test(
        "ends with the payload's time, at most with PublishTimeMax=, and leaves the other devices out",
        arguments: [
            (#"{"extras":{"slow":"1"}}"#, 3600), (#"{"extras":{"slow":"1","google.ttl":"60"}}"#, 60),
            (#"{"extras":{"slow":"1","google.ttl":"7200"}}"#, 3600),
            (#"{"data":{"slow":"1"},"ttl":90}"#, 90),
            (#"{"message":{"topic":"news","data":{"slow":"1"},"android":{"ttl":"30.5s"}}}"#, 31),
        ] as [(String, Int64)])
    func ends(payload: String, seconds: Int64) throws {
        var bench = try bench(devices: 100)
        try bench.publish(payload, as: "a")
        bench.clock()
        bench.at(.milliseconds(seconds * 1000 - 1))
        bench.clock()
        while bench.router.hasWorkLeft { bench.clock() }
        let made = bench.delivered("a").count
        #expect(made >= 2)
        // The clock event comes for the end, too.
        #expect(try #require(bench.nextDue) <= .seconds(seconds))
        bench.at(.seconds(seconds))
        #expect(bench.clock().contains { $0.hasSuffix(" ended without \(100 - made)") })
        #expect(bench.router.membersLeft == 0 && bench.delivered("a").count == made)
        #expect(bench.ledger.fanOuts.values.map(\.progress) == [FanOut.Progress(made: made, leftOut: 100 - made)])
        #expect(bench.ledger.violations == [])
    }

    @Test("ends for the devices of each platform by its own time")
    func platforms() throws {
        var bench = try bench(devices: 100)
        try bench.subscribe(100..<200, platform: "ios")
        let expiration = bench.now.wall.seconds + 100
        try bench.publish(
            """
            {"message":{"topic":"news","data":{"k":"v"},"android":{"ttl":"10s"},
            "apns":{"headers":{"apns-expiration":"\(expiration)"},"payload":{"aps":{"alert":"a"}}}}}
            """.filter { $0 != "\n" }, as: "a")
        bench.at(.seconds(50))
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(bench.delivered("a") == (100..<200).map { "t\($0)" })
        #expect(bench.ledger.fanOuts.values.map(\.progress.leftOut) == [100])
    }

    @Test("without any time makes one slice, at once or not at all")
    func noTime() throws {
        var bench = try bench(devices: 100)
        try bench.publish(#"{"extras":{"google.ttl":"0"}}"#, as: "a")
        var late = bench
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(bench.delivered("a").count == FanOuts.slice)
        late.at(.seconds(9))
        late.clock()
        #expect(late.delivered("a").isEmpty && late.router.membersLeft == 0)
    }

    @Test("ends at its time also after a restart, on the same boot or another", arguments: [true, false])
    func restart(sameBoot: Bool) throws {
        var bench = try bench(devices: 100)
        try bench.publish(as: "a")
        bench.clock()
        var later = bench
        bench.at(.seconds(3599))
        bench.crash(sameBoot: sameBoot)
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(bench.delivered("a").count == 100)
        later.at(.seconds(2 * 86_400))
        later.crash(sameBoot: sameBoot)
        while later.router.hasWorkLeft { later.clock() }
        #expect(later.delivered("a").count == FanOuts.slice)
        #expect(later.ledger.fanOuts.values.map(\.progress.leftOut) == [100 - FanOuts.slice])
        #expect(later.ledger.violations == [])
    }

    @Test("of an earlier run waits until the wall clock is believed", arguments: [60, 2 * 86_400])
    func doubt(downtime: Int) throws {
        var bench = try bench(devices: 100)
        try bench.publish(as: "a")
        bench.clock()
        bench.at(.seconds(downtime))
        bench.crash(sameBoot: false)
        bench.router.forgetsByAge = false
        bench.clock()
        #expect(!bench.router.hasWorkLeft)
        let due = try #require(bench.nextDue)
        #expect(due == .seconds(downtime) + FanOuts.clockPause)
        bench.at(due)
        bench.clock()
        #expect(bench.delivered("a").count == FanOuts.slice && bench.router.membersLeft == 100 - FanOuts.slice)
        bench.router.forgetsByAge = true
        bench.at(due + FanOuts.clockPause)
        repeat { bench.clock() } while bench.router.hasWorkLeft
        #expect(bench.delivered("a").count == (downtime < 3600 ? 100 : FanOuts.slice))
        #expect(bench.router.membersLeft == 0)
    }

    @Test("of another machine with a known clock keeps its time, whatever the wall clocks say")
    func anotherMachine() {
        let now = Moment(monotonic: Instant(nanoseconds: 1_000_000_000), wall: WallTime(milliseconds: 5_000_000))
        let yearAhead = WallTime(milliseconds: now.wall.milliseconds + 365 * 86_400_000)
        let yearBehind = WallTime(milliseconds: now.wall.milliseconds - 365 * 86_400_000)
        for acceptedAt in [yearAhead, yearBehind] {
            for isBelieved in [true, false] {
                var time = FanOutTime(from: acceptedAt, age: .seconds(40), ends: [.ios: .seconds(41)], at: now)
                #expect(time.age(at: now, isBelieved: isBelieved) == .seconds(40))
                let later = Moment(
                    monotonic: now.monotonic + .seconds(1), wall: WallTime(milliseconds: now.wall.milliseconds + 1000))
                #expect(time.age(at: later, isBelieved: isBelieved) == .seconds(41))
                #expect(time.isOver(.seconds(41)) && !time.isOver(.seconds(40)))
            }
        }
    }

    @Test("of this run needs no wall clock for its end")
    func withoutWallClock() throws {
        var bench = try bench(devices: 100)
        try bench.publish(as: "a")
        bench.router.forgetsByAge = false
        bench.at(.seconds(3599))
        bench.clock()
        #expect(bench.delivered("a").count == FanOuts.slice)
        bench.at(.seconds(3600))
        bench.clock()
        #expect(bench.delivered("a").count == FanOuts.slice && bench.router.membersLeft == 0)
    }
}

extension Bench {
    /// Subscribes tokens to the topic `news`.
    mutating func subscribe(
        _ tokens: Range<Int>, to topic: String = "news", of project: String = "p", platform: String = "android"
    ) throws {
        for first in stride(from: tokens.lowerBound, to: tokens.upperBound, by: 1000) {
            let list = tokens[first..<min(first + 1000, tokens.upperBound)].map { "\"t\($0)\"" }
            try submit(
                Request(
                    line: Array(
                        """
                        {"op":"topic","kind":"subscribe","project":"\(project)","topic":"\(topic)","platform":"\(platform)",\
                        "unknown":"register","tokens":[\(list.joined(separator: ","))]}
                        """.utf8)))
        }
    }

    /// Publishes a payload to a topic; its message id is `name`.
    mutating func publish(
        _ payload: String = #"{"k":"v"}"#, to topic: String = "news", of project: String = "p", as name: String,
        uid: UInt32 = 1000, isThroughGateway: Bool = false
    ) throws {
        let sender = isThroughGateway ? #""sender":{"client":"c"},"# : ""
        let line = """
            {"op":"publish","project":"\(project)","topic":"\(topic)","message_id":"\(name)",\(sender)"payload":\(payload)}
            """
        try submit(try Request(line: Array(line.utf8)), uid: uid)
    }

    /// The devices of a publish's deliveries, in order.
    func delivered(_ name: String) -> [String] {
        ledger.requests.values.filter { $0.accepted.operation == .deliver && $0.accepted.messageID == name }
            .sorted { $0.accepted.seq < $1.accepted.seq }.compactMap(\.accepted.device)
    }
}
