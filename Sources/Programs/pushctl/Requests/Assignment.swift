import PushModel

/// A member of an object on the command line: `KEY=TEXT`, or `KEY:=JSON` for other values than texts (as in HTTPie).
///
/// The look of a value never decides its type: `zip=01234` and `zip=81234` are both texts. Otherwise one attribute
/// would get two types.
struct Assignment {
    let key: String
    /// A JSON text without white space.
    let value: [UInt8]

    /// The text of `KEY=TEXT`; `nil` for `KEY:=JSON`.
    let textValue: String?

    /// The notation, for the help.
    static let forms = """
        KEY=TEXT is always a text. KEY:=JSON is any other value: a number (price:=9.99), true or false, null, an array \
        (tags:='["a","b"]'), an object.
        """

    /// - Throws: the reason if the text is no assignment.
    init(_ text: String, _ arguments: Arguments) throws(Failure) {
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign > text.startIndex else {
            throw arguments.usageFailure("\(text): written as KEY=TEXT, or KEY:=JSON")
        }
        let (left, right) = (text[..<sign], text[text.utf8.index(after: sign)...])
        guard left.utf8.last == UInt8(ascii: ":") else {
            key = String(left)
            value = Self.json(ofText: String(right))
            textValue = String(right)
            return
        }
        textValue = nil
        key = String(left.dropLast())
        guard !key.isEmpty else { throw arguments.usageFailure("\(text): written as KEY:=JSON") }
        do {
            value = try JSONDocument(scanning: Array(right.utf8)).root.compactBytes
        } catch {
            throw arguments.usageFailure("\(text): not JSON: \(error.message); a text is written as \(key)=\(right)")
        }
    }

    /// Parses several assignments; a key may occur once.
    static func all(_ texts: [String], _ arguments: Arguments) throws(Failure) -> [Assignment] {
        var assignments: [Assignment] = []
        for text in texts {
            let assignment = try Assignment(text, arguments)
            // Keys are compared by bytes, as JSON does.
            if assignments.contains(where: { $0.key.utf8.elementsEqual(assignment.key.utf8) }) {
                throw arguments.usageFailure("\(text): \(assignment.key) is given twice")
            }
            assignments.append(assignment)
        }
        return assignments
    }

    /// A text as JSON.
    private static func json(ofText text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }
}
