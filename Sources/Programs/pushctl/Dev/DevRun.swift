import CLinux
import Glibc
import LinuxSystem
import PushModel
import PushSettings

/// The programs of `pushctl dev`, from the first start to the last end.
final class DevRun {
    /// The result of a start.
    enum Start {
        case ready
        /// A person ended the run.
        case stopRequested
        /// The program ended before it was ready, and was removed from the programs.
        case ended(DevProgram)
    }

    /// How long a program may take to become ready.
    private static let startLimit = Duration.seconds(20)
    /// How long a program may take to end after SIGTERM, before SIGKILL.
    private static let endLimit = Duration.seconds(15)
    /// How long a program may take to end after SIGKILL.
    private static let killLimit = Duration.seconds(5)
    /// The signals that end the run.
    static let signals = [SIGINT, SIGTERM, SIGHUP]
    /// How many readiness messages are read in one turn.
    private static let messagesMax = 64
    /// Variables that a service manager or shell meant for this process only.
    private static let ownVariables = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDNAMES", "WATCHDOG_USEC",
        "WATCHDOG_PID", "JOURNAL_STREAM", "INVOCATION_ID",
    ]

    private let log: DevLog
    private let signals: FileDescriptor
    private let notifications: FileDescriptor
    private let environment: [String]
    private var programs: [DevProgram] = []
    /// The person's command while it runs.
    private var command: DevProgram?
    private var watch: DevWatch
    /// When to look at the configuration next.
    private var nextLook = Instant.now
    /// The program whose readiness is awaited.
    private var starting: DevProgram?
    /// The signal by which a person ended the run.
    private var asked: Int32?
    private var isAsked: Bool { asked != nil }
    private var isStopping = false

    /// Takes over the signals of this process, which has one thread.
    ///
    /// - Parameters:
    ///   - path: the socket on which programs report readiness.
    ///   - log: prints the programs' logs.
    ///   - watch: sees changes of the configuration.
    init(notifications path: String, _ log: DevLog, _ watch: DevWatch) throws(Failure) {
        guard let signals = FileDescriptor(CLinux_signal_descriptor(Self.signals, Self.signals.count)) else {
            throw Failure(.inputOutput, "cannot wait for signals: \(errorText(errno))")
        }
        self.signals = signals
        notifications = try Self.bind(path)
        self.log = log
        self.watch = watch
        var environment = ["NOTIFY_SOCKET=\(path)"]
        var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        while let place = next, let text = place.pointee {
            let variable = String(cString: text)
            if !Self.ownVariables.contains(where: { variable.hasPrefix("\($0)=") }) { environment.append(variable) }
            next = place + 1
        }
        self.environment = environment
    }

    /// Starts a program and waits until it is ready.
    ///
    /// - Parameters:
    ///   - path: the path of the program.
    ///   - name: the program's name, for people.
    ///   - arguments: the arguments after the program's name.
    ///   - deathSignal: the signal that the program gets when this process ends.
    /// - Throws: when the start fails or takes too long, or when an earlier program has ended.
    func start(_ path: String, _ name: String, _ arguments: [String], deathSignal: Int32) throws(Failure) -> Start {
        guard !isAsked else { return .stopRequested }
        let program = try DevProgram(
            path, name: name, arguments: arguments, environment: environment, deathSignal: deathSignal)
        programs.append(program)
        starting = program
        defer { starting = nil }
        let end = Instant.now + Self.startLimit
        while !program.isReady, !isAsked, programs.allSatisfy({ $0.end == nil }), Instant.now < end { turn(until: end) }
        if program.isReady { return .ready }
        if isAsked { return .stopRequested }
        guard program.end == nil else {
            programs.removeLast()
            return .ended(program)
        }
        try check()
        throw Failure(
            .unavailable, "\(name) was not ready within \(Self.startLimit.milliseconds / 1000) s" + program.lastWords)
    }

    /// Waits until a person ends the run.
    ///
    /// - Throws: when a program has ended.
    func wait() throws(Failure) {
        while !isAsked {
            try check()
            lookAtConfiguration()
            turn(until: nextLook)
        }
    }

    /// Runs a person's command to its end. Signals for this process go to the command.
    ///
    /// - Parameters:
    ///   - path: the path of its program.
    ///   - words: the words of the command, the program's own name first.
    ///   - variables: the variables beside this process's own.
    /// - Returns: the exit status, as a shell has it.
    /// - Throws: when a program has ended.
    func run(
        _ path: String, _ words: [String], _ variables: [ClientVariables.Variable]
    ) throws(Failure) -> Int32 {
        if let asked { return 128 + asked }
        let names = ["NOTIFY_SOCKET"] + variables.map(\.name)
        let inherited = environment.filter { variable in !names.contains { variable.hasPrefix("\($0)=") } }
        let command = try DevProgram(
            path, name: words[0], arguments: Array(words.dropFirst()),
            environment: inherited + variables.map { "\($0.name)=\($0.value)" }, deathSignal: SIGTERM,
            isForeground: true)
        self.command = command
        defer { self.command = nil }
        while command.end == nil, programs.allSatisfy({ $0.end == nil }) {
            lookAtConfiguration()
            turn(until: nextLook)
        }
        guard let end = command.end else {
            asked = nil
            finish(command)
            try check()
            return ExitStatus.unavailable.rawValue
        }
        return switch end {
        case .exited(let status): status
        case .signaled(let signal): 128 + signal
        }
    }

    /// Ends the programs, the last one first, and waits for each. Another signal kills them.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        asked = nil
        for program in programs { program.noteReady().forEach(log.show) }
        for program in (programs + [command].compactMap(\.self)).reversed() { finish(program) }
    }

    /// Ends a program, and waits for it.
    private func finish(_ program: DevProgram) {
        program.send(SIGTERM)
        waitForEnd(of: program, atMost: Self.endLimit)
        program.send(SIGKILL)
        // A process in an uninterruptible disk wait ends later.
        waitForEnd(of: program, atMost: Self.killLimit, isKilled: true)
    }

    /// Has programs read their changed files again, if it is time to look. Their logs have the result.
    private func lookAtConfiguration() {
        guard Instant.now >= nextLook else { return }
        for name in watch.changed() { programs.first { $0.name == name }?.send(SIGHUP) }
        nextLook = Instant.now + DevWatch.interval
    }

    private func waitForEnd(of program: DevProgram, atMost limit: Duration, isKilled: Bool = false) {
        let end = Instant.now + limit
        while program.end == nil, isKilled || !isAsked, Instant.now < end { turn(until: end) }
    }

    /// - Throws: when a program has ended that was ready.
    private func check() throws(Failure) {
        guard let ended = programs.first(where: { $0.end != nil }) else { return }
        throw ended.failure
    }

    // MARK: One turn

    /// Waits for an event, and handles it.
    private func turn(until end: Instant?) {
        let fixed = [signals.rawValue, notifications.rawValue]
        let descriptors =
            fixed + programs.flatMap { [$0.processDescriptor, $0.outputDescriptor] }
            + [command?.processDescriptor ?? -1]
        // poll(2) ignores negative descriptors.
        var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        waitUntilReady(&polls, nanoseconds: end.map { ($0 - Instant.now).nanoseconds })
        takeSignals()
        takeMessages()
        for program in programs {
            // In this order: after its end all of its output can be read.
            program.checkExit()
            program.takeLog().forEach(log.show)
        }
        command?.checkExit()
    }

    private func takeSignals() {
        // A `signalfd_siginfo` has 128 bytes (signalfd(2)): `ssi_signo` first, `ssi_code` at byte 8.
        var facts = [UInt8](repeating: 0, count: 128)
        while read(signals.rawValue, &facts, facts.count) == facts.count {
            let signal = Int32(facts[0])
            asked = signal
            // The terminal has sent its own signals to the command, too: their code is SI_KERNEL, 128.
            if facts[8] != 128 || facts[9...11].contains(where: { $0 != 0 }) { command?.send(signal) }
        }
    }

    private func takeMessages() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<Self.messagesMax {
            let count = recv(notifications.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return }
            let lines = bytes[..<count].split(separator: UInt8(ascii: "\n"))
            guard let starting, lines.contains(where: { $0.elementsEqual("READY=1".utf8) }) else { continue }
            starting.noteReady().forEach(log.show)
        }
    }

    private static func bind(_ path: String) throws(Failure) -> FileDescriptor {
        guard let made = FileDescriptor(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)) else {
            throw Failure(.inputOutput, "cannot create a socket: \(errorText(errno))")
        }
        // Removes the socket of a killed run; no other run is in the directory.
        unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let number = made.rawValue
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failure(.inputOutput, "cannot bind \(path): \(errorText(errno))") }
        return made
    }
}

extension DevProgram.End {
    /// The exit status of this program that means the same; `nil`: there is none.
    fileprivate var status: ExitStatus? {
        // The statuses above `usage` are those of sysexits(3), which this program has, too.
        guard case .exited(let code) = self, code > ExitStatus.usage.rawValue else { return nil }
        return ExitStatus(rawValue: code)
    }
}

extension DevProgram {
    /// How many log lines a failure has.
    private static let linesMax = 10

    /// The failure of the command because the program ended.
    var failure: Failure {
        let words = end?.text ?? "runs"
        guard !isReady else { return Failure(.unavailable, "\(name) \(words)") }
        return Failure(end?.status ?? .unavailable, "\(name) \(words) before it was ready" + lastWords)
    }

    /// The last log lines, after a colon.
    var lastWords: String {
        let lines = held.suffix(Self.linesMax).map { $0.message.showingControls() }
        return lines.isEmpty ? "" : ":\n" + lines.joined(separator: "\n")
    }
}
