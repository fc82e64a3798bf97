extension ControlOp {
    static let logLevel = ControlOp("log_level", [.level], readOnly: "log_level without level") {
        reader throws(ProtocolError) in .logLevel(try reader.name(.level))
    }
}
