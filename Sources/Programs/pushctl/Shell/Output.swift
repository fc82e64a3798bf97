import Glibc
import JSONC
import LinuxSystem
import PushModel
import PushReporting

/// Standard output, in large writes, and standard error.
///
/// A reader that is gone, such as `head`, ends the program quietly: it has what it wanted.
final class Output {
    private var buffer: [UInt8] = []
    /// What is to be done before the program ends because it cannot write: what it has started would outlive it.
    var beforeExit: () -> Void = {}
    /// How many characters a line for people may have; `nil`: any number.
    let width: Int?
    private var hasNotedOnce = false
    /// How far the copy was that the ledger is, where the machine follows another one: documents say it, too.
    var copy: Synced?
    private let descriptor: Int32
    /// Takes what is for standard error.
    private let tell: ([UInt8]) -> Void

    /// - Parameters:
    ///   - descriptor: where output goes.
    ///   - tell: takes what the user is told beside the output; `nil`: it goes to standard error.
    init(to descriptor: Int32 = STDOUT_FILENO, telling tell: (([UInt8]) -> Void)? = nil) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        // Nobody is left to be told when this fails.
        self.tell = tell ?? { _ = Self.writeAll($0, to: STDERR_FILENO) }
        let columns = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? Self.width(of: descriptor)
        width = columns.flatMap { $0 >= 20 ? $0 : nil }
    }

    /// The width of the terminal that output goes to; `nil` when it is none: a program gets lines as they are.
    private static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes bytes as they are, sooner or later.
    func write(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 16 { flush() }
    }

    /// Writes one line of JSON. What could steer a terminal is escaped in it, in what came from outside as it is, too.
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
    /// Deeper than any document of the product's own: a payload has 32 levels at most, and stands within another document.
    private static let limits = JSONLimits(depth: 128)

    /// Writes text for people: lines, each with its line feed. What came from outside cannot steer the terminal; so that
    /// it cannot begin a line either, whoever joined the lines made its values safe (`showingControls`).
    func print(_ text: String) {
        let text = text.showingControlsInLines()
        write((width.map { Text.folded(text, width: $0) } ?? text).utf8)
    }

    /// Writes lines of a report for people, with colour on a terminal. What came from outside cannot steer the terminal.
    func print(_ lines: [ReportLine]) {
        for line in lines { write(ended: coloured(line).utf8) }
    }

    /// A line with its colour, where the output shows colours.
    func coloured(_ line: ReportLine) -> String {
        let text = line.text.showingControls()
        return isColoured ? line.tone.coloured(text) : text
    }

    /// The same, with lines that are wider than the terminal folded as text for people is.
    func print(folding lines: [ReportLine]) {
        guard let width else { return print(lines) }
        for line in lines {
            let folded = Text.folded(line.text.showingControls(), width: width).split(
                separator: "\n", omittingEmptySubsequences: false)
            print(folded.map { ReportLine(String($0), line.tone) })
        }
    }

    /// Whether block characters can be shown: what the locale says of the encoding.
    var usesUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(Self.environment).first ?? ""
        return ["utf-8", "utf8"].contains { locale.lowercased().hasSuffix($0) }
    }

    /// Colour is for a terminal that has it, unless `NO_COLOR` is set (https://no-color.org).
    private var isColoured: Bool {
        isTerminal && Self.environment("NO_COLOR") == nil && Self.environment("TERM") != "dumb"
    }

    /// A variable of the environment; `nil` also when it is empty.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Hands everything to the kernel.
    func flush() {
        guard Self.writeAll(buffer, to: descriptor) else {
            guard errno == EPIPE else { fail() }
            beforeExit()
            exit(ExitStatus.done.rawValue)
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Has what was handed to the kernel put on disk, where it goes to a file.
    func synchronize() {
        guard fdatasync(descriptor) != 0, errno != EINVAL, errno != EROFS else { return }
        fail()
    }

    /// Tells the user something beside the output: each line on standard error, after the program's name.
    func note(_ message: String) {
        flush()
        report(message)
    }

    /// Tells the user something, unless it told anything this way before.
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
