extension JSONNode {
    /// Whether both are equivalent: objects with the same members in any order, arrays in order, strings by their
    /// unescaped text, numbers by their literal (`1.0` is not `1`). Does not recurse.
    public func isEquivalent(to other: JSONNode) -> Bool {
        withView { one in other.withView { one.isEquivalent(to: $0) } }
    }
}

extension JSONView {
    fileprivate func isEquivalent(to other: JSONView) -> Bool {
        var pending = [(self, other)]
        while let (left, right) = pending.popLast() {
            guard left.kind == right.kind, left.count == right.count else { return false }
            switch left.kind {
            case .null: continue
            case .bool, .number: if !left.rawBytes.elementsEqual(right.rawBytes) { return false }
            case .string: if !left.jsonText.isSame(as: right.jsonText) { return false }
            case .array: pending.append(contentsOf: zip(left.elements, right.elements))
            case .object:
                for (key, value) in left.members {
                    guard let partner = key.withText({ right.member($0) }) else { return false }
                    pending.append((value, partner))
                }
            }
        }
        return true
    }
}
