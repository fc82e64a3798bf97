import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The rows of a request")
struct RowLimitTests {
    private static let limit = RoutingLimits().batchLength
    private static let longest = 256 << 10

    /// Submits a request, and returns the bytes of its rows.
    private func rows(
        of request: Request, _ router: inout Router, readers: Int = RowKind.newestVersion, at now: Moment
    ) throws -> Int {
        let buffer = RowBuffer()
        buffer.readers = readers
        var effects = Effects(rows: buffer)
        _ = try router.submit(request, from: Peer(uid: 1, gid: 1, pid: 1), at: now, effects: &effects)
        return buffer.byteCount
    }

    private func topic(
        _ tokens: [String], topic: String = "t", kind: String = "subscribe", app: String = "a"
    ) throws -> Request {
        var writer = JSONWriter()
        writer.object {
            $0.member("op", "topic")
            $0.member("kind", kind)
            $0.member("project", String(repeating: "p", count: 900))
            $0.member("topic", topic)
            $0.member("unknown", "register")
            $0.member("app", app)
            $0.member("tokens", array: { list in tokens.forEach { list.string($0) } })
        }
        return try Request(line: writer.bytes, limits: JSONLimits(values: 1 << 20))
    }

    /// Names of the longest length that differ from each other.
    private func name(_ text: String, _ length: Int = 255) -> String {
        text + String(repeating: "n", count: length - text.utf8.count)
    }

    @Test("of a change of topics are a few bytes for each device beside the line, however many topics each has")
    func subscription() throws {
        let bench = Bench()
        var (router, now) = (bench.router, bench.now)
        let tokens = (0..<TopicRequest.tokensMax).map { "t\($0)" }
        var lengths: [Int] = []
        for number in 0..<40 {
            let name = "\(number)" + String(repeating: "x", count: 890)
            let request = try topic(tokens, topic: name)
            lengths.append(try rows(of: request, &router, at: now) - request.document.bytes.count)
            now = Moment(monotonic: now.monotonic + .seconds(1), wall: now.wall)
        }
        #expect(lengths.dropFirst().max() ?? .max < 16 * TopicRequest.tokensMax)
        #expect(lengths[1...].max() ?? 0 - (lengths[1...].min() ?? 0) < 64 + lengths[1])
        #expect(try rows(of: topic(tokens, topic: "x", kind: "unsubscribe"), &router, at: now) < 64 << 10)
    }

    @Test("of a topic request that registers 1,000 tokens of a usual length fit a batch")
    func registration() throws {
        let bench = Bench()
        var router = bench.router
        let tokens = (0..<TopicRequest.tokensMax).map { name("\($0):", 180) }
        #expect(try rows(of: topic(tokens, topic: name("t", 900)), &router, at: bench.now) <= Self.limit)
    }

    @Test(
        "are refused with the limit if they might be longer than a batch, and the router is unchanged",
        arguments: [100, 200, 300, 1000, 4096])
    func tooLong(tokenLength: Int) throws {
        let bench = Bench()
        var router = bench.router
        let tokens = (0..<TopicRequest.tokensMax).map { name("\($0)\"", tokenLength) }
        let request = try topic(tokens, app: "shop")
        do throws(Refusal) {
            var effects = Effects(rows: RowBuffer())
            _ = try router.submit(
                request, from: Peer(uid: 1, gid: 1, pid: 1), at: bench.now, effects: &effects)
            #expect((effects.rows?.byteCount ?? .max) <= Self.limit)
            #expect(tokenLength < 300)
        } catch {
            guard case .tooLong(let message) = error else { throw error }
            let remedy = "more than RequestLengthMax= and 1 MiB (\(Self.limit)); send fewer tokens at a time"
            #expect(message.hasSuffix(remedy))
            #expect(router.lastNumber == SequenceNumber(0) && router.memory.devices.known.count == 0)
            #expect(tokenLength > 200)
        }
    }

    @Test("of a topic request for readers of former batches fit a batch, or the request is refused")
    func former() throws {
        let bench = Bench()
        var router = bench.router
        let tokens = (0..<TopicRequest.tokensMax).map { "t\($0)" }
        var refused = 0
        for number in 0..<6 {
            do {
                let bytes = try rows(
                    of: topic(tokens, topic: "\(number)" + String(repeating: "x", count: 800)), &router, readers: 2,
                    at: bench.now)
                #expect(bytes <= Self.limit)
            } catch let error as Refusal {
                guard case .tooLong = error else { throw error }
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    /// The longest requests of each op, by its keys and texts.
    private func longRequests(_ length: Int) throws -> [(name: String, request: Request)] {
        let logged = #""op":"log","kind":"custom_attributes""#
        let names =
            #""app":"\#(name("app"))","device":"\#(name("device"))","external_id":"\#(name("user"))","id":"\#(name("id"))""#
        func fill(_ before: String, _ after: String, _ unit: String = "v") -> String {
            let count = length - before.utf8.count - after.utf8.count
            return before + String(repeating: unit, count: max(0, count / unit.utf8.count)) + after
        }
        let braze = #""_ab":"","a":"a","t":"t","_ab_cmp""#
        func attributes(_ mark: String) -> String {
            let value = String(repeating: "v", count: max(1, length / 1000 - 110))
            return (1..<1000).reduce("\"a\":1") { $0 + ",\"\(mark)\(name("\($1)", 100))\":\"\(value)\"" }
        }
        let lines = [
            "deliver": fill(#"{"op":"deliver",\#(names),"payload":{"data":{"k":""#, #""}}}"#),
            "message id": fill(#"{"op":"deliver",\#(names),"payload":{"google.message_id":""#, #"","k":"v"}}"#),
            "campaign": fill(#"{"op":"deliver",\#(names),"payload":{"google.message_id":"1",\#(braze):""#, #""}}"#),
            "open": fill(#"{"op":"interact","kind":"opened",\#(names),"payload":{\#(braze):""#, #""}}"#),
            "text": fill(
                #"{"op":"interact","kind":"action","action":"b",\#(names),"message":"m","text":""#, #""}"#),
            "event": fill(
                #"{"op":"log","kind":"custom_event",\#(names),"name":"e","properties":{"k":""#, #""}}"#),
            "attributes": #"{\#(logged),\#(names),"attributes":{\#(attributes(""))}}"#,
            "wrong attributes":
                #"{\#(logged),\#(names),"attributes":{\#(attributes("$"))}}"#,
            "session": #"{"op":"session","kind":"start",\#(names)}"#,
            "session end": #"{"op":"session","kind":"end",\#(names)}"#,
            "token": #"{"op":"token","kind":"new","token":"\#(name("t", 4096))",\#(names)}"#,
            "device": #"{"op":"device","locked":true,\#(names)}"#,
        ]
        return try lines.sorted { $0.key < $1.key }.map { name, line in
            (name, try Request(line: Array(line.utf8), limits: JSONLimits(values: 1 << 20)))
        }
    }

    @Test("of the longest request of each op fit a batch of the default limits", arguments: [false, true])
    func longestOfEachOp(isDevice: Bool) throws {
        let bench = Bench(.testing(isDevice ? .device : .relay))
        var (router, now) = (bench.router, bench.now)
        for (name, request) in try longRequests(Self.longest) {
            #expect(request.document.bytes.count <= Self.longest + 32 << 10)
            do {
                let bytes = try rows(of: request, &router, at: now)
                #expect(bytes <= Self.limit, "\(name): \(bytes)")
            } catch let error as Refusal {
                Issue.record("\(name): \(error)")
            }
            now = Moment(monotonic: now.monotonic + .seconds(1), wall: now.wall)
        }
    }

    @Test("of a request whose text is in several rows are refused where they do not fit")
    func copies() throws {
        var table = RoutingTable.testing()
        // A room as small beside the request as 1 MiB is beside 16 MiB.
        table.limits.batchLength = Self.longest + 64 << 10
        let bench = Bench(table)
        var router = bench.router
        var refused: [String] = []
        for (name, request) in try longRequests(Self.longest) {
            let before = router.lastNumber
            do {
                let bytes = try rows(of: request, &router, at: bench.now)
                #expect(bytes <= table.limits.batchLength, "\(name): \(bytes)")
            } catch let error as Refusal {
                guard case .tooLong = error else { throw error }
                #expect(router.lastNumber == before)
                refused.append(name)
            }
        }
        #expect(refused.contains("message id"))
    }

    @Test("of the invocations of very many routes are refused, and the router is unchanged", arguments: [false, true])
    func routes(observe: Bool) throws {
        let names = (0..<2000).map { name("\($0)", 200) }
        let routes = names.map { name in
            var route = Route.all(to: "crm")
            (route.name, route.observes) = (name, observe)
            return route
        }
        var router = Bench(.testing(.relay, routes: routes)).router
        let before = router
        for line in [
            #"{"op":"token","kind":"new","token":"t","app":"a","device":"d","platform":"android"}"#,
            #"{"op":"deliver","app":"a","device":"d","payload":{"data":{"k":"v"}}}"#,
        ] {
            let request = try Request(line: Array(line.utf8))
            do {
                let bytes = try rows(of: request, &router, at: Bench().now)
                #expect(bytes <= Self.limit && !observe && request.operation == .deliver)
            } catch let error as Refusal {
                guard case .tooLong = error else { throw error }
                #expect(router.lastNumber == before.lastNumber)
            }
        }
    }
}
