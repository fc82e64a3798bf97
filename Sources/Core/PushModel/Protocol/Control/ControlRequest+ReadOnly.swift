extension ControlRequest.Operation {
    /// Whether it changes nothing, so that `read.sock` takes it too.
    public var changesNothing: Bool {
        switch self {
        case .status, .metrics, .sync, .peek, .logLevel(nil): true
        case .claim, .depart, .settle, .sending, .flush, .reset, .resolve, .replay, .purge, .erase, .reload,
            .logLevel(.some):
            false
        }
    }
}

extension ControlRequest {
    /// Lets a request of `read.sock` pass.
    ///
    /// - Throws: the error that the client is told of a request that changes something.
    public func checkReadOnly() throws(ProtocolError) {
        guard !operation.changesNothing else { return }
        throw ProtocolError(
            .unknownOperation, field: "op",
            message: "read.sock takes status, metrics, sync, peek and log_level without level; "
                + "\(operation.name.rawValue) is for control.sock",
            id: id)
    }
}
