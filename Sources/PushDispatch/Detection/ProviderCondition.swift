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
    func holds(for payload: some PlatformPayload) -> Bool {
        switch self {
        case .value(let path, let test):
            guard let value = payload[path[0]] else { return false }
            return path.count == 1 ? test.holds(for: value) : test.holds(for: value, at: path.dropFirst())
        case .keyBeginning(let prefix): return payload.hasKey(beginningWith: prefix)
        case .keyCount(let count): return payload.keyCount == count
        }
    }
}

extension ProviderCondition.Test {
    fileprivate func holds(for node: JSONNode, at path: ArraySlice<String>) -> Bool {
        var node = node
        for key in path {
            guard let value = node[key] else { return false }
            node = value
        }
        return holds(for: node)
    }

    fileprivate func holds(for node: JSONNode) -> Bool {
        switch self {
        case .present: true
        case .equals(let text): node.string?.utf8.elementsEqual(text.utf8) == true
        case .equalsIgnoringCase(let text): node.string.map { isSameIgnoringCase($0, text) } == true
        case .string: node.kind == .string
        case .object: node.kind == .object
        case .nonEmptyObject: node.kind == .object && node.count > 0
        case .truthy: node.foundationBool
        case .jsonText(let key): node.objectInText?[key] != nil
        }
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
