import Glibc
import Testing

@testable import LinuxSystem

@Suite("Mailbox", .timeLimit(.minutes(30)))
struct MailboxTests {
    @Test("delivers the messages since the last turn as one batch")
    func batches() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        var batches: [[Int]] = []
        let source = try mailbox.receive(on: loop) { batch in
            batches.append(batch)
            if batches.count == 1 { mailbox.post(4) } else { loop.exit(code: 0) }
        }
        for message in 1...3 { mailbox.post(message) }
        _ = try loop.run()
        #expect(batches == [[1, 2, 3], [4]])
        withExtendedLifetime(source) {}
    }

    @Test("delivers every message of other threads, in order for each thread")
    func losesNothing() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<(sender: Int, number: Int)>()
        let perSender = 20_000
        var next = [0, 0]
        let source = try mailbox.receive(on: loop) { batch in
            for message in batch {
                #expect(message.number == next[message.sender])
                next[message.sender] += 1
            }
            if next == [perSender, perSender] { loop.exit(code: 0) }
        }
        let threads = (0..<2).map { sender in
            startThread { for number in 0..<perSender { mailbox.post((sender, number)) } }
        }
        _ = try loop.run()
        for thread in threads { pthread_join(thread, nil) }
        #expect(next == [perSender, perSender])
        withExtendedLifetime(source) {}
    }
}

private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let result = pthread_create(
        &thread, nil,
        { context in
            context.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body() }
            return nil
        }, Unmanaged.passRetained(Work(body)).toOpaque())
    precondition(result == 0)
    return thread
}
