import PushModel

/// One thing that a provider's rule asks of a payload. Only keys that the app can see count.
public indirect enum ProviderCondition: Hashable, Sendable {
    /// What a value may have to be.
    public enum Test: Hashable, Sendable {
        /// There, whatever it is: `containsKey`, `!= nil`.
        case present
        /// There, and not `null`: `!= nil` and no `NSNull`.
        case notNull
        /// A string with exactly this text.
        case equals(String)
        /// A string with this text, compared as `equalsIgnoreCase` of Java does.
        case equalsIgnoringCase(String)
        /// A string, whatever its text.
        case string
        /// A string with a text: not `TextUtils.isEmpty`.
        case notEmpty
        /// A string with a text that is not only white space: not `isNullOrBlank` of Kotlin.
        case notBlank
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
    /// Some top-level key has this in it.
    case keyContaining(String)
    /// The payload has exactly so many top-level keys.
    case keyCount(Int)
    /// The value of a top-level key is a string whose text is a JSON object, of which this holds.
    case inText(of: String, ProviderCondition)
    /// All of these hold. Never empty.
    case every([ProviderCondition])
}

/// What conditions are held against: a payload, or an object in one.
protocol ConditionSubject {
    /// The value under a key that the app can see.
    subscript(key: String) -> JSONView? { get }
    /// How many top-level keys the app can see.
    var keyCount: Int { get }
    /// Whether there is a top-level key that the app can see, and that is as wanted.
    ///
    /// - Parameter length: how many bytes it must have at least; most keys are told by that.
    func hasKey(ofLength length: Int, where isWanted: (JSONView) -> Bool) -> Bool
}

extension JSONView: ConditionSubject {
    var keyCount: Int { isObject ? count : 0 }

    func hasKey(ofLength length: Int, where isWanted: (JSONView) -> Bool) -> Bool {
        for (key, _) in members where key.rawLength >= length && isWanted(key) { return true }
        return false
    }
}

extension ProviderCondition {
    /// Whether the payload is so. Whoever calls this holds on to it.
    ///
    /// - Parameter texts: the texts of the payload that were read as JSON for other conditions.
    func holds(for payload: some ConditionSubject, _ texts: inout TextsRead) -> Bool {
        switch self {
        case .value(let path, let test):
            guard var value = payload[path[0]] else { return false }
            for key in path.dropFirst() {
                guard let member = value[key] else { return false }
                value = member
            }
            return test.holds(for: value, &texts)
        case .keyBeginning(let prefix):
            // Most keys are told by their first byte.
            guard let first = prefix.utf8.first else { return payload.keyCount > 0 }
            return payload.hasKey(ofLength: prefix.utf8.count) {
                ($0.firstRawByte == first || $0.firstRawByte == UInt8(ascii: "\\")) && $0.starts(with: prefix)
            }
        case .keyContaining(var text):
            return text.withUTF8 { wanted in
                payload.hasKey(ofLength: wanted.count) { $0.hasText(containing: wanted) }
            }
        case .keyCount(let count): return payload.keyCount == count
        case .inText(let key, let condition):
            guard let text = payload[key], let object = texts.object(in: text) else { return false }
            return object.root.withView { condition.holds(for: $0, &texts) }
        case .every(let conditions):
            for condition in conditions where !condition.holds(for: payload, &texts) { return false }
            return true
        }
    }
}

extension ProviderCondition.Test {
    fileprivate func holds(for value: JSONView, _ texts: inout TextsRead) -> Bool {
        switch self {
        case .present: true
        case .notNull: value.kind != .null
        case .equals(let text): value.hasText(text)
        case .equalsIgnoringCase(let text): isSameIgnoringCase(value, text)
        case .string: value.isString
        case .notEmpty: value.textLength > 0
        case .notBlank: value.isString && !value.isBlank
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

extension JSONView {
    /// Whether this is a key that has a text in it.
    @inline(__always)
    fileprivate func hasText(containing wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        textLength >= wanted.count && withText { $0.contains(wanted) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these bytes are among the others, one behind the other.
    fileprivate func contains(_ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = wanted.first else { return true }
        var place = 0
        while let start = firstIndex(of: first, from: place), start + wanted.count <= count {
            if self[start..<start + wanted.count].elementsEqual(wanted) { return true }
            place = start + 1
        }
        return false
    }
}

/// `String.equalsIgnoreCase` of Java: character by character, equal in upper case or in the lower case of that.
private func isSameIgnoringCase(_ value: JSONView, _ text: String) -> Bool {
    // A character in UTF-8 is at most four times as long as the shortest.
    guard value.textLength <= 4 * text.utf8.count, let left = value.string else { return false }
    return left.unicodeScalars.elementsEqual(text.unicodeScalars) { left, right in
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
