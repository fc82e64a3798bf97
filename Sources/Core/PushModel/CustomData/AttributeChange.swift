/// What is done to a field of a profile. The values are JSON texts without white space.
public enum AttributeChange: Hashable, Sendable {
    /// The field gets this value.
    case set([UInt8])
    /// The field is removed.
    case remove
    /// The field is an array, and these are added to it; it has at most so many elements.
    case add([[UInt8]], elementsMax: Int)
    /// The field is an array, and these are taken out of it.
    case drop([[UInt8]])
    /// The field is a number, and this is added to it.
    case increment(Int64)

    /// What the field is after the change.
    ///
    /// An array holds a value once: what is added goes to the end, also when it was there before, and above
    /// the limit the first ones go (Braze docs, custom attributes, arrays). What does not exist yet is taken for an
    /// empty array or for 0. What is of another type stays as it is: an operation replaces nothing.
    ///
    /// - Parameter existing: the value of the field, JSON; `nil`: there is none.
    /// - Returns: the value from now on; `nil`: there is none.
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

/// The elements of an array of which each is there once.
private struct Elements {
    private var values: [[UInt8]]

    /// - Parameter array: a JSON array; `nil`: an empty one. The result is `nil` when it is anything else.
    init?(_ array: [UInt8]?) {
        guard let array else {
            values = []
            return
        }
        // How deep elements may nest was decided when they were logged.
        let document = try? JSONDocument(scanning: array, limits: JSONLimits(depth: .max))
        guard let root = document?.root, root.kind == .array else { return nil }
        values = root.elements.map { Array($0.rawBytes) }
    }

    func appending(_ added: [[UInt8]], elementsMax: Int) -> Elements {
        var result = removing(added)
        var seen: Set<[UInt8]> = []
        // Of a value that is added twice the last one counts, as if one came after the other.
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

/// What tells a value from others: of a string its text, however it is escaped; of anything else how it is written.
private func meaning(of value: [UInt8]) -> [UInt8] {
    guard let text = try? JSONDocument(scanning: value).root.string else { return value }
    return [UInt8(ascii: "\"")] + text.utf8
}

/// A whole number stays one, at the ends of 64 bits where it would go beyond; what is no number stays as it is.
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
