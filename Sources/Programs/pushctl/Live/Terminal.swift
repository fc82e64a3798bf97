import CLinux
import Glibc
import LinuxSystem
import PushModel
import PushViews

/// The terminal as a screen: the alternate screen, and keys without a line feed. Restores the terminal when the program
/// ends, is stopped by SIGTSTP, or ends by SIGINT, SIGTERM or SIGHUP.
final class Terminal {
    /// An event of the terminal.
    enum Event: Equatable {
        /// A key that is one byte.
        case key(UInt8)
        /// The screen must be drawn again: its size changed, or the program continues after a stop.
        case redraw
        /// The time is over.
        case timeout
        /// A signal that ends the program, or no more input.
        case end
    }

    /// Whether a person is at standard input and output, at a terminal that can be drawn on.
    static var isThere: Bool {
        let kind = getenv("TERM").map { String(cString: $0) } ?? ""
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !kind.isEmpty && kind != "dumb"
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
    /// Alternate screen, no cursor, no automatic line wrap.
    private static let begin = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
    private static let end = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"
    /// How long one poll(2) waits for keys before signals are checked, in milliseconds.
    private static let step: Int32 = 50

    private var original = termios()
    private var isEntered = false
    private let output: Output

    /// Takes over the terminal, and blocks the signals: they come as events.
    init(_ output: Output) throws(Failure) {
        self.output = output
        guard tcgetattr(STDIN_FILENO, &original) == 0 else {
            throw Failure(.inputOutput, "cannot read the settings of the terminal: \(errorText(errno))")
        }
        Self.mask(SIG_BLOCK, Self.signals)
        enter()
    }

    deinit { leave() }

    /// The columns and lines of the screen; 80 and 24 if they are unknown.
    var size: (width: Int, height: Int) {
        var (columns, lines): (Int32, Int32) = (0, 0)
        guard CLinux_terminal_size(STDOUT_FILENO, &columns, &lines) == 0, columns > 0, lines > 0 else {
            return (80, 24)
        }
        return (Int(columns), Int(lines))
    }

    /// Draws lines without control characters, as many as the screen has.
    func draw(_ lines: [ReportLine]) {
        // Each line is cleared before it is written: clearing after a full line would delete its last character.
        output.write("\u{1b}[H".utf8)
        output.write(lines.map { "\u{1b}[K" + output.coloured($0) }.joined(separator: "\r\n").utf8)
        output.flush()
    }

    /// Waits for the next event.
    func next(within time: Duration) -> Event {
        let end = Instant.now + time
        while true {
            if let event = signal() { return event }
            let left = (end - Instant.now).milliseconds
            guard left > 0 else { return .timeout }
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, min(Self.step, Int32(clamping: left))) > 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return .end }
            // Arrow keys and the like are sequences that begin with an escape.
            if bytes[0] != 0x1B { return .key(bytes[0]) }
        }
    }

    /// Restores the terminal.
    func leave() {
        guard isEntered else { return }
        isEntered = false
        output.write(Self.end.utf8)
        output.flush()
        tcsetattr(STDIN_FILENO, TCSADRAIN, &original)
    }

    private func enter() {
        var settings = original
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        isEntered = true
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        output.write(Self.begin.utf8)
        output.flush()
    }

    /// The event of a pending signal; `nil` without one.
    private func signal() -> Event? {
        var set = Self.set(Self.signals)
        var none = timespec(tv_sec: 0, tv_nsec: 0)
        switch sigtimedwait(&set, nil, &none) {
        case SIGINT, SIGTERM, SIGHUP, SIGQUIT: return .end
        case SIGWINCH: return .redraw
        case SIGTSTP:
            leave()
            // The process stops here, until SIGCONT.
            raise(SIGTSTP)
            Self.mask(SIG_UNBLOCK, [SIGTSTP])
            Self.mask(SIG_BLOCK, [SIGTSTP])
            enter()
            return .redraw
        case SIGCONT:
            // After SIGSTOP, which cannot be caught, a shell may have changed the settings.
            enter()
            return .redraw
        default: return nil
        }
    }

    private static func mask(_ how: Int32, _ signals: [Int32]) {
        var set = set(signals)
        sigprocmask(how, &set, nil)
    }

    private static func set(_ signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
