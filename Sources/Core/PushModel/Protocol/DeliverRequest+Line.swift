extension JSONWriter {
    /// Writes the members of a `deliver` in the words that ``Request/init(line:limits:)`` reads, without those that
    /// have the default value. The payload keeps its spaces, on one line.
    public mutating func members(of deliver: DeliverRequest) {
        member(RequestKey.op.word, Operation.deliver.rawValue)
        members(of: deliver.target)
        if let transport = deliver.transport { member(RequestKey.transport.word, transport.rawValue) }
        if deliver.state != .background { member(RequestKey.state.word, deliver.state.rawValue) }
        if deliver.locked { member(RequestKey.locked.word, true) }
        if let version = deliver.osVersion { member(RequestKey.osVersion.word, version) }
        if deliver.notifications != .allowed {
            member(RequestKey.notifications.word, deliver.notifications.rawValue)
        }
        if deliver.sdk != .ready { member(RequestKey.sdk.word, deliver.sdk.rawValue) }
        if let id = deliver.messageID { member(RequestKey.messageID.word, id) }
        if let headers = deliver.headers { member(RequestKey.headers.word, raw: headers.onOneLine) }
        member(RequestKey.payload.word, raw: deliver.payload.onOneLine)
    }

    mutating func members(of target: Target) {
        if let platform = target.platform { member(RequestKey.platform.word, platform.rawValue) }
        if let app = target.app { member(RequestKey.app.word, app) }
        if let device = target.device { member(RequestKey.device.word, device) }
        if let user = target.externalID { member(RequestKey.externalID.word, user) }
    }
}

extension JSONNode {
    /// Its bytes with spaces in place of line feeds, which are white space between the tokens and never occur in
    /// strings. Most values have none: a publish copies its payload for each device.
    var onOneLine: ArraySlice<UInt8> {
        let bytes = rawBytes
        let hasLineFeed = bytes.withUnsafeBufferPointer { bytes in
            // Without an early end, so that the compiler compares many bytes at once.
            bytes.reduce(0 as UInt8) { $0 | ($1 == 0x0A || $1 == 0x0D ? 1 : 0) } != 0
        }
        return hasLineFeed ? bytes.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }[...] : bytes
    }
}
