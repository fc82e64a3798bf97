/// An operation on a field of a profile. The values are JSON texts without white space.
public enum AttributeChange: Hashable, Sendable {
    /// Sets the field to this value.
    case set([UInt8])
    /// Removes the field.
    case remove
    /// Appends these values to an array, up to a limit of elements.
    case add([[UInt8]], elementsMax: Int)
    /// Removes these values from an array.
    case drop([[UInt8]])
    /// Adds a number to a number.
    case increment(Int64)

    /// Returns the value of the field after the operation.
    ///
    /// An array holds a value once: an added value goes to the end, even if the array had it before, and the first
    /// elements beyond the limit are dropped (Braze docs, custom attributes, arrays). A missing field counts as an
    /// empty array or as 0. A field of another type keeps its value.
    ///
    /// - Parameter existing: the JSON value of the field; `nil` if it is missing.
    /// - Returns: the new value; `nil` if the field is missing afterwards.
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

/// The elements of an array without repetitions.
private struct Elements {
    private var values: [[UInt8]]

    /// - Parameter array: a JSON array; `nil` for an empty one. The initializer returns `nil` for any other JSON.
    init?(_ array: [UInt8]?) {
        guard let array else {
            values = []
            return
        }
        // The reader of the log request has checked the depth of the elements already.
        let document = try? JSONDocument(scanning: array, limits: JSONLimits(depth: .max))
        guard let root = document?.root, root.kind == .array else { return nil }
        values = root.elements.map { Array($0.rawBytes) }
    }

    func appending(_ added: [[UInt8]], elementsMax: Int) -> Elements {
        var result = removing(added)
        var seen: Set<[UInt8]> = []
        // Keeps the last occurrence of a value that is added twice, as if the values were added one by one.
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

/// The identity of a JSON value: the unescaped text of a string, the literal of any other value.
private func meaning(of value: [UInt8]) -> [UInt8] {
    guard let text = try? JSONDocument(scanning: value).root.string else { return value }
    return [UInt8(ascii: "\"")] + text.utf8
}

/// A sum of whole numbers saturates at the limits of 64 bits. A value that is no number stays unchanged.
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
