import PushModel

/// One thing that a provider's rule asks of a payload. Only keys that the app can see count.
public enum ProviderCondition: Hashable, Sendable {
    /// What a value may have to be.
    public enum Test: Hashable, Sendable {
        /// There, whatever it is: `containsKey`, `!= nil`.
        case present
        /// A string with exactly this text.
        case equals(String)
        /// A string with this text, compared as `equalsIgnoreCase` of Java does.
        case equalsIgnoringCase(String)
        /// A string, whatever its text.
        case string
        /// An object.
        case object
        /// An object with members.
        case nonEmptyObject
        /// What `boolValue` of Foundation takes for true.
        case truthy
        /// A string whose text is a JSON object with this key.
        case jsonText(key: String)
    }

    /// The value of a key, or of a key in the object there, and so on. The path is never empty.
    case value(at: [String], Test)
    /// Some top-level key begins so.
    case keyBeginning(with: String)
    /// The payload has exactly so many top-level keys.
    case keyCount(Int)
}

extension ProviderCondition {
    /// Whether the payload is so.
    ///
    /// - Parameter texts: the texts of the payload that were read as JSON for other conditions.
    func holds(for payload: some PlatformPayload, _ texts: inout TextsRead) -> Bool {
        defer { withExtendedLifetime(payload) {} }
        switch self {
        case .value(let path, let test):
            guard var value = payload[path[0]] else { return false }
            for key in path.dropFirst() {
                guard let member = value[key] else { return false }
                value = member
            }
            return test.holds(for: value, &texts)
        case .keyBeginning(let prefix): return payload.hasKey(beginningWith: prefix)
        case .keyCount(let count): return payload.keyCount == count
        }
    }
}

extension ProviderCondition.Test {
    fileprivate func holds(for value: JSONView, _ texts: inout TextsRead) -> Bool {
        switch self {
        case .present: true
        case .equals(let text): value.hasText(text)
        case .equalsIgnoringCase(let text): value.string.map { isSameIgnoringCase($0, text) } == true
        case .string: value.isString
        case .object: value.isObject
        case .nonEmptyObject: value.isObject && value.count > 0
        case .truthy: value.foundationBool
        case .jsonText(let key): texts.object(in: value)?.root[key] != nil
        }
    }
}

/// Texts of one payload that were read as JSON: each is read once, however many rules ask for it.
struct TextsRead {
    private var documents: [(text: JSONView, document: JSONDocument?)] = []

    /// The object that a string holds as JSON text; `nil` for anything else.
    mutating func object(in value: JSONView) -> JSONDocument? {
        if let known = documents.first(where: { $0.text == value }) { return known.document }
        let document = value.objectInText
        documents.append((value, document))
        return document
    }
}

/// `String.equalsIgnoreCase` of Java: character by character, equal in upper case or in the lower case of that.
private func isSameIgnoringCase(_ left: String, _ right: String) -> Bool {
    left.unicodeScalars.elementsEqual(right.unicodeScalars) { left, right in
        let left = left.mapped(\.uppercaseMapping)
        let right = right.mapped(\.uppercaseMapping)
        return left == right || left.mapped(\.lowercaseMapping) == right.mapped(\.lowercaseMapping)
    }
}

extension Unicode.Scalar {
    /// What `mapping` makes of it where that is one character; Java leaves the others alone.
    fileprivate func mapped(_ mapping: KeyPath<Properties, String>) -> Unicode.Scalar {
        let scalars = properties[keyPath: mapping].unicodeScalars
        return scalars.count == 1 ? scalars.first ?? self : self
    }
}
