import CLinux
import Glibc
import Synchronization
import Testing

@testable import HandlerProcess

@Suite("The pool that starts programs", .timeLimit(.minutes(30)))
struct SpawnPoolTests {
    @Test("reports each command once, with its token", arguments: [1, 2])
    func answers(threads: Int) throws {
        let pool = WaitingPool(threads: threads)
        for token in 0..<100 {
            pool.submit(shell("exit \(token)"), token: UInt64(token))
        }
        var tokens: Set<UInt64> = []
        for _ in 0..<100 {
            let result = try pool.next()
            tokens.insert(result.token)
            #expect(try result.outcome.get().waitForExit() == .exited(Int32(result.token)))
        }
        #expect(tokens == Set(0..<100 as Range<UInt64>))
    }

    @Test("with one thread starts in order")
    func order() throws {
        let pool = WaitingPool(threads: 1)
        for token in 0..<20 { pool.submit(shell("true"), token: UInt64(token)) }
        #expect(try (0..<20).map { _ in try pool.next().token } == Array(0..<20 as Range<UInt64>))
    }

    @Test("reports a program that cannot be started, and starts the next")
    func failure() throws {
        let pool = WaitingPool(threads: 1)
        let command = ProcessCommand(
            arguments: ["/nowhere/program"], environment: [], standardInput: [], mark: uniqueMark())
        pool.submit(command, token: 5)
        let result = try pool.next()
        #expect(result.token == 5)
        let child = try result.outcome.get()
        #expect(try child.waitForExit() == .exited(127))
        #expect(child.startFailure == SpawnError(ENOENT, starting: command))
        #expect(try pool.start(shell("exit 1")).waitForExit() == .exited(1))
    }

    @Test("does not start a command that no thread took before its deadline, and reports it")
    func late() throws {
        // The one thread is blocked until the second command's time is over, as by a slow start.
        let now = TestClock()
        let inbox = TestInbox()
        let (isHeld, arrived) = (CLinux_semaphore(), CLinux_semaphore())
        defer {
            close(isHeld)
            close(arrived)
        }
        let pool = SpawnPool(threads: 1, clock: { now.time.load(ordering: .sequentiallyConsistent) }) { result in
            inbox.results.withLock { $0.append(result) }
            var one: UInt64 = 1
            _ = write(arrived, &one, 8)
            if result.token == 1 { _ = waitUntilReadable(isHeld) }
        }
        pool.submit(shell("exit 1"), token: 1, deadline: 10)
        pool.submit(shell("exit 2"), token: 2, deadline: 10)
        pool.submit(shell("exit 3"), token: 3, deadline: 11)
        #expect(waitUntilReadable(arrived))
        now.time.store(10, ordering: .sequentiallyConsistent)
        var one: UInt64 = 1
        _ = write(isHeld, &one, 8)
        while inbox.results.withLock({ $0.count }) < 3 {
            try #require(waitUntilReadable(arrived))
            _ = read(arrived, &one, 8)
        }
        pool.stop()
        let outcomes = inbox.results.withLock { $0 }
        #expect(outcomes.map(\.token) == [1, 2, 3])
        #expect(try outcomes[0].outcome.get().waitForExit() == .exited(1))
        #expect(throws: SpawnError(ETIME, starting: shell("exit 2", mark: "m"))) { try outcomes[1].outcome.get() }
        #expect(try outcomes[2].outcome.get().waitForExit() == .exited(3))
    }

    @Test("reports every started program before it stops, and accepts no command afterwards")
    func stop() async {
        await #expect(processExitsWith: .success) {
            let pool = WaitingPool()
            for _ in 0..<50 { pool.submit(shell("exit 0")) }
            pool.stop()
            for result in pool.takeAll() {
                let exit = try result.outcome.get().waitForExit()
                #expect(exit == .exited(0))
            }
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD, "no child without a handle")
        }
        await #expect(processExitsWith: .failure) {
            let pool = WaitingPool()
            pool.stop()
            pool.submit(shell("exit 0"))
        }
    }
}

private final class TestClock: Sendable {
    let time = Atomic<Int64>(0)
}

private final class TestInbox: Sendable {
    let results = Mutex<[SpawnResult]>([])

    @Test("does not start a command withdrawn before a thread took it")
    func cancelled() throws {
        let (entered, go) = (CLinux_semaphore(), CLinux_semaphore())
        let results = Mutex<[UInt64]>([])
        let arrived = CLinux_semaphore()
        defer { for descriptor in [entered, go, arrived] { close(descriptor) } }
        let post: @Sendable (Int32) -> Void = { descriptor in
            var one: UInt64 = 1
            _ = write(descriptor, &one, 8)
        }
        // The only thread reads the clock for a command with a deadline, and gets the time late.
        let pool = SpawnPool(
            threads: 1,
            clock: {
                post(entered)
                _ = waitUntilReadable(go)
                return 0
            },
            deliver: { result in
                results.withLock { $0.append(result.token) }
                post(arrived)
            })
        defer { pool.stop() }
        let command = shell("exit 0")
        pool.submit(command, token: 1, deadline: 1)
        try #require(waitUntilReadable(entered))
        for token: UInt64 in 2...5 { pool.submit(command, token: token) }
        #expect(!pool.cancel(1), "it is being started")
        #expect((1...6).map(pool.isWaiting) == [false, true, true, true, true, false])
        #expect(pool.cancel(4) && pool.cancel(2))
        #expect(!pool.cancel(4), "once")
        post(go)
        for _ in 1...3 {
            try #require(waitUntilReadable(arrived))
            var count: UInt64 = 0
            _ = read(arrived, &count, 8)
        }
        #expect(results.withLock { $0 } == [1, 3, 5])
        #expect(!pool.cancel(3))
    }
}
