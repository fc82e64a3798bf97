import TestSupport
import Testing

@testable import HandlerProcess
@testable import HandlerRuns
@testable import LinuxSystem
@testable import PushModel

@Suite("A connection to a service", .timeLimit(.minutes(30)))
struct SocketChannelTests: ~Copyable {
    private let directory = TemporaryDirectory()

    @Test("reports after a close by the service whether the last line was left unread", arguments: [false, true])
    func unread(isRead: Bool) throws {
        let path = directory.path + "/service.sock"
        let listener = try Listener(path: path, mode: 0o600)
        let loop = try EventLoop()
        let log: (JournalEntry) -> Void = { Issue.record("it logs \($0.message)") }
        let system = try InstanceSystem(
            loop: loop,
            starter: try ProgramStarter(loop: loop, owner: "test", descriptorLimit: nil, cgroups: nil),
            sweeper: OrphanSweeper(loop: loop, orphans: try OrphanReaper(adopts: false), log: log), log: log,
            observe: nil)
        var reports: [String] = []
        let channel = SocketChannel(ConnectionSource(path: path, greets: false), isSingleUse: false, system: system) {
            switch $0 {
            case .acceptsNoLines(let leavesLast): reports.append("takes no more, leaves last: \(leavesLast)")
            case .closed(let reason):
                reports.append(reason)
                loop.exit(code: 0)
            case .opened: reports.append("opened")
            case .failedToOpen, .line, .gone: Issue.record("\($0)")
            }
        }
        channel.open()
        guard case .connection(let service) = listener.accept() else {
            Issue.record("it does not connect")
            return
        }
        channel.send(Array("line\n".utf8))
        var reader: IOSource?
        reader = try IOSource(loop: loop, descriptor: try service.descriptor, interest: .read) { _ in
            if isRead { _ = service.read(using: ReadBuffer(), maximumLineLength: 100) }
            reader = nil
            service.close()
        }
        let limit = try TimerSource(loop: loop) { loop.exit(code: 1) }
        limit.arm(at: EventLoop.nowNanoseconds + 60_000_000_000)
        #expect(try loop.run() == 0, "it does not end")
        let last = isRead ? [] : ["takes no more, leaves last: true"]
        #expect(reports == ["opened"] + last + ["at \(path) closed the connection"])
        withExtendedLifetime(reader) {}
    }
}
