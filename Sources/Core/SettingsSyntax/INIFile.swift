/// The raw layer: a file in the syntax of systemd.syntax(7), cut into sections, keys and values.
///
/// Any bytes are allowed as input. What is not in the syntax is reported with its line and left out.
struct INIFile {
    /// One `[Section]` header and what follows it, up to the next.
    struct Section {
        var name: String
        var line: Int
        var assignments: [Assignment] = []
    }

    /// One `Key=value`, continuation lines joined, white space around key and value removed.
    struct Assignment {
        var key: String
        var value: String
        /// The line on which it begins.
        var line: Int
    }

    /// Far beyond any real configuration; bounds the work and the messages that a wrong file can cause.
    static let lengthMax = 1 << 20

    /// In the order of the file; a name may come more than once.
    private(set) var sections: [Section] = []

    /// `nil` when it is not text at all; then nothing of it can be relied on.
    init?(parsing bytes: [UInt8], report: inout FileReport) {
        guard bytes.count <= Self.lengthMax else {
            report.error("longer than 1 MiB; this is not a configuration file")
            return nil
        }
        var line = Line()
        for (index, physical) in bytes.split(separator: .lineFeed, omittingEmptySubsequences: false).enumerated() {
            guard physical.isText else {
                report.error("not UTF-8 text, or with a NUL byte; save the file as UTF-8", line: index + 1)
                return nil
            }
            if physical.isComment { continue }
            if line.isEmpty { line.number = index + 1 }
            line.append(index == 0 ? physical.withoutByteOrderMark : physical)
            if line.isContinued { continue }
            take(line, report: &report)
            line = Line()
        }
        // The last line of the file may end in a backslash too.
        take(line, report: &report)
    }

    private mutating func take(_ line: Line, report: inout FileReport) {
        let text = line.bytes[...].trimmed
        if text.isEmpty { return }
        if text.first == UInt8(ascii: "[") {
            open(text, at: line.number, report: &report)
        } else if let equals = text.firstIndex(of: UInt8(ascii: "=")), equals > text.startIndex {
            let assignment = Assignment(
                key: text[..<equals].trimmed.text, value: text[(equals + 1)...].trimmed.text, line: line.number)
            guard !sections.isEmpty else {
                report.error("\(printable(assignment.key))= is in no [Section]; put it below one", line: line.number)
                return
            }
            sections[sections.count - 1].assignments.append(assignment)
        } else {
            let shown = printable(text.text, limit: 60)
            report.error("\"\(shown)\" is neither a [Section], nor Key=value, nor a comment", line: line.number)
        }
    }

    private mutating func open(_ header: ArraySlice<UInt8>, at line: Int, report: inout FileReport) {
        let name = header.dropFirst().dropLast()
        guard header.last == UInt8(ascii: "]"), !name.isEmpty, !name.contains(UInt8(ascii: "]")) else {
            let shown = printable(header.text, limit: 60)
            report.error("\"\(shown)\" is not a section header; write [Name] and nothing else on the line", line: line)
            return
        }
        sections.append(Section(name: name.text, line: line))
    }
}

/// A logical line: what backslashes at the ends of lines join.
private struct Line {
    /// Where it begins.
    var number = 0
    private(set) var bytes: [UInt8] = []
    private(set) var isContinued = false

    var isEmpty: Bool { bytes.isEmpty }

    /// Adds a line of the file; a backslash at its end that no other escapes becomes a space.
    mutating func append(_ physical: ArraySlice<UInt8>) {
        bytes += physical.last == .carriageReturn ? physical.dropLast() : physical
        let backslashes = bytes.reversed().prefix { $0 == .backslash }.count
        isContinued = backslashes % 2 == 1
        if isContinued { bytes[bytes.count - 1] = .space }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isText: Bool {
        // Nearly all of a configuration is ASCII, which needs no string to be made of it.
        allSatisfy { $0 != 0 && $0 < 0x80 } || !contains(0) && String(validating: self, as: UTF8.self) != nil
    }

    fileprivate var isComment: Bool {
        let first = first { !$0.isWhitespace }
        return first == UInt8(ascii: "#") || first == UInt8(ascii: ";")
    }

    fileprivate var withoutByteOrderMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}
