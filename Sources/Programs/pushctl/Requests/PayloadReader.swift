import PushModel

/// One JSON object of an input file: a payload, or a request.
struct Record {
    /// The object on one line, its values as they came.
    let document: JSONDocument
    /// Where it begins, for people: `a.json`, or `a.json:12` for one of several.
    let place: String
}

/// Takes the JSON objects out of a file: one object, on one line or many, or an object a line.
struct PayloadReader {
    private let file: InputFile
    private let limits: JSONLimits
    private var count = 0
    /// Whether what was read last was a line by itself, right or wrong: not the beginning of an object on many lines.
    private var wasWholeLine = true

    /// - Parameter limits: how deep a payload may nest; by default that is the daemon's to say.
    init(_ file: InputFile, limits: JSONLimits = JSONLimits(depth: .max)) {
        self.file = file
        self.limits = limits
    }

    /// The next object; `nil` at the end.
    ///
    /// - Throws: what is wrong with it, with file, line and column.
    mutating func next() throws(Failure) -> Record? {
        var line: [UInt8]
        repeat {
            guard let next = try file.nextLine() else {
                guard count > 0 else { throw Failure(.badData, "\(file.name): there is no payload in it") }
                return nil
            }
            line = next
        } while line.allSatisfy(\.isJSONWhiteSpace)
        let number = file.lineNumber
        count += 1
        let document: JSONDocument
        do {
            document = try JSONDocument(scanning: line, limits: limits)
        } catch {
            // A first line that is only a beginning may be that of one object over many lines, and one that does not end
            // as an object does may be that of a broken one.
            wasWholeLine = count > 1 || line.last { !$0.isJSONWhiteSpace } == UInt8(ascii: "}")
            let mayGoOn = count == 1 && error.offset >= line.count
            let rest = mayGoOn ? try file.rest() : []
            guard !rest.isEmpty else { throw failure(error, in: line, from: number) }
            document = try compacted(line + [UInt8(ascii: "\n")] + rest, from: number)
        }
        guard document.root.kind != .array else {
            throw Failure(
                .badData,
                "\(file.name):\(number):1: a list: give one payload a line, such as with jq -c '.[]' \(file.shellName)")
        }
        guard document.root.kind == .object else {
            throw Failure(.badData, "\(file.name):\(number):1: not an object: a payload is a JSON object")
        }
        let isAlone = count == 1 ? try file.isAtEnd() : false
        return Record(document: document, place: isAlone ? file.name : "\(file.name):\(number)")
    }

    /// The next payload that is JSON. What is wrong with a line is told, and the line after it is the next: but for a first
    /// line that may be the beginning of one broken object on many lines.
    ///
    /// - Parameter note: is told what is wrong with a line.
    mutating func nextOrNote(_ note: (Failure) -> Void) throws(Failure) -> Record? {
        while true {
            let line = file.lineNumber
            do {
                return try next()
            } catch {
                guard wasWholeLine, count > 0, file.lineNumber > line else { throw error }
                note(error)
            }
        }
    }

    /// One object on many lines, without the white space between its values.
    private func compacted(_ text: [UInt8], from number: Int) throws(Failure) -> JSONDocument {
        do {
            let document = try JSONDocument(scanning: text, limits: limits)
            return try JSONDocument(scanning: document.root.compactBytes, limits: limits)
        } catch {
            throw failure(error, in: text, from: number)
        }
    }

    private func failure(_ error: JSONError, in text: [UInt8], from number: Int) -> Failure {
        let before = text[..<min(error.offset, text.count)]
        let line = number + before.count { $0 == UInt8(ascii: "\n") }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // People count characters: the bytes that do not continue one.
        let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
        return Failure(.badData, "\(file.name):\(line):\(column): not JSON: \(error.reason)")
    }
}

extension JSONError {
    /// What was found and what to do, without the place.
    fileprivate var reason: Substring {
        let place = "at byte \(offset): "
        return message.hasPrefix(place) ? message.dropFirst(place.count) : message[...]
    }
}
