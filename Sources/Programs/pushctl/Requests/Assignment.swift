import PushModel

/// A member of an object as people write it: `KEY=TEXT`, or `KEY:=JSON` for a value that is no text (as in HTTPie).
///
/// What a value looks like decides nothing: `zip=01234` and `zip=81234` are both texts. Who takes the one for a text and
/// the other for a number has an attribute of two types.
struct Assignment {
    let key: String
    /// A JSON text without white space.
    let value: [UInt8]

    /// The text of `KEY=TEXT`; `nil` of `KEY:=JSON`.
    let textValue: String?

    /// How to write it, for the help.
    static let forms = """
        KEY=TEXT is a text, whatever it looks like. KEY:=JSON is anything else: a number (price:=9.99), true or false, \
        null, an array (tags:='["a","b"]'), an object.
        """

    /// - Throws: what is wrong with it.
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

    /// Several, each key once.
    static func all(_ texts: [String], _ arguments: Arguments) throws(Failure) -> [Assignment] {
        var assignments: [Assignment] = []
        for text in texts {
            let assignment = try Assignment(text, arguments)
            // By bytes, as JSON has it.
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
