extension ControlOp {
    static let peek = ControlOp("peek", [.after, .limit], readOnly: "peek") { reader throws(ProtocolError) in
        .peek(
            after: EntryNumber(try reader.integer(.after, in: 0...Int64.max)),
            limit: Int(try reader.integer(.limit, in: ClaimRequest.limits)))
    }
}
