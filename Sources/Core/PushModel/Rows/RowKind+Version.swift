extension RowKind {
    /// The first batch version with this kind; a reader of lower versions stops at a row of the kind.
    ///
    /// A new kind gets the version after the highest one: the daemon writes the kind once all copies of a chain read
    /// that version.
    public var since: Int {
        switch self {
        case .fanOut, .fanOutProgress: 2
        default: 1
        }
    }
}

extension Operation {
    /// The first batch version with requests of this operation.
    var since: Int {
        switch self {
        case .deliver, .interact, .session, .token, .log: 1
        case .topic, .publish, .device: 2
        }
    }
}

extension KnownDevice {
    /// The first batch version whose rows have all fields that are set.
    var since: Int { token != nil || hasDetail ? 2 : 1 }
}
