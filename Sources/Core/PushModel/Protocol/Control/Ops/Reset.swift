extension ControlOp {
    static let reset = ControlOp("reset", [.suite, .app]) { reader throws(ProtocolError) in
        .reset(suite: try reader.requiredName(.suite), app: try reader.name(.app))
    }
}
