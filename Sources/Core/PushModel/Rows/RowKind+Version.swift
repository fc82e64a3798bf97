extension RowKind {
    /// The version of batches since which the kind is there: who reads lower ones stops at it.
    ///
    /// A kind that is added later names its version here, the one after the highest: the daemon writes it once all copies of a
    /// chain read that.
    public var since: Int {
        switch self {
        case .fanOut, .fanOutProgress: 2
        default: 1
        }
    }
}

extension Operation {
    /// The version of batches since which requests have it.
    var since: Int {
        switch self {
        case .deliver, .interact, .session, .token, .log: 1
        case .topic, .publish, .device: 2
        }
    }
}

extension KnownDevice {
    /// The version of batches since which a row has all that is known of it.
    var since: Int { token != nil || hasDetail ? 2 : 1 }
}
