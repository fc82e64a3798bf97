extension RowKind {
    /// The version of batches that introduced the kind: a reader of lower versions stops at it.
    ///
    /// A new kind gets the version after the highest here. The daemon writes it once all copies of a chain read that
    /// version.
    public var since: Int {
        switch self {
        case .fanOut, .fanOutProgress: 2
        case .configuration: 3
        default: 1
        }
    }
}

extension Operation {
    /// The version of batches that introduced the operation of a request.
    var since: Int {
        switch self {
        case .deliver, .interact, .session, .token, .log: 1
        case .topic, .publish, .device: 2
        }
    }
}

extension KnownDevice {
    /// The lowest version of batches whose rows have all facts of the device.
    var since: Int { token != nil || hasDetail ? 2 : 1 }
}
