import PushModel

/// Checks an event. The first problem rejects the whole event, as in the API.
///
/// Source: Braze docs, event object.
func checkedEvent(_ object: JSONNode) throws(EntryProblem) -> (name: String, properties: [UInt8]) {
    guard let name = object["name"] else { throw EntryProblem(.missing, "is missing").inside("name") }
    guard let text = name.string else {
        throw EntryProblem(.wrongType, "must be the name of the event, a string, not \(name.kindName)").inside("name")
    }
    do throws(EntryProblem) { try checkName(text) } catch { throw error.inside("name") }
    guard let properties = object["properties"] else { return (text, Array("{}".utf8)) }
    do throws(EntryProblem) { return (text, try checkedProperties(properties)) } catch {
        throw error.inside("properties")
    }
}

private func checkedProperties(_ properties: JSONNode) throws(EntryProblem) -> [UInt8] {
    guard properties.kind == .object else {
        throw EntryProblem(.wrongType, "must be an object of names and values, not \(properties.kindName)")
    }
    guard properties.count <= Limits.properties else {
        throw EntryProblem(
            .tooMany, "an event has at most \(Limits.properties) properties; this one has \(properties.count)")
    }
    let bytes = properties.compactBytes
    guard bytes.count <= Limits.bytes else {
        throw EntryProblem(.tooLong, "the properties have at most \(Limits.bytes) bytes; these have \(bytes.count)")
    }
    for (name, value) in properties.members {
        do throws(EntryProblem) {
            try checkPropertyName(name)
            try checkPropertyValue(value)
        } catch { throw error.inside(name) }
    }
    return bytes
}

/// Checks the name of a property of the event itself.
func checkPropertyName(_ name: String) throws(EntryProblem) {
    // The API answers with an error for such an event. The ledger stores name and time in columns of their own.
    guard name != "time", name != "event_name" else {
        throw EntryProblem(.reservedName, "the API reserves this name; call it another")
    }
    try checkAnyPropertyName(name)
}

private func checkAnyPropertyName(_ name: String) throws(EntryProblem) {
    try checkName(name)
    guard !name.utf8.starts(with: "$".utf8) else {
        throw EntryProblem(.invalidName, "the name of a property does not begin with $")
    }
}

private func checkPropertyValue(_ value: JSONNode) throws(EntryProblem) {
    switch value.kind {
    case .string: try value.checkText()
    case .number, .bool: return
    case .null: throw EntryProblem(.null, "null cannot be the value of a property; leave the property out")
    case .array:
        for (index, element) in value.elements.enumerated() {
            do throws(EntryProblem) { try checkPropertyValue(element) } catch { throw error.inside(at: index) }
        }
    case .object:
        for (name, member) in value.members {
            do throws(EntryProblem) {
                try checkAnyPropertyName(name)
                try checkPropertyValue(member)
            } catch { throw error.inside(name) }
        }
    }
}

/// The kinds of names in custom data.
public enum CustomDataName: Sendable {
    /// An event.
    case event
    /// A property of an event; not of an object within one.
    case property
    /// A field of the profile that the customer defines.
    case customAttribute
    /// A field of the profile that the provider defines.
    case userAttribute

    /// The names that a user attribute may have.
    public static let userAttributes = UserField.allCases.map(\.rawValue) + [UserField.phoneOfTheSDKs]

    /// Returns why `name` is invalid for this kind, `nil` if it is valid. Configuration files name events and
    /// attributes before any data exists.
    public func objection(to name: String) -> String? {
        do throws(EntryProblem) {
            switch self {
            case .event: try checkName(name)
            case .property: try checkPropertyName(name)
            case .customAttribute: try checkCustomAttributeName(name)
            case .userAttribute: _ = try UserField(checking: name)
            }
            return nil
        } catch { return error.message }
    }
}

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

extension EntryProblem {
    /// The same problem, seen from the object that has the value as member `key`.
    func inside(_ key: String) -> EntryProblem {
        var problem = self
        problem.field = shortened(key) + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }

    /// The same problem, seen from the array that has the value at `index`.
    func inside(at index: Int) -> EntryProblem {
        var problem = self
        problem.field = "[\(index)]" + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }
}

/// Returns a name as a path shows it: cut to 64 scalars, and quoted if it is empty or has a control character or one of
/// `.:[]"\`.
private func shortened(_ name: String) -> String {
    let scalars = name.unicodeScalars
    let rest = scalars.count <= 64 ? "" : "..."
    let start = rest.isEmpty ? name : String(String.UnicodeScalarView(scalars.prefix(64)))
    guard name.isEmpty || start.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || ".:[]\"\\".utf8.contains($0) }) else {
        return start + rest
    }
    var writer = JSONWriter()
    writer.string(start)
    return String(decoding: writer.bytes, as: UTF8.self) + rest
}
