import Glibc
import Testing

@testable import LinuxSystem

@Suite("IOSource", .timeLimit(.minutes(30)))
struct IOSourceTests {
    let loop: EventLoop
    let pair = DescriptorPair()

    init() throws { loop = try EventLoop() }

    @Test("calls its handler with the ready events of the descriptor")
    func reportsReadiness() throws {
        var seen: [IOEvents] = []
        let source = try IOSource(loop: loop, descriptor: pair.near, interest: [.read, .write]) { events in
            seen.append(events)
            loop.exit(code: 0)
        }
        pair.send()
        #expect(try loop.run() == 0)
        #expect(seen == [[.read, .write]])
        withExtendedLifetime(source) {}
    }

    @Test("a source calls its handler for its current interest alone")
    func followsItsInterest() throws {
        let source = try IOSource(loop: loop, descriptor: pair.near, interest: []) { events in
            #expect(events == .write)
            loop.exit(code: 1)
        }
        pair.send()
        let later = try TimerSource(loop: loop) { source.interest = .write }
        later.arm(at: 0)
        #expect(try loop.run() == 1)
    }

    /// The ways in which a source ends.
    enum End: CaseIterable { case dropped, droppedInHandler, cancelledInHandler }

    // epoll forgets a closed descriptor only with the last copy of it, and a child has copies until its exec: for a
    // source that is still in epoll then, epoll gives sd-event a pointer to freed memory, and sd-event aborts.
    @Test("leaves epoll before its descriptor is closed, even if a child has a copy", arguments: End.allCases)
    func leavesBeforeClosing(_ end: End) throws {
        var owned: DescriptorPair? = DescriptorPair()
        let (far, number) = (try #require(owned?.far), try #require(owned?.near.rawValue))
        let copy = try SharedDescriptor(copying: number)
        var source: IOSource?
        var calls = 0
        source = try IOSource(loop: loop, descriptor: try #require(owned?.near), interest: .read) { _ in
            calls += 1
            owned = nil
            if end == .cancelledInHandler {
                source?.cancel()
                #expect(fcntl(number, F_GETFD) < 0, "it is closed at once")
            }
            source = nil
        }
        if end == .dropped { (source, owned) = (nil, nil) }
        var byte: UInt8 = 0
        #expect(write(far.rawValue, &byte, 1) == 1)
        for _ in 0..<2 {
            let idle = try TimerSource(loop: loop, priority: .idle) { loop.exit(code: 0) }
            idle.arm(at: 0)
            #expect(try loop.run() == 0)
        }
        #expect(calls == (end == .dropped ? 0 : 1))
        withExtendedLifetime((source, copy)) {}
    }

    @Test("a source keeps its descriptor open")
    func holdsItsDescriptor() throws {
        var owned: SharedDescriptor? = try SharedDescriptor(copying: pair.near.rawValue)
        let source = try IOSource(loop: loop, descriptor: try #require(owned), interest: .read) { _ in
            loop.exit(code: 0)
        }
        let number = try #require(owned?.rawValue)
        owned = nil
        #expect(fcntl(number, F_GETFD) >= 0)
        pair.send()
        #expect(try loop.run() == 0)
        withExtendedLifetime(source) {}
    }

    // epoll reports a hangup whatever the mask; a source that only cleared its mask would spin.
    @Test("is quiet with an empty interest, even about a hangup")
    func emptyInterestIsQuiet() throws {
        let source = try IOSource(loop: loop, descriptor: pair.near, interest: .read) { _ in
            Issue.record("called without interest")
        }
        source.interest = []
        pair.closeFar()
        let witness = DescriptorPair()
        witness.send()
        let other = try IOSource(loop: loop, descriptor: witness.near, interest: .read, priority: .idle) { _ in
            loop.exit(code: 0)
        }
        #expect(try loop.run() == 0)
        withExtendedLifetime((source, other)) {}
    }

    @Test("a source reports that the peer has closed the connection")
    func reportsHangup() throws {
        let source = try IOSource(loop: loop, descriptor: pair.near, interest: [.read, .peerClosed]) { events in
            #expect(events == [.read, .peerClosed, .hangup])
            loop.exit(code: 0)
        }
        pair.closeFar()
        _ = try loop.run()
        withExtendedLifetime(source) {}
    }

    @Test("never calls its handler after it was dropped, even if it was ready")
    func dropCancels() throws {
        let other = DescriptorPair()
        var sources: [IOSource] = []
        var calls = 0
        for pair in [pair, other] {
            pair.send()
            sources.append(
                try IOSource(loop: loop, descriptor: pair.near, interest: .read) { _ in
                    calls += 1
                    sources = []
                })
        }
        let last = try IOSource(loop: loop, descriptor: try #require(other.far), interest: .write, priority: .idle) {
            _ in
            loop.exit(code: 0)
        }
        _ = try loop.run()
        #expect(calls == 1)
        withExtendedLifetime(last) {}
    }

    @Test("serves ready sources in the order of their priorities")
    func servesByPriority() throws {
        var order: [String] = []
        pair.send()
        let idle = try IOSource(loop: loop, descriptor: pair.near, interest: .read, priority: .idle) { _ in
            order.append("idle")
            loop.exit(code: 0)
        }
        let normal = try TimerSource(loop: loop) { order.append("normal") }
        normal.arm(at: 0)
        let mailbox = try Mailbox<Int>()
        let important = try mailbox.receive(on: loop, priority: .important) { _ in order.append("important") }
        mailbox.post(1)
        _ = try loop.run()
        #expect(order == ["important", "normal", "idle"])
        withExtendedLifetime((idle, important)) {}
    }

    @Test("reports why a regular file cannot be watched")
    func refusesRegularFiles() throws {
        let file = try #require(SharedDescriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)))
        let error = #expect(throws: SystemError.self) {
            _ = try IOSource(loop: loop, descriptor: file, interest: .read) { _ in }
        }
        #expect(error?.description == "cannot watch descriptor \(file.rawValue): Operation not permitted (errno 1)")
    }
}
