extension JSONNode {
    /// Whether both say the same: objects with the same members in any order, arrays in order, strings by their text
    /// unescaped, numbers by their literal (`1.0` is not `1`). Does not recurse.
    public func isEquivalent(to other: JSONNode) -> Bool {
        var pending = [(self, other)]
        while let (left, right) = pending.popLast() {
            guard left.kind == right.kind, left.count == right.count else { return false }
            switch left.kind {
            case .null: continue
            case .bool, .number: if left.rawBytes != right.rawBytes { return false }
            case .string: if left.document.key(at: left.index) != right.document.key(at: right.index) { return false }
            case .array: pending.append(contentsOf: zip(left.elements, right.elements))
            case .object:
                let partners = Dictionary(uniqueKeysWithValues: right.keyedMembers)
                for (key, value) in left.keyedMembers {
                    guard let partner = partners[key] else { return false }
                    pending.append((value, partner))
                }
            }
        }
        return true
    }

    /// The members of an object with keys that compare as JSON has it.
    private var keyedMembers: [(JSONKey, JSONNode)] {
        members.map { (document.key(at: $0.value.index - 1), $0.value) }
    }
}

extension JSONDocument {
    /// The text of the string or key at `index`.
    fileprivate func key(at index: Int) -> JSONKey {
        bytes.withUnsafeBufferPointer { JSONKey(tape[index], in: $0) }
    }
}
