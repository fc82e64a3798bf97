extension RowKind {
    /// The highest version of batches that this program reads and writes.
    public static let newestVersion = allCases.map(\.since).max() ?? 1

    /// The version from which on subscriptions have rows of their own, and devices an owner.
    static let versionOfSubscriptions = RowKind.subscriptions.since

    /// The version of batches that introduced the kind: a reader of lower versions stops at it.
    ///
    /// A new kind gets the version after the highest here. The daemon writes it once all copies of a chain read that
    /// version.
    public var since: Int {
        switch self {
        case .fanOut, .fanOutProgress: 2
        case .configuration, .deviceFacts, .subscriptions: 3
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

extension FormerDeviceRow {
    /// The lowest version of batches whose rows have all facts of the device.
    var since: Int { device.token != nil || device.hasDetail ? 2 : 1 }
}
