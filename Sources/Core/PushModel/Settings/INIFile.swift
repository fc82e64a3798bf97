/// A file in the syntax of systemd.syntax(7), split into sections, keys and values.
///
/// The input may be any bytes. Lines outside the syntax are reported and left out.
struct INIFile {
    /// One `[Section]` header and the assignments up to the next one.
    struct Section {
        var name: String
        var line: Int
        var assignments: [Assignment] = []
    }

    /// One `Key=value`, continuation lines joined, white space around key and value removed.
    struct Assignment {
        var key: String
        var value: String
        /// The number of its first line.
        var line: Int
    }

    /// More than any real configuration; bounds the work and the messages for a wrong file.
    static let lengthMax = 1 << 20

    /// In the order of the file; a name may occur several times.
    private(set) var sections: [Section] = []

    /// Returns `nil` if the file is not text: then no part of it is reliable.
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
        // The last line may end in a backslash too.
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

/// A logical line: physical lines joined by backslashes at their ends.
private struct Line {
    /// The number of its first physical line.
    var number = 0
    private(set) var bytes: [UInt8] = []
    private(set) var isContinued = false

    var isEmpty: Bool { bytes.isEmpty }

    /// Adds a physical line; an unescaped backslash at its end becomes a space.
    mutating func append(_ physical: ArraySlice<UInt8>) {
        bytes += physical.last == .carriageReturn ? physical.dropLast() : physical
        let backslashes = bytes.reversed().prefix { $0 == .backslash }.count
        isContinued = backslashes % 2 == 1
        if isContinued { bytes[bytes.count - 1] = .space }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isText: Bool {
        // Most configurations are ASCII, which needs no conversion to a string.
        allSatisfy { $0 != 0 && $0 < 0x80 } || !contains(0) && String(validating: self, as: UTF8.self) != nil
    }

    fileprivate var isComment: Bool {
        let first = first { !$0.isWhitespace }
        return first == UInt8(ascii: "#") || first == UInt8(ascii: ";")
    }

    fileprivate var withoutByteOrderMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}
