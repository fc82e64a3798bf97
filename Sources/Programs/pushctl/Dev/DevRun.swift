import CLinux
import EventLoop
import Glibc
import LinuxSystem
import PushModel

/// The programs of `pushctl dev`, from the first start to the last end.
final class DevRun {
    /// What came of a start.
    enum Start {
        case ready
        /// A person wants the end.
        case asked
        /// It has ended instead. It is none of the programs any more.
        case ended(DevProgram)
    }

    /// How long a program may take until it is ready.
    private static let startLimit = Duration.seconds(20)
    /// How long it may take until it has ended, before it is killed.
    private static let endLimit = Duration.seconds(15)
    /// How long it may take until one that is killed has ended.
    private static let killLimit = Duration.seconds(5)
    /// What ends it all.
    static let signals = [SIGINT, SIGTERM, SIGHUP]
    /// How many messages of programs are taken at once.
    private static let messagesMax = 64
    /// Variables that a service manager or a shell gave this program and nobody else.
    private static let ownVariables = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDNAMES", "WATCHDOG_USEC",
        "WATCHDOG_PID", "JOURNAL_STREAM", "INVOCATION_ID",
    ]

    private let log: DevLog
    private let signals: FileDescriptor
    private let notifications: FileDescriptor
    private let environment: [String]
    private var programs: [DevProgram] = []
    /// The one that is to say that it is ready.
    private var starting: DevProgram?
    /// Whether a person wants the end.
    private(set) var isAsked = false
    private var isStopping = false

    /// Takes the signals of this process, which has one thread.
    ///
    /// - Parameters:
    ///   - path: the socket on which programs say that they are ready.
    ///   - log: shows what they log.
    init(notifications path: String, _ log: DevLog) throws(Failure) {
        guard let signals = FileDescriptor(CLinux_signal_descriptor(Self.signals, Self.signals.count)) else {
            throw Failure(.inputOutput, "cannot wait for signals: \(errorText(errno))")
        }
        self.signals = signals
        notifications = try Self.bind(path)
        self.log = log
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
    ///   - path: where it is.
    ///   - name: what it is called.
    ///   - arguments: the words behind its name.
    ///   - deathSignal: what it gets when this process is gone.
    /// - Throws: that there is no start, that it takes too long, or that a program before it has ended.
    func start(_ path: String, _ name: String, _ arguments: [String], deathSignal: Int32) throws(Failure) -> Start {
        guard !isAsked else { return .asked }
        let program = try DevProgram(
            path, name: name, arguments: arguments, environment: environment, deathSignal: deathSignal)
        programs.append(program)
        starting = program
        defer { starting = nil }
        let end = Instant.now + Self.startLimit
        while !program.isReady, !isAsked, programs.allSatisfy({ $0.end == nil }), Instant.now < end { turn(until: end) }
        if program.isReady { return .ready }
        if isAsked { return .asked }
        guard program.end == nil else {
            programs.removeLast()
            return .ended(program)
        }
        try check()
        throw Failure(
            .unavailable, "\(name) was not ready within \(Self.startLimit.milliseconds / 1000) s" + program.lastWords)
    }

    /// Waits until a person wants the end.
    ///
    /// - Throws: that a program has ended.
    func wait() throws(Failure) {
        while !isAsked {
            try check()
            turn(until: nil)
        }
    }

    /// Ends the programs, the last one first, and waits for each. Whoever asks once more has them killed.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        isAsked = false
        for program in programs { program.noteReady().forEach(log.show) }
        for program in programs.reversed() {
            program.send(SIGTERM)
            waitForEnd(of: program, atMost: Self.endLimit)
            program.send(SIGKILL)
            // A process that the disk holds ends when it can.
            waitForEnd(of: program, atMost: Self.killLimit, isKilled: true)
        }
    }

    private func waitForEnd(of program: DevProgram, atMost limit: Duration, isKilled: Bool = false) {
        let end = Instant.now + limit
        while program.end == nil, isKilled || !isAsked, Instant.now < end { turn(until: end) }
    }

    /// - Throws: that a program has ended which was ready.
    private func check() throws(Failure) {
        guard let ended = programs.first(where: { $0.end != nil }) else { return }
        throw ended.failure
    }

    // MARK: One turn

    /// Waits until something happens, and takes it.
    private func turn(until end: Instant?) {
        let fixed = [signals.rawValue, notifications.rawValue]
        let descriptors = fixed + programs.flatMap { [$0.processDescriptor, $0.outputDescriptor] }
        // One that is negative is not watched.
        var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        waitUntilReady(&polls, nanoseconds: end.map { ($0 - Instant.now).nanoseconds })
        takeSignals()
        takeMessages()
        for program in programs {
            // In this order: what it wrote before its end is there.
            program.look()
            program.takeLog().forEach(log.show)
        }
    }

    private func takeSignals() {
        // A signal is 128 bytes (signalfd(2)).
        var facts = [UInt8](repeating: 0, count: 128)
        while read(signals.rawValue, &facts, facts.count) == facts.count { isAsked = true }
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
        // Of a run that was killed. Nobody else is in the directory.
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
    /// The status of this program that says the same; `nil`: there is none.
    fileprivate var status: ExitStatus? {
        // The others are those of sysexits(3), which are ours too.
        guard case .exited(let code) = self, code > ExitStatus.usage.rawValue else { return nil }
        return ExitStatus(rawValue: code)
    }
}

extension DevProgram {
    /// How many lines of its log a failure tells.
    private static let linesMax = 10

    /// Why the command ends with the program.
    var failure: Failure {
        let words = end?.text ?? "runs"
        guard !isReady else { return Failure(.unavailable, "\(name) \(words)") }
        return Failure(end?.status ?? .unavailable, "\(name) \(words) before it was ready" + lastWords)
    }

    /// What it logged last, behind a sentence.
    var lastWords: String {
        let lines = held.suffix(Self.linesMax).map { $0.message.showingControls() }
        return lines.isEmpty ? "" : ":\n" + lines.joined(separator: "\n")
    }
}
