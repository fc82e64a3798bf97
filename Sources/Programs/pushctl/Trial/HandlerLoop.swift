import Glibc
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// The event loop of a command that runs handlers with the daemon's runner. Without a state directory nothing is
/// stored. A signal ends the program and all processes that it started.
final class HandlerLoop {
    let loop: EventLoop
    let runner: HandlerRunner
    private var signals: [SignalSource] = []
    /// The signal that ends the program.
    private var interruption: Int32?

    /// - Parameters:
    ///   - bridgeCommand: finds the command of a bridge's program; `nil`: the program is not installed.
    ///   - log: gets the daemon's journal entries.
    ///   - observe: gets observations of the runs.
    init(
        bridgeCommand: @escaping (Bridge) -> Handler.Command?, log: @escaping (String) -> Void,
        observe: ((RunObservation) -> Void)? = nil
    ) throws {
        // The signals are handled: a handler has its own process group, and would outlive this program.
        SignalSource.block([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        StandardDescriptors.open()
        loop = try EventLoop()
        let owner = UUID128(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
        let service = ServiceFacts.ofThisProcess()
        runner = try HandlerRunner(
            loop: loop, owner: owner.description, descriptorLimit: nil, bridgeCommand: bridgeCommand,
            concealment: { service.concealment(of: resolvingLinks($0)) }, log: { log($0.message) }, observe: observe)
        // `unowned` is safe: this object owns the sources, and sources that are gone call nothing.
        signals = try [SIGTERM, SIGINT, SIGHUP].map { number in
            try SignalSource(loop: loop, signal: number) { [unowned self] in interrupt(number) }
        }
    }

    /// Runs the loop until a condition holds. After a signal, ends all started processes and the program.
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

    /// Ends the rest: the programs of instances, and the processes that runs left behind.
    func end() throws {
        try wait {
            // Bridges end at once with their connection, and no event reports that.
            if runner.hasInstances { runner.endInstances() }
            return !runner.hasInstances && runner.count == 0 && !runner.endsLeftovers
        }
    }

    /// Kills the rest at once, because the program ends.
    func endAtOnce() { runner.endAll() }

    private func interrupt(_ number: Int32) {
        guard interruption == nil else { return }
        interruption = number
        runner.stopAll()
    }
}
