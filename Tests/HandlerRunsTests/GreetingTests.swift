import TestSupport
import Testing

@testable import HandlerProcess
@testable import HandlerRuns
@testable import LinuxSystem
@testable import PushModel

@Suite("A connection to a service that greets", .timeLimit(.minutes(30)))
struct GreetingTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private var path: String { directory.path + "/service.sock" }

    @Test("is closed when the greeting does not come in time")
    func silent() throws {
        let listener = try Listener(path: path, mode: 0o600)
        let loop = try EventLoop()
        let log: (JournalEntry) -> Void = { Issue.record("it logs \($0.message)") }
        let system = try InstanceSystem(
            loop: loop,
            starter: try ProgramStarter(
                loop: loop, owner: "test", descriptorLimit: nil, cgroups: nil),
            sweeper: OrphanSweeper(loop: loop, orphans: try OrphanReaper(adopts: false), log: log), log: log,
            observe: nil)
        var failures: [String] = []
        let channel = SocketChannel(
            ConnectionSource(path: path, greets: true), isSingleUse: false, system: system, patience: .milliseconds(2)
        ) { report in
            if case .failedToOpen(let reason) = report { failures.append(reason) } else { Issue.record("\(report)") }
            loop.exit(code: 0)
        }
        channel.open()
        guard case .connection(let service) = listener.accept() else {
            Issue.record("it does not connect")
            return
        }
        let limit = try TimerSource(loop: loop) { loop.exit(code: 1) }
        limit.arm(at: EventLoop.nowNanoseconds + 60_000_000_000)
        #expect(try loop.run() == 0, "it waits on")
        #expect(failures == ["at \(path) did not say within 2 ms that it is up"])
        // A program that another test is starting may have a copy of the descriptor for a moment.
        #expect(waitUntilReadable([try service.descriptor.rawValue], milliseconds: 60_000) != nil)
        #expect(service.read(using: ReadBuffer(), maximumLineLength: 100) == .endOfFile(unterminated: nil))
        channel.close()
    }
}
