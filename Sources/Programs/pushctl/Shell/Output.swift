import CLinux
import Glibc
import JSONC
import LinuxSystem
import PushModel
import PushViews

/// Standard output, in large writes, and standard error.
///
/// A closed pipe, such as that of `head`, ends the program without a message: its reader needs no more.
final class Output {
    private var buffer: [UInt8] = []
    /// Called before the program exits because it cannot write: ends the processes that it started.
    var beforeExit: () -> Void = {}
    /// The width of a line for people in characters; `nil`: any.
    let width: Int?
    private var hasNotedOnce = false
    /// The state of the ledger's copy, if this machine follows another one: JSON documents contain it as well.
    var copy: Synced?
    private let descriptor: Int32
    /// Writes to standard error.
    private let tell: ([UInt8]) -> Void

    /// - Parameters:
    ///   - descriptor: the descriptor of the output.
    ///   - tell: gets the notes for the user; `nil`: they go to standard error.
    init(to descriptor: Int32 = STDOUT_FILENO, telling tell: (([UInt8]) -> Void)? = nil) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        // A failed write to standard error has nowhere to be reported.
        self.tell = tell ?? { _ = Self.writeAll($0, to: STDERR_FILENO) }
        let columns = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? Self.width(of: descriptor)
        width = columns.flatMap { $0 >= 20 ? $0 : nil }
    }

    /// The width of the output's terminal; `nil` if it is none: a program gets unfolded lines.
    private static func width(of descriptor: Int32) -> Int? {
        var (columns, lines): (Int32, Int32) = (0, 0)
        guard isatty(descriptor) == 1, CLinux_terminal_size(descriptor, &columns, &lines) == 0 else { return nil }
        return Int(columns)
    }

    /// Buffers bytes, unchanged.
    func write(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 16 { flush() }
    }

    /// Writes one line of JSON. Escapes control characters that could steer a terminal, also in unchanged input.
    func write(line json: some Collection<UInt8>) { write(ended: escapingControls(inJSON: Array(json))) }

    private func write(ended line: some Collection<UInt8>) {
        write(line)
        write(CollectionOfOne(UInt8(ascii: "\n")))
    }

    /// Writes a JSON document, given as one line with or without its line feed: for a program as it is, for a person at a
    /// terminal with a line for each value. An object that was read from a copy has the member `copy`.
    func write(document: [UInt8]) {
        var line = document.last == UInt8(ascii: "\n") ? document.dropLast() : document[...]
        if let copy { line = CopyMember.add(copy, to: Array(line))[...] }
        guard isTerminal, let tree = try? JSONTree(scanning: Array(line), limits: Self.limits) else {
            return write(line: line)
        }
        write(line: tree.bytes(.indented))
    }

    private let isTerminal: Bool
    /// Deeper than any document of the product: a payload has at most 32 levels, within another document.
    private static let limits = JSONLimits(depth: 128)

    /// Writes text for people: lines, each with its line feed. Control characters of input cannot steer the terminal.
    /// The caller has escaped them in values (`showingControls`), so that input cannot begin a line either.
    func print(_ text: String) {
        let text = text.showingControlsInLines()
        write((width.map { Text.folded(text, width: $0) } ?? text).utf8)
    }

    /// Writes lines of a report for people, in colour on a terminal. Control characters of input cannot steer the
    /// terminal.
    func print(_ lines: [ReportLine]) {
        for line in lines { write(ended: coloured(line).utf8) }
    }

    /// A line, in its colour if the output shows colours.
    func coloured(_ line: ReportLine) -> String {
        let text = line.text.showingControls()
        return isColoured ? line.tone.coloured(text) : text
    }

    /// Writes lines of a report, with lines folded that are wider than the terminal.
    func print(folding lines: [ReportLine]) {
        guard let width else { return print(lines) }
        for line in lines {
            let folded = Text.folded(line.text.showingControls(), width: width).split(
                separator: "\n", omittingEmptySubsequences: false)
            print(folded.map { ReportLine(String($0), line.tone) })
        }
    }

    /// Whether block characters can be shown: the locale's encoding is UTF-8.
    var usesUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(Self.environment).first ?? ""
        return ["utf-8", "utf8"].contains { locale.lowercased().hasSuffix($0) }
    }

    /// Colour needs a terminal with colours, and no `NO_COLOR` in the environment (https://no-color.org).
    private var isColoured: Bool {
        isTerminal && Self.environment("NO_COLOR") == nil && Self.environment("TERM") != "dumb"
    }

    /// A variable of the environment; `nil` if it is missing or empty.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Writes the buffer.
    func flush() {
        guard Self.writeAll(buffer, to: descriptor) else {
            guard errno == EPIPE else { fail() }
            beforeExit()
            exit(ExitStatus.done.rawValue)
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Syncs the output, if it is a file.
    func synchronize() {
        guard fdatasync(descriptor) != 0, errno != EINVAL, errno != EROFS else { return }
        fail()
    }

    /// Prints a note for the user: each line on standard error, after the program's name.
    func note(_ message: String) {
        flush()
        report(message)
    }

    /// Prints a note, unless this function printed one before.
    func noteOnce(_ message: String) {
        guard !hasNotedOnce else { return }
        hasNotedOnce = true
        note(message)
    }

    private func fail() -> Never {
        report("cannot write to standard output: \(errorText(errno))")
        beforeExit()
        exit(ExitStatus.inputOutput.rawValue)
    }

    private func report(_ message: String) {
        let lines = message.showingControlsInLines().split(separator: "\n").map { "pushctl: \($0)\n" }
        tell(Array(lines.joined().utf8))
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension ReportLine.Tone {
    /// `text` in the colour of the tone (ECMA-48, SGR).
    fileprivate func coloured(_ text: String) -> String {
        let code: String? =
            switch self {
            case .plain: nil
            case .heading: "1"
            case .good: "32"
            case .bad: "31"
            case .warning: "33"
            case .faint: "2"
            }
        return code.map { "\u{1B}[\($0)m\(text)\u{1B}[0m" } ?? text
    }
}
