import PushModel

/// One condition of a provider's rule on a payload. Only keys that the app can see count.
public indirect enum ProviderCondition: Hashable, Sendable {
    /// A test of a value.
    public enum Test: Hashable, Sendable {
        /// The key exists, with any value: `containsKey`, `!= nil`.
        case present
        /// The key exists with a value other than `null`: `!= nil` and no `NSNull`.
        case notNull
        /// A string that equals this text.
        case equals(String)
        /// A string that equals this text by `equalsIgnoreCase` of Java.
        case equalsIgnoringCase(String)
        /// Any string.
        case string
        /// A string that is not empty: not `TextUtils.isEmpty`.
        case notEmpty
        /// A string with a character other than white space: not `isNullOrBlank` of Kotlin.
        case notBlank
        /// An object.
        case object
        /// An object with members.
        case nonEmptyObject
        /// A value for which Foundation's `boolValue` is true.
        case truthy
        /// A string that is a JSON object with this key.
        case jsonText(key: String)
    }

    /// A test of the value at a path of nested keys. The path is never empty.
    case value(at: [String], Test)
    /// A top-level key begins with this text.
    case keyBeginning(with: String)
    /// A top-level key contains this text.
    case keyContaining(String)
    /// The payload has exactly this many top-level keys.
    case keyCount(Int)
    /// The value of a top-level key is a string with the text of a JSON object that meets this condition.
    case inText(of: String, ProviderCondition)
    /// All of these conditions hold; never empty.
    case every([ProviderCondition])
}

/// The subject of conditions: a payload, or an object in one.
protocol ConditionSubject {
    /// The value of a key that the app can see.
    subscript(key: String) -> JSONView? { get }
    /// The number of top-level keys that the app can see.
    var keyCount: Int { get }
    /// Whether a top-level key that the app can see satisfies `isWanted`.
    ///
    /// - Parameter length: the minimum length in bytes, which excludes most keys cheaply.
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
    /// Whether the condition holds for the payload. The caller must keep the payload alive.
    ///
    /// - Parameter texts: the payload's texts that other conditions have parsed as JSON.
    func holds(for payload: some ConditionSubject, _ texts: inout ParsedTexts) -> Bool {
        switch self {
        case .value(let path, let test):
            guard var value = payload[path[0]] else { return false }
            for key in path.dropFirst() {
                guard let member = value[key] else { return false }
                value = member
            }
            return test.holds(for: value, &texts)
        case .keyBeginning(let prefix):
            // The first byte excludes most keys.
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
    fileprivate func holds(for value: JSONView, _ texts: inout ParsedTexts) -> Bool {
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

/// The texts of one payload that were parsed as JSON: each is parsed once for all rules.
struct ParsedTexts {
    private var documents: [(text: JSONView, document: JSONDocument?)] = []

    /// Returns the JSON object in a string; `nil` for anything else.
    mutating func object(in value: JSONView) -> JSONDocument? {
        if let known = documents.first(where: { $0.text == value }) { return known.document }
        let document = value.objectInText
        documents.append((value, document))
        return document
    }
}

extension JSONView {
    /// Whether the key contains a text.
    @inline(__always)
    fileprivate func hasText(containing wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        textLength >= wanted.count && withText { $0.contains(wanted) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these bytes contain the other bytes in sequence.
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

/// `String.equalsIgnoreCase` of Java: compares character by character, in upper case or in the lower case of that.
private func isSameIgnoringCase(_ value: JSONView, _ text: String) -> Bool {
    // A character takes one to four bytes in UTF-8.
    guard value.textLength <= 4 * text.utf8.count, let left = value.string else { return false }
    return left.unicodeScalars.elementsEqual(text.unicodeScalars) { left, right in
        let left = left.mapped(\.uppercaseMapping)
        let right = right.mapped(\.uppercaseMapping)
        return left == right || left.mapped(\.lowercaseMapping) == right.mapped(\.lowercaseMapping)
    }
}

extension Unicode.Scalar {
    /// Returns the mapped character if the mapping gives a single one; like Java, leaves others unchanged.
    fileprivate func mapped(_ mapping: KeyPath<Properties, String>) -> Unicode.Scalar {
        let scalars = properties[keyPath: mapping].unicodeScalars
        return scalars.count == 1 ? scalars.first ?? self : self
    }
}
