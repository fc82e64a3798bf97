import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("IOGroup", .timeLimit(.minutes(30)))
struct IOGroupTests {
    let loop: EventLoop
    let group: IOGroup
    let pair = DescriptorPair()

    init() throws {
        loop = try EventLoop()
        group = try IOGroup(loop: loop)
    }

    /// Exits the loop once no other source is ready.
    private func endWhenIdle() throws -> TimerSource {
        let timer = try TimerSource(loop: loop, priority: .idle) { [loop] in loop.exit(code: 0) }
        timer.arm(at: EventLoop.nowNanoseconds)
        return timer
    }

    @Test("calls a member's handler with the ready events of its descriptor")
    func reportsReadiness() throws {
        var seen: [IOEvents] = []
        let member = try IOMember(of: group, descriptor: pair.near, interest: [.read, .write]) { events in
            seen.append(events)
            loop.exit(code: 0)
        }
        pair.send()
        #expect(try loop.run() == 0)
        #expect(seen == [[.read, .write]])
        withExtendedLifetime(member) {}
    }

    /// Takes longer than a third of the group's time slice.
    private func work() {
        let start = EventLoop.nowNanoseconds
        while EventLoop.nowNanoseconds - start < 40_000 {}
    }

    @Test(
        "gives every member that stays ready an equal number of turns, however many members and however long they take")
    func turns() throws {
        let pairs = (0..<100).map { _ in DescriptorPair() }
        var turns = Array(repeating: 0, count: pairs.count)
        var total = 0
        let members = try pairs.indices.map { number in
            try IOMember(of: group, descriptor: pairs[number].near, interest: .read) { _ in
                work()
                turns[number] += 1
                total += 1
                if total == 20 * pairs.count { loop.exit(code: 0) }
            }
        }
        for pair in pairs { pair.send() }
        #expect(try loop.run() == 0)
        #expect(turns.allSatisfy { (19...21).contains($0) }, "\(turns)")
        withExtendedLifetime(members) {}
    }

    @Test("ends its slice after a slow member: other sources run before the next member")
    func slice() throws {
        let pairs = (0..<4).map { _ in DescriptorPair() }
        var order: [String] = []
        let members = try pairs.indices.map { number in
            try IOMember(of: group, descriptor: pairs[number].near, interest: .read) { _ in
                order.append("member")
                for _ in 1...5 { work() }
            }
        }
        for pair in pairs { pair.send() }
        let other = try DeferSource(loop: loop) {
            order.append("other")
            if order.count >= 40 { loop.exit(code: 0) }
        }
        other.isEnabled = true
        #expect(try loop.run() == 0)
        #expect(order.split(separator: "other").allSatisfy { $0.count <= 1 }, "\(order)")
        #expect(order.count { $0 == "member" } >= 10, "\(order)")
        withExtendedLifetime((members, other)) {}
    }

    @Test("waits for the current interest of a member, and reports no other event")
    func followsItsInterest() throws {
        var seen: [IOEvents] = []
        var later: TimerSource?
        let member = try IOMember(of: group, descriptor: pair.near, interest: .read) { events in
            seen.append(events)
            // Only once: a timer that each call arms again would never be due.
            if seen.count == 1 { later?.arm(at: 0) }
        }
        pair.send()
        member.interest = []
        let first = try endWhenIdle()
        #expect(try loop.run() == 0)
        #expect(seen == [])
        member.interest = .write
        later = try TimerSource(loop: loop) { member.interest = [] }
        let second = try endWhenIdle()
        #expect(try loop.run() == 0)
        #expect(!seen.isEmpty && seen.allSatisfy { $0 == .write }, "\(seen)")
        withExtendedLifetime((first, later, second)) {}
    }

    @Test("is quiet for a member with an empty interest, even about a hangup, and does not spin")
    func emptyInterestIsQuiet() throws {
        let member = try IOMember(of: group, descriptor: pair.near, interest: .read) { _ in
            Issue.record("called without interest")
        }
        member.interest = []
        pair.closeFar()
        var turns = 0
        let timer = try TimerSource(loop: loop) { loop.exit(code: 0) }
        timer.arm(at: EventLoop.nowNanoseconds + 20_000_000)
        #expect(try loop.run { turns += 1 } == 0)
        #expect(turns <= 3)
        withExtendedLifetime(member) {}
    }

    @Test("tells epoll of a removed interest only when that event fires: usually the interest comes back")
    func comesBack() throws {
        var calls = 0
        let member = try IOMember(of: group, descriptor: pair.near, interest: .read) { _ in calls += 1 }
        member.interest = []
        #expect(watched(pair.near.rawValue)?.contains(.read) == true)
        member.interest = .read
        member.interest = []
        pair.send()
        let first = try endWhenIdle()
        #expect(try loop.run() == 0)
        #expect(
            watched(pair.near.rawValue)?.contains(.read) == false,
            "it needs no new watch, of which there may be none left")
        #expect(calls == 0)
        member.interest = .read
        #expect(watched(pair.near.rawValue)?.contains(.read) == true)
        member.leave()
        #expect(watched(pair.near.rawValue) == nil)
        withExtendedLifetime(first) {}
    }

    @Test("accepts a member without interest, and reports nothing until it has some")
    func beginsQuiet() throws {
        var seen: [IOEvents] = []
        let member = try IOMember(of: group, descriptor: pair.near, interest: []) { events in
            seen.append(events)
            loop.exit(code: 0)
        }
        pair.closeFar()
        var turns = 0
        let timer = try TimerSource(loop: loop) { member.interest = .read }
        timer.arm(at: EventLoop.nowNanoseconds + 20_000_000)
        #expect(try loop.run { turns += 1 } == 0)
        #expect(turns <= 4)
        #expect(seen == [[.read, .hangup]])
        withExtendedLifetime((member, timer)) {}
    }

    /// The events that an epoll instance of this process watches on a descriptor, from /proc/self/fdinfo; `nil`: none
    /// does.
    private func watched(_ descriptor: Int32) -> IOEvents? {
        for file in names(in: "/proc/self/fdinfo") {
            let lines = String(decoding: readFile("/proc/self/fdinfo/\(file)") ?? [], as: UTF8.self)
            for line in lines.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count > 3, words[0] == "tfd:", words[1] == "\(descriptor)" else { continue }
                return UInt32(words[3], radix: 16).map(IOEvents.init)
            }
        }
        return nil
    }

    @Test("never calls a removed member, even if it was ready, and its descriptor may be closed and reused")
    func left() throws {
        var members: [IOMember] = []
        let pairs = (0..<8).map { _ in DescriptorPair() }
        var calls = 0
        members = try pairs.map { pair in
            try IOMember(of: group, descriptor: pair.near, interest: .read) { _ in
                calls += 1
                for member in members { member.leave() }
            }
        }
        for pair in pairs { pair.send() }
        let timer = try endWhenIdle()
        #expect(try loop.run() == 0)
        #expect(calls == 1)
        let again = try IOMember(of: group, descriptor: pairs[0].near, interest: .read) { _ in loop.exit(code: 4) }
        #expect(try loop.run() == 4)
        withExtendedLifetime((again, timer)) {}
    }

    @Test("holds a member's descriptor until its removal, even from its own handler, and then closes it")
    func holdsItsDescriptor() throws {
        var file: SharedDescriptor? = try SharedDescriptor(copying: pair.near.rawValue)
        let number = try #require(file?.rawValue)
        var member: IOMember?
        member = try IOMember(of: group, descriptor: try #require(file), interest: .read) { _ in
            file = nil
            #expect(fcntl(number, F_GETFD) >= 0)
            member?.leave()
            #expect(fcntl(number, F_GETFD) < 0)
            loop.exit(code: 5)
        }
        pair.send()
        #expect(try loop.run() == 5)
        withExtendedLifetime(member) {}
    }

    @Test("may be dropped by a member's handler")
    func dropped() throws {
        var member: IOMember?
        member = try IOMember(of: group, descriptor: pair.near, interest: .read) { _ in
            member = nil
            loop.exit(code: 3)
        }
        pair.send()
        #expect(try loop.run() == 3)
        withExtendedLifetime(member) {}
    }

    @Test("refuses a descriptor that epoll cannot watch")
    func refusesFiles() throws {
        let file = try #require(SharedDescriptor(open("/etc/passwd", O_RDONLY | O_CLOEXEC)))
        #expect(throws: SystemError(operation: "watch descriptor \(file.rawValue)", errno: EPERM)) {
            _ = try IOMember(of: group, descriptor: file, interest: .read) { _ in }
        }
    }
}
