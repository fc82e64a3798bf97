import TestSupport
import Testing

@testable import HandlerProcess
@testable import HandlerRuns
@testable import LinuxSystem
@testable import PushModel
@testable import PushRouter

@Suite("A bridge that sends requests", .timeLimit(.minutes(30)))
struct BridgeRequestTests: ~Copyable {
    private struct Sender: BridgeSettings {
        static let name = "sender"
        static let purpose = "sends"
        static let sendsRequests = true
    }

    private let directory = TemporaryDirectory()
    private var path: String { directory.path + "/service.sock" }

    private func run() -> HandlerRun {
        let kind = Handler.Kind.bridge(Bridge(Sender(), serviceSocket: path), InstanceRules())
        let handler = Handler(name: "pushes", kind: kind)
        let now = Moment.now()
        let deadline = now.monotonic + .seconds(3600)
        let request = AcceptedRequest(
            seq: SequenceNumber(1), operation: .deliver, id: nil, peer: Peer(uid: 1, gid: 1, pid: 1),
            acceptedAt: now, boot: UUID128(high: 0, low: 0), mode: .device, platform: .android, app: nil, device: nil,
            externalID: nil, messageID: nil, body: [])
        let record = InvocationRecord(
            id: InvocationID(seq: SequenceNumber(1), n: 0), callback: .onMessageReceived, provider: nil,
            route: "all", handler: handler.name, budget: .seconds(3600), deadline: deadline, started: true, result: nil)
        return HandlerRun(
            invocation: record, request: request, subject: InvocationSubject(), handler: handler, deadline: deadline)
    }

    @Test("has them accepted with its handler's name, in order, beside its answer")
    func requests() throws {
        let listener = try Listener(path: path, mode: 0o600)
        let loop = try EventLoop()
        let log: (JournalEntry) -> Void = { Issue.record("it logs \($0.message)") }
        let system = try InstanceSystem(
            loop: loop,
            starter: try ProgramStarter(loop: loop, owner: "test", descriptorLimit: nil, cgroups: nil),
            sweeper: OrphanSweeper(loop: loop, orphans: try OrphanReaper(adopts: false), log: log), log: log,
            observe: nil)
        let runs = InstanceRuns(system) { _ in nil }
        var taken: [String] = []
        runs.begin(reportingTo: {
            guard case .finished(_, let answer) = $0 else { return }
            taken.append("\(answer)".hasPrefix("handled") ? "handled" : "\(answer)")
            loop.exit(code: 0)
        }) { line, handler in
            taken.append("\(handler): \(String(decoding: line, as: UTF8.self))")
        }
        runs.start(run(), at: .now())
        guard case .connection(let service) = listener.accept() else {
            Issue.record("it does not connect")
            return
        }
        let lines = ["up", #"{"op":"session","n":1}"#, #"{"op":"session","n":2}"#, #"{"id":1,"status":"handled"}"#]
        service.queue(lines.flatMap { Array("\($0)\n".utf8) })
        #expect(service.flush() != .closed)
        let limit = try TimerSource(loop: loop) { loop.exit(code: 1) }
        limit.arm(at: EventLoop.nowNanoseconds + 60_000_000_000)
        #expect(try loop.run() == 0, "it waits on")
        #expect(
            taken == [
                #"pushes: {"op":"session","n":1}"#, #"pushes: {"op":"session","n":2}"#, "handled",
            ])
        runs.stopAll()
    }
}
