import PushModel

/// The values that distinguish figures, concatenated as in a row, so that a key can be looked up without being decoded.
/// The invocation's values come first, then those of its request.
struct KeyParts: Hashable {
    private var bytes: [UInt8] = []

    // Array's own hash goes byte by byte: a measurement showed it in the time of the ledger's thread.
    func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a text, or NULL.
    mutating func append(_ value: RowValue) {
        guard case .text(let text) = value else { return bytes.append(0) }
        // Stores the length plus 1, so that a missing text differs from the empty one.
        withUnsafeBytes(of: UInt32(text.count + 1).littleEndian) { length in
            bytes.append(1)
            bytes.append(contentsOf: length)
        }
        bytes.append(contentsOf: text)
    }

    /// Appends a reason code if reports count by it, otherwise NULL.
    mutating func append(counted code: RowValue) {
        guard case .text(let text) = code, Self.counted.contains(where: { $0.elementsEqual(text) }) else {
            return append(.null)
        }
        append(code)
    }

    /// Appends a flag.
    mutating func append(flag: Bool) { bytes.append(flag ? 1 : 0) }

    /// Appends the values of a request.
    mutating func append(_ request: KeyParts) { bytes.append(contentsOf: request.bytes) }

    private static let counted = FigureKey.countedReasons.map { Array($0.rawValue.utf8) }

    /// Decodes the key: callback, provider, route, handler, outcome, reason, then mode, platform, app, transport and
    /// both priorities, then whether it is an observer's.
    ///
    /// - Parameter path: the ledger, for error messages.
    /// - Throws: `corrupt` for a word outside its enumeration.
    func key(path: String) throws(StoreError) -> FigureKey {
        var rest = bytes[...]
        func text() -> String? {
            guard rest.popFirst() == 1, rest.count >= 4 else { return nil }
            let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) } - 1
            defer { rest = rest.dropFirst(4 + length) }
            return String(decoding: rest.dropFirst(4).prefix(length), as: UTF8.self)
        }
        func word<Value: RawRepresentable<String>>(_ type: Value.Type) throws(StoreError) -> Value? {
            guard let text = text() else { return nil }
            guard let value = Value(rawValue: text) else {
                throw StoreError(.corrupt, message: "'\(text)' is no \(type)", context: path)
            }
            return value
        }
        let callback = try word(Callback.self)
        let (provider, route, handler) = (text(), text(), text())
        let outcome = try word(Outcome.self)
        let reasonCode = try word(ReasonCode.self)
        let (mode, platform) = (try word(DispatchMode.self), try word(Platform.self))
        let app = text()
        let transport = try word(Transport.self)
        let (original, delivered) = (try word(MessagePriority.self), try word(MessagePriority.self))
        guard let callback, let outcome, let mode, let platform, let isObserver = rest.first else {
            throw StoreError(.corrupt, message: "a row has too few values to be counted", context: path)
        }
        return FigureKey(
            mode: mode, platform: platform, app: app, transport: transport, originalPriority: original,
            deliveredPriority: delivered, callback: callback, provider: provider, route: route, handler: handler,
            outcome: outcome, reasonCode: reasonCode, isObserver: isObserver == 1)
    }
}

extension RowValue {
    /// Whether the value is an operation that leads to invocations.
    var isWordOfInvocations: Bool {
        guard case .text(let text) = self else { return false }
        return Operation(rawValue: String(decoding: text, as: UTF8.self))?.hasInvocations ?? false
    }
}

extension Statement {
    /// Returns the text of a column without a copy, valid until the next step or reset.
    func lentText(_ column: Int32) -> RowValue { row(from: column).lentText.map { .text($0) } ?? .null }
}
