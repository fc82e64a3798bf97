import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Topics")
struct TopicTests {
    private func request(_ line: String) throws -> Request { try Request(line: Array(line.utf8)) }

    private func subscribe(
        _ tokens: [String], to topic: String = "news", _ kind: String = "subscribe", unknown: String = "register"
    ) throws -> Request {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return try request(
            #"{"op":"topic","kind":"\#(kind)","project":"demo","topic":"\#(topic)","tokens":[\#(list)],"#
                + #""unknown":"\#(unknown)"}"#)
    }

    private func publish(_ audience: String = #""topic":"news""#, more: String = "") throws -> Request {
        try request(
            #"{"op":"publish","project":"demo",\#(audience),"message_id":"m1"\#(more),"payload":{"data":{"k":"v"}}}"#)
    }

    /// Subscribes, and returns the result for each token.
    private func results(_ request: Request, _ bench: inout Bench) throws -> [TopicRequest.Result]? {
        var router = bench.router
        var effects = Effects()
        let acceptance = try router.submit(
            request, from: Peer(uid: 1, gid: 1, pid: 1), at: bench.now, effects: &effects)
        try bench.submit(request)
        return acceptance.topicResults
    }

    /// The devices of the deliveries, in order.
    private func delivered(_ bench: Bench) -> [String] {
        bench.ledger.requests.values.filter { $0.accepted.operation == .deliver }
            .sorted { $0.accepted.seq < $1.accepted.seq }.compactMap(\.accepted.device)
    }

    @Test("have the devices of the subscribed tokens, and the reply has the result for each token")
    func subscriptions() throws {
        var bench = Bench()
        try bench.submit(request(#"{"op":"token","token":"t1","app":"shop","platform":"ios","device":"iphone"}"#))
        #expect(try results(subscribe(["t1", "t2"], unknown: "refuse"), &bench) == [.subscribed, .unregistered])
        #expect(try results(subscribe(["t1", "t2"]), &bench) == [.exists, .subscribed])
        #expect(try results(subscribe(["t1", "t3"], "unsubscribe"), &bench) == [.unsubscribed, .unregistered])
        #expect(try results(subscribe(["t1"], "unsubscribe"), &bench) == [.missing])
        let devices = bench.ledger.devices.values.sorted { $0.number < $1.number }
        #expect(devices.map(\.key.device) == ["iphone", "t2"])
        #expect(devices.map(\.detail.topics.count) == [0, 1])
        #expect(bench.ledger.violations == [])
        // The ledger's requests contain no token of a topic.
        for (accepted, _) in bench.ledger.requests.values where accepted.operation == .topic {
            #expect(!String(decoding: accepted.body, as: UTF8.self).utf8.elementsEqual("t1".utf8))
            #expect(try Request(acceptedLine: accepted.body).document.root["tokens"]?.count == 0)
        }
    }

    @Test("keep the known platform of a device if the request names none")
    func platform() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "t1", app: "demo", platform: .ios))
        try bench.submit(subscribe(["t1", "t2"]))
        #expect(bench.router.device(ofToken: "t1")?.platform == .ios)
        #expect(bench.router.device(ofToken: "t2")?.platform == .android)
    }

    @Test("send one payload to each of their devices once, slice by slice, under one message id")
    func fansOut() throws {
        var bench = Bench()
        let tokens = (0..<100).map { "t\($0)" }
        try bench.submit(subscribe(tokens))
        try bench.submit(publish())
        #expect(delivered(bench) == [])
        #expect(bench.router.hasWorkLeft)
        bench.clock()
        #expect(delivered(bench).count == FanOuts.slice)
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(delivered(bench) == tokens)
        let deliveries = bench.ledger.requests.values.filter { $0.accepted.operation == .deliver }
        #expect(deliveries.allSatisfy { $0.accepted.messageID == "m1" })
        #expect(bench.ledger.fanOuts.values.map(\.progress.made) == [100])
        #expect(bench.ledger.violations == [])
    }

    @Test("send it to each device once across a crash after any turn", arguments: 0..<6)
    func crashes(turns: Int) throws {
        var bench = Bench()
        let tokens = (0..<100).map { "t\($0)" }
        try bench.submit(subscribe(tokens))
        try bench.submit(publish())
        for _ in 0..<turns { bench.clock() }
        bench.crash()
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(delivered(bench) == tokens)
        #expect(bench.ledger.violations == [])
    }

    @Test("skip a device that was forgotten meanwhile, and report it")
    func forgotten() throws {
        var bench = Bench()
        try bench.submit(subscribe((0..<40).map { "t\($0)" }))
        try bench.submit(publish())
        bench.clock()
        let (person, bound) = bench.router.bound(of: Person(externalID: nil, devices: ["t35"]))
        try bench.router.forget(person, through: bound)
        while bench.router.hasWorkLeft { bench.clock() }
        #expect(delivered(bench).count == 39)
        #expect(!delivered(bench).contains("t35"))
        #expect(bench.ledger.fanOuts.values.map(\.progress.leftOut) == [1])
    }

    @Test("are selected by conditions, and by the app of the payload")
    func conditions() throws {
        var bench = Bench()
        try bench.submit(subscribe(["a", "b"], to: "red"))
        try bench.submit(subscribe(["b", "c"], to: "blue"))
        func reached(_ audience: String) throws -> [String] {
            var copy = bench
            try copy.submit(publish(audience))
            while copy.router.hasWorkLeft { copy.clock() }
            return delivered(copy)
        }
        #expect(try reached(#""condition":"'red' in topics && 'blue' in topics""#) == ["b"])
        #expect(try reached(#""condition":"'red' in topics || 'blue' in topics""#) == ["a", "b", "c"])
        #expect(try reached(#""condition":"!('red' in topics)""#) == ["c"])
        #expect(try reached(#""topic":"red","app":"demo""#) == ["a", "b"])
        #expect(try reached(#""topic":"red","app":"other""#) == [])
        #expect(throws: Refusal.self) { try reached(#""condition":"'red' in""#) }
    }

    @Test("of more devices than FanOutMax= refuse a publish")
    func limit() throws {
        var table = RoutingTable.testing()
        table.limits.fanOut = 2
        var bench = Bench(table)
        try bench.submit(subscribe(["a", "b"]))
        try bench.submit(publish())
        try bench.submit(subscribe(["c"]))
        #expect(throws: Refusal.self) { try bench.submit(publish()) }
        #expect(throws: Refusal.self) { try bench.submit(publish(#""condition":"'news' in topics""#)) }
    }

    @Test("wait while too many requests are in flight, and continue with clock events")
    func overload() throws {
        var table = RoutingTable.testing()
        table.limits.inFlight = 10
        var bench = Bench(table)
        try bench.submit(subscribe((0..<20).map { "t\($0)" }))
        try bench.submit(publish())
        bench.clock()
        #expect(delivered(bench).count == 10)
        #expect(!bench.router.hasWorkLeft)
        let due = try #require(bench.nextDue)
        // The deliveries end by their deadlines at the latest.
        bench.at(max(due, .seconds(10)))
        for _ in 0..<100 where bench.router.membersLeft > 0 {
            bench.clock()
            bench.at(try #require(bench.nextDue) + .seconds(10))
        }
        #expect(delivered(bench).count == 20)
        #expect(bench.ledger.violations == [])
    }

    @Test("know the token of a registrations.d file, and its state unless a request set another")
    func registrations() throws {
        var table = RoutingTable.testing()
        var state = DeviceState()
        (state.state, state.locked) = (.terminated, true)
        table.registrations = [
            RegistrationRule(
                name: "a", tokens: [Glob("x*")], platform: .ios, app: "shop", externalID: "anna", state: state)
        ]
        var bench = Bench(table)
        let presumed = Target(platform: .android, app: "demo")
        #expect(bench.router.owner(ofToken: "y", presumed: presumed) == nil)
        let owner = try #require(bench.router.owner(ofToken: "x1", presumed: presumed))
        #expect(owner.target == Target(platform: .ios, app: "shop", device: "x1", externalID: "anna"))
        #expect(owner.state == state)
        #expect(try results(subscribe(["x1", "y"], unknown: "refuse"), &bench) == [.subscribed, .unregistered])
        try bench.submit(request(#"{"op":"device","app":"shop","device":"x1","state":"foreground"}"#))
        #expect(bench.router.owner(ofToken: "x1", presumed: presumed)?.state.state == .foreground)
        #expect(bench.router.owner(ofToken: "x1", presumed: presumed)?.state.locked == true)
        try bench.submit(publish())
        while bench.router.hasWorkLeft { bench.clock() }
        let deliveries = bench.ledger.requests.values.filter { $0.accepted.operation == .deliver }.map(\.accepted)
        #expect(deliveries.map(\.externalID) == ["anna"] && deliveries.map(\.state) == [.foreground])
    }

    @Test("know the facts of a device that registered no token")
    func stateWithoutToken() throws {
        var table = RoutingTable.testing()
        var state = DeviceState()
        (state.state, state.locked) = (.terminated, true)
        table.registrations = [
            RegistrationRule(name: "a", tokens: [Glob("x*")], platform: .ios, app: "shop", state: state)
        ]
        var bench = Bench(table)
        let presumed = Target(platform: .android, app: "demo")
        try bench.submit(request(#"{"op":"device","app":"shop","device":"x1","state":"foreground"}"#))
        let owner = try #require(bench.router.owner(ofToken: "x1", presumed: presumed))
        #expect(owner.state.state == .foreground && owner.state.locked == true)
        try bench.submit(request(#"{"op":"device","app":"demo","device":"y","state":"force_stopped"}"#))
        #expect(bench.router.owner(ofToken: "y", presumed: presumed) == nil)
        #expect(bench.router.reportedState(of: "y", app: "demo").state == .forceStopped)
        #expect(bench.router.reportedState(of: "y", app: "other").isEmpty)
    }

    @Test("find a device in the state that a request set")
    func state() throws {
        var bench = Bench()
        try bench.submit(subscribe(["a"]))
        try bench.submit(request(#"{"op":"device","app":"demo","device":"a","state":"force_stopped"}"#))
        try bench.submit(request(#"{"op":"device","app":"demo","device":"a","locked":true}"#))
        #expect(bench.ledger.devices.values.map(\.detail.state.locked) == [true])
        try bench.submit(publish())
        while bench.router.hasWorkLeft { bench.clock() }
        let deliveries = bench.ledger.requests.values.filter { $0.accepted.operation == .deliver }
        #expect(deliveries.map(\.accepted.state) == [.forceStopped])
        // A crash keeps the token and the topics with the device.
        bench.crash()
        #expect(bench.router.device(ofToken: "a")?.detail.topics.map(\.topic.topic) == ["news"])
        #expect(bench.router.device(ofToken: "a")?.detail.state.state == .forceStopped)
    }
}
