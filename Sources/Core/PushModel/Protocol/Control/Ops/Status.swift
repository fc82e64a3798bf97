extension ControlOp {
    static let status = ControlOp("status", readOnly: "status") { _ in .status }
}
