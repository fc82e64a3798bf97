extension AttributeChange {
    /// What a field becomes; `nil`: it is no more. Until `core` is merged: only what needs no knowledge of its value.
    public func apply(to existing: [UInt8]?) -> [UInt8]? {
        switch self {
        case .set(let value): value
        case .remove: nil
        case .add, .drop, .increment: existing
        }
    }
}
