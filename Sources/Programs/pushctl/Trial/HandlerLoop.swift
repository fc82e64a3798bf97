import EventLoop
import Glibc
import HandlerRuns
import JournalLog
import LinuxSystem
import PushModel
import PushRouting

/// The loop of a command that runs handlers as the daemon does, by its runner. There is no state directory, so nothing is
/// written and nothing remembered. A signal ends the program with all that was started.
final class HandlerLoop {
    let loop: EventLoop
    let runner: HandlerRunner
    private var signals: [SignalSource] = []
    /// The signal that ends the program.
    private var interruption: Int32?

    /// - Parameters:
    ///   - bridgeCommand: says how the program of a bridge is started; `nil`: it is not installed.
    ///   - log: takes what the daemon would write to the journal.
    ///   - observe: takes what is seen of a run.
    init(
        bridgeCommand: @escaping (Bridge) -> Handler.Command?, log: @escaping (String) -> Void,
        observe: ((RunObservation) -> Void)? = nil
    ) throws {
        // A handler that is not ended with us would outlive us: it has a process group of its own.
        SignalSource.block([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        StandardDescriptors.open()
        loop = try EventLoop()
        let owner = UUID128(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
        runner = try HandlerRunner(
            loop: loop, owner: owner.description, descriptorLimit: nil, bridgeCommand: bridgeCommand,
            log: { log($0.message) }, observe: observe)
        // Unowned: the sources are properties of this object, and call no more once it is gone.
        signals = try [SIGTERM, SIGINT, SIGHUP].map { number in
            try SignalSource(loop: loop, signal: number) { [unowned self] in interrupt(number) }
        }
    }

    /// Runs the loop until something holds; ends the program, with all that was started, when a signal asks for it.
    func wait(until condition: () -> Bool) throws {
        func isDone() -> Bool { interruption != nil || condition() }
        if !isDone() { _ = try loop.run { if isDone() { loop.exit(code: 0) } } }
        guard let number = interruption else { return }
        interruption = nil
        try end()
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        raise(number)
        sigprocmask(SIG_UNBLOCK, &set, nil)
    }

    /// Ends what is left: programs that stay, and what runs left behind.
    func end() throws {
        try wait {
            // A connection is gone at once, and nothing else would tell of it.
            if runner.hasInstances { runner.endInstances() }
            return !runner.hasInstances && runner.count == 0 && !runner.endsLeftovers
        }
    }

    /// Ends what is left now, for a program that ends.
    func endAtOnce() { runner.endAll() }

    private func interrupt(_ number: Int32) {
        guard interruption == nil else { return }
        interruption = number
        runner.stopAll()
    }
}
