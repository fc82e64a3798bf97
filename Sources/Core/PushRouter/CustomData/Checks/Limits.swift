import PushModel

/// The limits of `POST /users/track` (Braze docs: user track endpoint, event object, user attributes object).
enum Limits {
    /// Characters of a name or a text.
    static let characters = 255
    /// Bytes of an event's properties, or of an attribute that is an object. Newer pages of the docs say 100 KB; older
    /// pages and the SDK's own constant say 50 KB. Every version accepts the smaller limit.
    static let bytes = 51_200
    /// Rejected entries from one logged object.
    static let refusals = 100
    /// Properties of an event.
    static let properties = 256
    /// Bytes of one attributes object. A request carries it undivided, and the endpoint's limit on a request is not
    /// documented: an object that the endpoint refuses would block every later entry.
    static let attributesBytes = 1_000_000
    /// Bytes of the customer's own id of a user (the SDK's constant).
    static let userIDBytes = 997
    /// Bytes of any other user identifier. No limit is documented; this one keeps a value from a push from filling a
    /// request.
    static let nameBytes = 255
}

/// Checks the name of an event, a property or an attribute.
func checkName(_ name: String) throws(EntryProblem) {
    guard !name.isEmpty else { throw EntryProblem(.empty, "the name is empty") }
    guard let length = excess(of: name) else { return }
    throw EntryProblem(.tooLong, "a name has at most \(Limits.characters) characters; this one has \(length)")
}

extension JSONNode {
    /// Checks a string's length.
    func checkText() throws(EntryProblem) {
        // Each character takes at least one byte, and each escape at least as many bytes as its character.
        guard rawBytes.count - 2 > Limits.characters, let length = excess(of: string ?? "") else { return }
        throw EntryProblem(.tooLong, "a text has at most \(Limits.characters) characters; this one has \(length)")
    }

    /// Checks the length of an object without white space: requests carry it in that form.
    func checkSize() throws(EntryProblem) {
        guard rawBytes.count > Limits.bytes else { return }
        let length = compactBytes.count
        guard length > Limits.bytes else { return }
        throw EntryProblem(.tooLong, "an object has at most \(Limits.bytes) bytes; this one has \(length)")
    }

    /// The JSON type for messages: `a number`.
    var kindName: String {
        switch kind {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}

/// Returns the length of a text in Unicode scalars if it is above the limit. A letter with an accent may count as two.
private func excess(of text: String) -> Int? {
    guard text.utf8.count > Limits.characters else { return nil }
    let length = text.unicodeScalars.count
    return length > Limits.characters ? length : nil
}
