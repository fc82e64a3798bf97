public import PushModel

/// An error of a source: it cannot be read, or has a fault.
public protocol PayloadFailure: Error {
    /// The error and the remedy, with its place.
    var message: String { get }
}

extension PayloadFormError: PayloadFailure {}

/// A text that may have payloads: a file, or what somebody pasted.
public protocol PayloadSource {
    associatedtype Failure: PayloadFailure

    /// The name in messages.
    var name: String { get }
    /// The word for it in a shell command of a message.
    var shellName: String { get }
    /// Whether it is a file for Apple's simulator, which takes none with a fault.
    var isAPNs: Bool { get }

    /// The next line without its line feed; `nil` at the end.
    func nextLine() throws(Failure) -> [UInt8]?
    /// Reads all bytes that are left.
    func rest() throws(Failure) -> [UInt8]
    /// Whether no line is left; `false` if a read might wait.
    func isAtEnd() throws(Failure) -> Bool
    /// The failure for a fault in the text.
    func fault(_ message: String) -> Failure
}

/// A text in memory as a source.
final class PastedText: PayloadSource {
    typealias Failure = PayloadFormError

    let name = "payload"
    var shellName: String { "FILE" }
    var isAPNs: Bool { false }
    private var left: ArraySlice<UInt8>

    /// Returns a note or an error of a reader without the name: with the line and the column, if it has them.
    func remark(_ note: String) -> String {
        guard note.hasPrefix("\(name):") else { return note }
        var rest = note.dropFirst(name.utf8.count + 1)
        func takeNumber() -> Substring? {
            let digits = rest.prefix { $0.isNumber }
            guard !digits.isEmpty, rest.dropFirst(digits.count).first == ":" else { return nil }
            rest = rest.dropFirst(digits.count + 1)
            return digits
        }
        let (line, column) = (takeNumber(), takeNumber())
        let place = line.map { "line \($0)" + (column.map { ", column \($0)" } ?? "") + ": " } ?? ""
        return place + rest.drop { $0 == " " }
    }

    init(_ text: [UInt8]) { left = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...] }

    func nextLine() -> [UInt8]? {
        guard !left.isEmpty else { return nil }
        let line = left.prefix { $0 != UInt8(ascii: "\n") }
        left = left[line.endIndex...].dropFirst()
        return Array(line)
    }

    func rest() -> [UInt8] {
        defer { left = [] }
        return Array(left)
    }

    func isAtEnd() -> Bool { left.isEmpty }

    func fault(_ message: String) -> PayloadFormError { PayloadFormError(message) }
}

/// The lines of a source. A reader puts lines back that do not belong to a payload.
struct PayloadLines<Source: PayloadSource> {
    private let file: Source
    private let keepsBeginning: Bool
    /// The number of the last line.
    private(set) var number = 0
    /// Lines that were put back, the next one last.
    private var waiting: [[UInt8]] = []
    /// The begin of the file, in which sentences that say something about a push are looked for; at most 64 KiB.
    private(set) var beginning: [[UInt8]] = []
    private var beginningSize = 0

    private static var beginningMax: Int { 64 << 10 }

    /// - Parameter keepsBeginning: whether the begin of the file is kept.
    init(_ file: Source, keepsBeginning: Bool) { (self.file, self.keepsBeginning) = (file, keepsBeginning) }

    /// The lines that were put back and come before those of the file, the next one first.
    var rest: [[UInt8]] {
        get { waiting.reversed() }
        set { waiting = newValue.reversed() }
    }

    /// The next line; `nil` at the end.
    mutating func next() throws(Source.Failure) -> [UInt8]? {
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
    mutating func takeRest() throws(Source.Failure) -> [[UInt8]] {
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

/// One JSON object of an input file: a payload, or a request.
public struct PayloadRecord: Sendable {
    /// The object on one line, with the bytes of its values unchanged.
    public let document: JSONDocument
    /// The place of its begin, for people: `a.json`, or `a.json:12` or `a.json[3]` for one of several.
    public let place: String
    /// Its first line, if the file has other payloads.
    public var line: Int?
    /// Whether other text stands before it, which says that it is a push.
    public var isBehindText = false
    /// Its first line, in every file.
    public var firstLine = 1
    /// The only platform of its form; `nil` for JSON.
    public var platform: Platform?
    /// The app that its form names.
    public var app: String?
    /// The service that carries it, if only one has such payloads.
    public var transport: Transport?
    /// The headers of the request to APNs in its form, as a JSON object.
    public var headers: [UInt8]?
    /// The object that it was found in, for people; `nil` if it was all.
    public var name: String?

    /// - Parameters:
    ///   - document: the object.
    ///   - place: the place of its begin, for people.
    ///   - platform: the only platform of its form.
    public init(document: JSONDocument, place: String, platform: Platform? = nil) {
        (self.document, self.place, self.platform) = (document, place, platform)
    }

    init(
        document: JSONDocument, place: String, line: Int?, isBehindText: Bool = false, firstLine: Int,
        platform: Platform? = nil, app: String? = nil, transport: Transport? = nil, headers: [UInt8]? = nil,
        name: String? = nil
    ) {
        (self.document, self.place, self.line, self.firstLine) = (document, place, line, firstLine)
        (self.isBehindText, self.platform, self.app) = (isBehindText, platform, app)
        (self.transport, self.headers, self.name) = (transport, headers, name)
    }
}
