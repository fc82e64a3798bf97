import CLinux
import Glibc
import Synchronization
import Testing

@testable import HandlerProcess
@testable import LinuxSystem

/// The time in milliseconds after which a waiting test fails; a correct run never reaches it.
private let patience: Int32 = 60_000

private let runs = Atomic(0)

/// A mark that is unique among the runs of all test processes.
func uniqueMark() -> String {
    "test\(getpid()):\(runs.add(1, ordering: .relaxed).newValue):0"
}

/// A run of `/bin/sh -c script` with a plain PATH.
func shell(_ script: String, input: String = "", mark: String = uniqueMark()) -> ProcessCommand {
    ProcessCommand(
        arguments: ["/bin/sh", "-c", script], environment: [("PATH", "/usr/bin:/bin")],
        standardInput: Array(input.utf8),
        mark: mark)
}

/// Whether the descriptor becomes readable within `patience`.
func waitUntilReadable(_ descriptor: Int32) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
        let ready = poll(&wanted, 1, patience)
        if ready >= 0 || errno != EINTR { return ready > 0 }
    }
}

/// Whether the descriptor exists and becomes readable within `patience`.
func waitUntilReadable(_ descriptor: SharedDescriptor?) -> Bool {
    descriptor.map { waitUntilReadable($0.rawValue) } ?? false
}

/// Whether a process that the caller has not reaped has exited, or exits within `patience`.
func waitUntilGone(_ process: Int32) -> Bool {
    guard let descriptor = FileDescriptor(CLinux_pidfd_open(process)) else { return errno == ESRCH }
    return waitUntilReadable(descriptor.rawValue)
}

func isRunning(_ process: Int32) -> Bool {
    ProcessFiles.status(of: process).map { !$0.isExiting } ?? false
}

extension ProcessCommand {
    /// Why the program cannot be started, known at once or at the end of its process.
    func startFailure(in cgroups: RunCgroups? = nil) throws -> SpawnError {
        let child: ChildProcess
        do throws(SpawnError) { child = try start(in: cgroups, KnownUsers()) } catch { return error }
        #expect(try child.waitForExit() == .exited(127))
        return try #require(child.startFailure, "it ran")
    }
}

extension ChildProcess {
    func waitForExit() throws -> HandlerProcess.ExitStatus {
        try #require(waitUntilReadable(pidfd), "the program did not exit")
        return try #require(reap())
    }

    /// Reads the program's output so far.
    func readOutput(into buffer: inout [UInt8], limit: Int = 64 << 10) -> OutputProgress {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) {
            readOutput(into: &buffer, limit: limit, using: $0)
        }
    }

    /// The first `count` lines of the output, or all of them.
    func outputLines(_ count: Int = .max) throws -> [String] {
        var bytes: [UInt8] = []
        var hasEnded = false
        while !hasEnded, bytes.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            try #require(waitUntilReadable(standardOutput), "the program did not write")
            hasEnded = readOutput(into: &bytes).hasEnded
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The process ids in the output, one a line.
    func outputProcesses(_ count: Int) throws -> [Int32] {
        try outputLines(count).map { try #require(Int32($0)) }
    }
}

/// A pool whose results the test waits for.
final class WaitingPool: Sendable {
    private final class Inbox: Sendable {
        let results = Mutex<[SpawnResult]>([])
        let arrived = CLinux_semaphore()
    }

    private let inbox = Inbox()
    private let pool: SpawnPool

    init(threads: Int = 2) {
        pool = SpawnPool(threads: threads) { [inbox] result in
            inbox.results.withLock { $0.append(result) }
            var one: UInt64 = 1
            _ = write(inbox.arrived, &one, 8)
        }
    }

    deinit {
        pool.stop()
        close(inbox.arrived)
    }

    func submit(_ command: ProcessCommand, token: UInt64 = 0) {
        pool.submit(command, token: token)
    }

    func next() throws -> SpawnResult {
        try #require(waitUntilReadable(inbox.arrived), "the pool did not answer")
        var count: UInt64 = 0
        _ = read(inbox.arrived, &count, 8)
        return inbox.results.withLock { $0.removeFirst() }
    }

    func start(_ command: ProcessCommand) throws -> ChildProcess {
        submit(command)
        return try next().outcome.get()
    }

    func stop() { pool.stop() }

    /// The results so far, without a wait.
    func takeAll() -> [SpawnResult] {
        inbox.results.withLock { results in
            defer { results = [] }
            return results
        }
    }
}
