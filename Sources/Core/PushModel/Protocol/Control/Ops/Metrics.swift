extension ControlOp {
    static let metrics = ControlOp("metrics", [.format], readOnly: "metrics") { reader throws(ProtocolError) in
        .metrics(try reader.word(.format, MetricsFormat.self) ?? .openMetrics)
    }
}
