import HandlerProcess
import LinuxSystem
import PushRouter

/// The program of a bridge as a child process: one process for all handlers of the bridge. It starts when the first of
/// them needs a connection, and ends when none has a connection. This process passes connections to it over the socket
/// that is its standard input, so no other process can reach it by a name.
final class BridgeProgram {
    /// The time for it to end once it has no users, in nanoseconds.
    private static let patience: Int64 = 2_000_000_000

    private let name: String
    private let command: () -> Handler.Command?
    private let system: InstanceSystem
    /// Registers the `Run` for the result of its start, and returns the token.
    private let start: (Run) -> UInt64
    private let gone: (UInt64) -> Void
    private var run: Run?

    /// - Parameters:
    ///   - name: the program's name.
    ///   - command: returns how to start it; `nil` if it is not installed.
    ///   - system: the services for instances.
    ///   - start: registers the run's `wasSpawned` for the result of the start, and returns the token.
    ///   - gone: called when the process of this token is reaped, or will never be started.
    init(
        _ name: String, _ command: @escaping () -> Handler.Command?, system: InstanceSystem,
        start: @escaping (Run) -> UInt64,
        gone: @escaping (UInt64) -> Void
    ) {
        self.name = name
        self.command = command
        self.system = system
        self.start = start
        self.gone = gone
    }

    /// Connects to the program, and starts it first if it does not run.
    ///
    /// - Returns: a closure to call once, when the connection is no longer needed.
    func connect(_ take: @escaping (Result<Connection, ConnectionFailure>) -> Void) -> () -> Void {
        if run == nil {
            guard let command = self.command() else {
                take(.failure(ConnectionFailure(description: "cannot be started: \(name) is not installed")))
                return {}
            }
            let run = Run(name, system: system) { [weak self] run in
                guard let self else { return }
                if self.run === run { self.run = nil }
                gone(run.token)
            }
            self.run = run
            let token = start(run)
            run.token = token
            system.starter.start(
                command, facts: [], streams: .conversation(readsErrors: true),
                mark: "\(system.starter.owner):\(name):\(token)", token: token)
        }
        guard let run else { return {} }
        run.connect(take)
        return { [weak self, run] in self?.release(run) }
    }

    /// Releases one connection to a process. Another process may have taken its place meanwhile.
    private func release(_ released: Run) {
        released.users -= 1
        guard released.users <= 0, run === released else { return }
        run = nil
        released.finish(within: Self.patience)
    }

    /// One process of the program.
    final class Run {
        fileprivate var token: UInt64 = 0
        fileprivate var users = 0
        private let name: String
        private let system: InstanceSystem
        private let ended: (Run) -> Void
        private var waiting: [(Result<Connection, ConnectionFailure>) -> Void] = []
        private var child: ChildProcess?
        private var conversation: SharedDescriptor?
        private var errors: ErrorLines?
        private var exitWatch: ExitWatch?
        private var endTimer: TimerSource?
        private var isFinishing = false
        private var wasKilled = false

        fileprivate init(_ name: String, system: InstanceSystem, ended: @escaping (Run) -> Void) {
            self.name = name
            self.system = system
            self.ended = ended
        }

        fileprivate func connect(_ take: @escaping (Result<Connection, ConnectionFailure>) -> Void) {
            users += 1
            guard let conversation else { return waiting.append(take) }
            do throws(SystemError) {
                take(.success(try Connection(handingOverTo: conversation)))
            } catch {
                take(.failure(ConnectionFailure(description: "cannot be connected to: \(error)")))
            }
        }

        /// Takes the result of the start.
        func wasSpawned(_ outcome: Result<ChildProcess, SpawnError>) {
            switch outcome {
            case .failure(let error):
                ended(self)
                refuse(error.description)
            case .success(let child):
                self.child = child
                watch(child)
                guard !isFinishing else { return kill() }
                conversation = child.takeConversation()
                let waiting = exchange(&waiting, with: [])
                users -= waiting.count
                for take in waiting { connect(take) }
            }
        }

        private func refuse(_ reason: String) {
            for take in exchange(&waiting, with: []) { take(.failure(ConnectionFailure(description: reason))) }
        }

        private func watch(_ child: ChildProcess) {
            // The watch retains this object until the child is reaped, even after its owner has released it.
            exitWatch = ExitWatch(child, system) { self.exited($0) }
            guard let errors = child.takeErrors() else { return }
            self.errors = ErrorLines(errors, of: name, isLogged: true, system)
            do throws(SystemError) { try self.errors?.begin() } catch { child.killGroup() }
        }

        /// Closes the program's input, so that it ends by itself; kills it after the patience.
        fileprivate func finish(within patience: Int64) {
            isFinishing = true
            conversation = nil
            guard child != nil else {
                if system.starter.cancel(token) {
                    ended(self)
                    refuse("was stopped before it was connected to")
                }
                return
            }
            do throws(SystemError) {
                endTimer = try TimerSource(loop: system.loop) { [unowned self] in kill() }
                endTimer?.arm(at: EventLoop.nowNanoseconds + patience)
            } catch {
                kill()
            }
        }

        /// Kills the program.
        func kill() {
            guard let child else { return finish(within: 0) }
            wasKilled = true
            child.killGroup()
            system.sweeper.sweep()
        }

        private func exited(_ status: ExitStatus) {
            errors?.finish()
            errors = nil
            endTimer = nil
            conversation = nil
            // The watch may hold the last reference to this object.
            defer { exitWatch = nil }
            if status != .exited(0), !wasKilled {
                let how =
                    switch status {
                    case .exited(let code): "exit status \(code)"
                    case .signaled(let signal): "signal \(signal)"
                    }
                system.log(JournalEntry(.warning, "\(name) ended by itself: \(how)"))
            }
            ended(self)
            refuse("ended before it was connected to")
        }
    }
}
