extension ControlOp {
    static let erase = ControlOp("erase", [.externalID, .device]) { reader throws(ProtocolError) in
        .erase(try Person(reader))
    }
}

extension Person {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        switch (try reader.name(.externalID), try reader.name(.device)) {
        case (let user?, nil): self.init(externalID: user)
        case (nil, let device?): self.init(externalID: nil, devices: [device])
        case (nil, nil): throw reader.missing(.externalID, ": give external_id or device")
        case (.some, .some): throw reader.invalid(.device, "give external_id or device, not both")
        }
    }

    func write(to writer: inout JSONWriter) {
        if let externalID {
            writer.member("external_id", externalID)
        } else if let device = devices.first {
            writer.member("device", device.text)
        }
    }
}
