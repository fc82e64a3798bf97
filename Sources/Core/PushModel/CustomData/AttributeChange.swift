/// A change of a field of a profile. The values are JSON texts without white space.
public enum AttributeChange: Hashable, Sendable {
    /// The field gets this value.
    case set([UInt8])
    /// The field is removed.
    case remove
    /// The field is an array; adds these values, and keeps at most `elementsMax` elements.
    case add([[UInt8]], elementsMax: Int)
    /// The field is an array; removes these values.
    case drop([[UInt8]])
    /// The field is a number; adds this to it.
    case increment(Int64)

    /// Returns the value of the field after the change.
    ///
    /// An array holds each value once. `add` moves or appends values at the end, and removes the first elements above
    /// the limit (Braze docs, custom attributes, arrays). A missing field counts as an empty array or as 0. A field of
    /// another type stays unchanged: no operation replaces it.
    ///
    /// - Parameter existing: the value of the field, JSON; `nil`: there is none.
    /// - Returns: the new value; `nil`: there is none.
    public func apply(to existing: [UInt8]?) -> [UInt8]? {
        switch self {
        case .set(let value): return value
        case .remove: return nil
        case .add(let values, let elementsMax):
            guard let elements = Elements(existing) else { return existing }
            return elements.appending(values, elementsMax: elementsMax).json
        case .drop(let values):
            guard existing != nil, let elements = Elements(existing) else { return existing }
            return elements.removing(values).json
        case .increment(let step):
            return existing.map { incremented($0, by: step) } ?? Array(String(step).utf8)
        }
    }
}

/// The elements of an array without repeats.
private struct Elements {
    private var values: [[UInt8]]

    /// - Parameter array: a JSON array; `nil`: an empty one. The result is `nil` for any other JSON.
    init?(_ array: [UInt8]?) {
        guard let array else {
            values = []
            return
        }
        // Without a limit of depth: the daemon checked it when the elements were logged.
        let document = try? JSONDocument(scanning: array, limits: JSONLimits(depth: .max))
        guard let root = document?.root, root.kind == .array else { return nil }
        values = root.elements.map { Array($0.rawBytes) }
    }

    func appending(_ added: [[UInt8]], elementsMax: Int) -> Elements {
        var result = removing(added)
        var seen: Set<[UInt8]> = []
        // Keeps the last one of equal values, as if they were added one by one.
        let last = added.reversed().filter { seen.insert(meaning(of: $0)).inserted }
        result.values.append(contentsOf: last.reversed())
        result.values.removeFirst(max(0, result.values.count - elementsMax))
        return result
    }

    func removing(_ removed: [[UInt8]]) -> Elements {
        let meanings = Set(removed.map(meaning))
        var result = self
        result.values.removeAll { meanings.contains(meaning(of: $0)) }
        return result
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.array { writer in
            for value in values { writer.raw(value) }
        }
        return writer.bytes
    }
}

/// Returns the bytes by which values are compared: for a string its unescaped text, for any other value its spelling.
private func meaning(of value: [UInt8]) -> [UInt8] {
    guard let text = try? JSONDocument(scanning: value).root.string else { return value }
    return [UInt8(ascii: "\"")] + text.utf8
}

/// Adds to a JSON number. A whole number stays whole and saturates at the ends of 64 bits; any other value is returned
/// unchanged.
private func incremented(_ value: [UInt8], by step: Int64) -> [UInt8] {
    guard let root = try? JSONDocument(scanning: value).root, let double = root.double else { return value }
    var writer = JSONWriter(reserving: 20)
    if let number = root.int64 {
        let (sum, overflow) = number.addingReportingOverflow(step)
        writer.int(overflow ? (step < 0 ? Int64.min : .max) : sum)
    } else {
        writer.double(double + Double(step))
    }
    return writer.bytes
}
