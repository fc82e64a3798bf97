/// The lines of a file that payloads are read from. A reader puts lines back that do not belong to a payload.
struct PayloadLines {
    private let file: InputFile
    private let keepsBeginning: Bool
    /// The number of the last line.
    private(set) var number = 0
    /// Lines that were put back, the next one last.
    private var waiting: [[UInt8]] = []
    /// The begin of the file, in which sentences that say something about a push are looked for; at most 64 KiB.
    private(set) var beginning: [[UInt8]] = []
    private var beginningSize = 0

    private static let beginningMax = 64 << 10

    /// - Parameter keepsBeginning: whether the begin of the file is kept.
    init(_ file: InputFile, keepsBeginning: Bool) { (self.file, self.keepsBeginning) = (file, keepsBeginning) }

    /// The lines that were put back and come before those of the file, the next one first.
    var rest: [[UInt8]] {
        get { waiting.reversed() }
        set { waiting = newValue.reversed() }
    }

    /// The next line; `nil` at the end.
    mutating func next() throws(Failure) -> [UInt8]? {
        if let line = waiting.popLast() {
            number += 1
            return line
        }
        guard let line = try file.nextLine() else { return nil }
        number += 1
        keep([line])
        return line
    }

    /// Puts the last lines back.
    mutating func push(back lines: [[UInt8]]) {
        waiting.append(contentsOf: lines.reversed())
        number -= lines.count
    }

    /// Puts lines back, of which the first one has a number.
    mutating func goOn(with lines: [[UInt8]], at first: Int) {
        waiting.append(contentsOf: lines.reversed())
        number = first - 1
    }

    /// Takes the lines that are left; ``number`` stays.
    mutating func takeRest() throws(Failure) -> [[UInt8]] {
        let unread = try file.rest()
        let others =
            unread.isEmpty
            ? [] : unread.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        keep(others)
        defer { waiting = [] }
        return rest + others
    }

    private mutating func keep(_ lines: [[UInt8]]) {
        for line in lines where keepsBeginning && beginningSize + line.count <= Self.beginningMax {
            beginning.append(line)
            beginningSize += line.count + 1
        }
    }
}
