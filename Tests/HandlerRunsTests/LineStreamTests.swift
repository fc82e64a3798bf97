import Glibc
import Testing

@testable import HandlerRuns
@testable import LinuxSystem

@Suite("Lines to and from an instance", .timeLimit(.minutes(30)))
struct LineStreamTests {
    @Test("sent in one turn leave together, at its end")
    func together() throws {
        // SOCK_SEQPACKET keeps the writes apart: one recv returns the bytes of one send.
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        let loop = try EventLoop(turnBudgetNanoseconds: .max)
        let stream = try LineStream(
            Connection(owning: FileDescriptor(owning: ends[0])), buffer: ReadBuffer(), loop: loop
        ) { _ in }
        let timer = try TimerSource(loop: loop) { [unowned loop] in
            stream.send(Array("one\n".utf8))
            stream.send(Array("two\n".utf8))
            loop.exit(code: 0)
        }
        timer.arm(at: 0)
        _ = try loop.run()
        var buffer = [UInt8](repeating: 0, count: 100)
        var messages: [String] = []
        while true {
            let count = recv(ends[1], &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            messages.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
        #expect(messages == ["one\ntwo\n"])
        stream.close()
    }

    @Test("of a stream that begins in the handler of an ended one, with the same descriptor, are read")
    func sameNumber() async {
        // Runs in its own process, in which no other thread takes the descriptor.
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let (first, other) = try Connection.pair()
            let number = try first.descriptor.rawValue
            var second: (LineStream, Connection)?
            let stream = try LineStream(first, buffer: ReadBuffer(), loop: loop) { report in
                guard case .end = report else { fatalError("\(report)") }
                do {
                    let (end, far) = try Connection.pair()
                    // F_DUPFD_CLOEXEC returns the lowest free number from that one on.
                    guard let near = SharedDescriptor(fcntl(try end.descriptor.rawValue, F_DUPFD_CLOEXEC, number))
                    else {
                        fatalError("no descriptor is left")
                    }
                    let stream = try LineStream(Connection(near), buffer: ReadBuffer(), loop: loop) { report in
                        if case .line = report { loop.exit(code: 0) }
                    }
                    second = (stream, far)
                    far.queue("line\n".utf8)
                    _ = far.flush()
                } catch {
                    fatalError("\(error)")
                }
            }
            let limit = try TimerSource(loop: loop) { loop.exit(code: 1) }
            limit.arm(at: EventLoop.nowNanoseconds + 30_000_000_000)
            other.close()
            guard try loop.run() == 0 else { fatalError("nothing is heard of the second") }
            withExtendedLifetime((stream, second)) {}
        }
    }

    /// The part of the line that the other end reads before it closes; `gone`: it closes before the line is sent.
    enum Reading: CaseIterable { case all, part, none, gone }

    @Test(
        "that the other end has not read completely before it closed are known as unread", arguments: Reading.allCases)
    func unread(_ reading: Reading) throws {
        let (connection, other) = try Connection.pair()
        let loop = try EventLoop(turnBudgetNanoseconds: .max)
        var isUnread: Bool?
        var stream: LineStream?
        stream = try LineStream(connection, buffer: ReadBuffer(), loop: loop) { report in
            if case .line = report { Issue.record("nobody wrote a line") }
            isUnread = stream?.hasUnreadLine
            loop.exit(code: 0)
        }
        if reading == .gone { other.close() }
        stream?.send(Array("line\n".utf8))
        if reading != .gone { stream?.finishSending() }
        var buffer = [UInt8](repeating: 0, count: 100)
        switch reading {
        case .all: #expect(recv(try other.descriptor.rawValue, &buffer, buffer.count, 0) == 5)
        case .part: #expect(recv(try other.descriptor.rawValue, &buffer, 4, 0) == 4)
        case .none, .gone: break
        }
        other.close()
        #expect(try loop.run() == 0)
        #expect(isUnread == (reading != .all))
        withExtendedLifetime(stream) {}
    }
}
