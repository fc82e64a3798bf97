import EventLoop
import HandlerProcess
import LinuxSystem
import PushModel
import PushRouting

/// Starts the programs of handlers on threads of their own, and hands them over on the loop.
final class ProgramStarter {
    /// What marks the processes of this state directory.
    let owner: String
    private let loop: EventLoop
    private let descriptorLimit: UInt64?
    private let mailbox: Mailbox<SpawnResult>
    private let pool: SpawnPool
    private var source: IOSource?
    private var take: (SpawnResult) -> Void = { _ in preconditionFailure("a program started before anybody listens") }

    /// - Parameters:
    ///   - loop: the loop.
    ///   - owner: what marks the processes of this state directory.
    ///   - descriptorLimit: the soft limit of open files that programs get.
    ///   - cgroups: where each program gets one; `nil`: it gets none.
    init(loop: EventLoop, owner: String, descriptorLimit: UInt64?, cgroups: RunCgroups?) throws {
        self.loop = loop
        self.owner = owner
        self.descriptorLimit = descriptorLimit
        let mailbox = try Mailbox<SpawnResult>()
        self.mailbox = mailbox
        pool = SpawnPool(threads: 2, cgroups: cgroups) { mailbox.post($0) }
    }

    /// - Parameter take: gets each result, on the loop.
    func begin(handingTo take: @escaping (SpawnResult) -> Void) throws(SystemError) {
        self.take = take
        source = try mailbox.receive(on: loop, priority: .important) { $0.forEach(take) }
    }

    /// Has a program started; the result comes under the token.
    ///
    /// - Parameters:
    ///   - command: the program.
    ///   - facts: variables beside those of the handler's file; their names begin with `PUSH_`.
    ///   - streams: how it is talked to.
    ///   - mark: what marks its processes, with the state directory's id.
    ///   - token: comes with the result.
    ///   - deadline: from then on it is not started any more; `nil`: it always is.
    func start(
        _ command: Handler.Command, facts: [(name: String, value: String)], streams: ProcessCommand.Streams,
        mark: String, token: UInt64, deadline: Instant? = nil
    ) {
        // No name is there twice: those that begin with PUSH_ are kept from handlers' files.
        var variables = facts
        for (name, value) in command.environment { variables.append((name, value)) }
        if command.environment["PATH"] == nil { variables.append(("PATH", command.searchPath)) }
        let process = ProcessCommand(
            arguments: command.arguments, environment: variables,
            workingDirectory: command.workingDirectory ?? "/", streams: streams, descriptorLimit: descriptorLimit,
            confinement: ProcessConfinement(command.confinement), mark: mark)
        pool.submit(process, token: token, deadline: deadline?.nanoseconds)
    }

    /// Waits for the starts that have begun, a second at most, and hands their results over: for a loop that takes no further
    /// turn.
    func finishStarts() {
        pool.waitForStarts(atMost: .seconds(1))
        mailbox.takeAll().forEach(take)
    }

    /// Has users looked up again.
    func forgetUsers() { pool.forgetUsers() }

    /// Whether a start has not begun.
    func isWaiting(_ token: UInt64) -> Bool { pool.isWaiting(token) }

    /// Takes back a start that has not begun.
    ///
    /// - Returns: whether it was taken back: then no result comes.
    func cancel(_ token: UInt64) -> Bool { pool.cancel(token) }
}
