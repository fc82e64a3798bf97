import PushModel

/// The limits of `POST /users/track` (Braze docs: user track endpoint, event object, user attributes object).
enum Limits {
    /// Characters of a name or a text.
    static let characters = 255
    /// Bytes of an event's properties, or of an attribute that is an object. Newer pages of the docs say 100 KB, older ones
    /// and the SDK's own constant 50 KB: what is within the smaller is taken by all.
    static let bytes = 51_200
    /// Entries that are set aside of what was logged together.
    static let refusals = 100
    /// Properties of an event.
    static let properties = 256
    /// Bytes of attributes that are set together. They leave in one piece, and the endpoint's limit on a request is not
    /// documented: one that it will not take would hold up all that comes after.
    static let attributesBytes = 1_000_000
    /// Bytes of the customer's own id of a user (the SDK's constant).
    static let userIDBytes = 997
    /// Bytes of another name of a user. No limit is documented; what a push says of it is not to fill a request.
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
        // No character is shorter than a byte, and no escape shorter than what it stands for.
        guard rawBytes.count - 2 > Limits.characters, let length = excess(of: string ?? "") else { return }
        throw EntryProblem(.tooLong, "a text has at most \(Limits.characters) characters; this one has \(length)")
    }

    /// Checks how long an object is without white space, which is how it is sent.
    func checkSize() throws(EntryProblem) {
        guard rawBytes.count > Limits.bytes else { return }
        let length = compactBytes.count
        guard length > Limits.bytes else { return }
        throw EntryProblem(.tooLong, "an object has at most \(Limits.bytes) bytes; this one has \(length)")
    }

    /// What it is, for messages: `a number`.
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

/// How many characters a text has, if too many: Unicode scalars, of which a letter with an accent may have two.
private func excess(of text: String) -> Int? {
    guard text.utf8.count > Limits.characters else { return nil }
    let length = text.unicodeScalars.count
    return length > Limits.characters ? length : nil
}
