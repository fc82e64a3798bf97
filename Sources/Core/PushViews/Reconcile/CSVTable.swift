import PushModel

/// Reads a table as dashboards and spreadsheets write it, line by line: RFC 4180, with `,`, `;` or a tab between cells.
///
/// Memory is that of one record. A line that cannot be read is told with its number, and the next one is read.
struct CSVTable: Sendable {
    /// A record, or the reason why a line begins none.
    enum Step: Hashable, Sendable {
        case record(line: Int, cells: [String])
        case fault(line: Int, message: String)
    }

    /// The limits of a record, in bytes and in lines: without them a quotation mark that is never closed would swallow
    /// the rest of the file.
    static let (bytesMax, linesMax) = (64 << 10, 16)

    private var separator: UInt8?
    /// The lines of a record that has not ended.
    private var open: [(number: Int, bytes: [UInt8])] = []

    /// Takes a line without its line feed, and returns what is complete with it.
    mutating func add(_ line: [UInt8], number: Int) -> [Step] {
        var line = line
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if separator == nil {
            guard line.contains(where: { !$0.isJSONWhiteSpace }) else { return [] }
            // The line by which spreadsheets name their separator.
            if line.count == 5, line.starts(with: "sep=".utf8) {
                separator = line[4]
                return []
            }
            separator = Self.separator(of: line)
        }
        open.append((number, line))
        return steps(isEnd: false)
    }

    /// Takes the next line as one of headings, which have the separator of the table.
    mutating func forgetSeparator() { separator = nil }

    /// Ends the table.
    mutating func finish() -> [Step] { steps(isEnd: true) }

    private mutating func steps(isEnd: Bool) -> [Step] {
        var steps: [Step] = []
        while let first = open.first {
            guard first.bytes.contains(where: { !$0.isJSONWhiteSpace }) else {
                open.removeFirst()
                continue
            }
            var bytes: [UInt8] = []
            var step: Step?
            for (index, line) in open.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: "\n")) }
                bytes += line.bytes
                switch Self.cells(of: bytes, separator ?? UInt8(ascii: ",")) {
                case .cells(let cells):
                    step = .record(line: first.number, cells: cells)
                    open.removeFirst(index + 1)
                case .wrong(let message):
                    step = .fault(line: first.number, message: message)
                    open.removeFirst()
                case .open: continue
                }
                break
            }
            if step == nil, !isEnd, open.count < Self.linesMax, bytes.count <= Self.bytesMax { return steps }
            if step == nil {
                step = .fault(line: first.number, message: "a quotation mark begins here and does not end")
                open.removeFirst()
            }
            if let step { steps.append(step) }
        }
        return steps
    }

    /// The separator of a line of headings: the one that it has most often outside of quotation marks.
    private static func separator(of line: [UInt8]) -> UInt8 {
        var isQuoted = false
        var counts: [UInt8: Int] = [:]
        for byte in line {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() } else if !isQuoted { counts[byte, default: 0] += 1 }
        }
        let candidates = ",;\t".utf8
        return candidates.max { counts[$0] ?? 0 < counts[$1] ?? 0 } ?? UInt8(ascii: ",")
    }

    private enum Cells {
        case cells([String])
        /// A quotation mark has not ended.
        case open
        case wrong(String)
    }

    private static func cells(of bytes: [UInt8], _ separator: UInt8) -> Cells {
        guard bytes.count <= bytesMax else { return .wrong("the record is longer than \(bytesMax >> 10) KiB") }
        var (cells, cell, place): ([String], [UInt8], Int) = ([], [], 0)
        while true {
            cell.removeAll(keepingCapacity: true)
            if place < bytes.count, bytes[place] == UInt8(ascii: "\"") {
                place += 1
                while true {
                    guard place < bytes.count else { return .open }
                    let byte = bytes[place]
                    place += 1
                    if byte != UInt8(ascii: "\"") {
                        cell.append(byte)
                    } else if place < bytes.count, bytes[place] == byte {
                        cell.append(byte)
                        place += 1
                    } else {
                        break
                    }
                }
                guard place == bytes.count || bytes[place] == separator else {
                    return .wrong("cell \(cells.count + 1) has text behind its closing quotation mark")
                }
            } else {
                while place < bytes.count, bytes[place] != separator {
                    cell.append(bytes[place])
                    place += 1
                }
            }
            guard let text = String(validating: cell, as: UTF8.self) else {
                return .wrong("cell \(cells.count + 1) is no UTF-8: save the table as CSV UTF-8")
            }
            cells.append(text.trimmingSpaces)
            guard place < bytes.count else { return .cells(cells) }
            place += 1
        }
    }
}

extension String {
    /// The text without white space around it, also without no-break spaces.
    var trimmingSpaces: String {
        if let first = utf8.first, let last = utf8.last, (0x21..<0x80).contains(first), (0x21..<0x80).contains(last) {
            return self
        }
        guard
            unicodeScalars.first?.properties.isWhitespace == true
                || unicodeScalars.last?.properties.isWhitespace == true
        else { return self }
        let start = unicodeScalars.drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(start.reversed().drop { $0.properties.isWhitespace }.reversed()))
    }

    /// Its letters and digits in lower case: names that differ in nothing else mean the same.
    var lettersAndDigits: String {
        String(
            String.UnicodeScalarView(
                lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || $0.properties.numericType != nil }))
    }
}
