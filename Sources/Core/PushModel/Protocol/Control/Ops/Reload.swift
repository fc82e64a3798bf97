extension ControlOp {
    static let reload = ControlOp("reload") { _ in .reload }
}
