extension FanOut: StoredRecord {
    // devices: the numbers of devices, separated by a space; NULL once all deliveries are made.
    public static let table = LedgerTable(
        "fan_outs",
        [
            .integer("seq"), .integer("members"), .integer("made"), .integer("left_out"), .text("devices").orNull,
        ])

    public func write(to row: inout RowWriter) {
        row.add(seq, members, progress)
        row.add(devices.isEmpty ? nil : devices.map { String($0.value) }.joined(separator: " "))
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (seq, members, progress) = try row.next()
        let text: String? = try row.next()
        devices = []
        for number in text?.utf8.split(separator: 0x20) ?? [] {
            guard let value = Int64(String(decoding: number, as: UTF8.self)), StoredRange.number.contains(value) else {
                throw row.unreadable("the numbers of devices cannot be read")
            }
            devices.append(SequenceNumber(value))
        }
    }
}

extension FanOut.Progress: StoredValue {
    public static var count: Int { 2 }

    public func write(to row: inout RowWriter) { row.add(made, leftOut) }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init()
        (made, leftOut) = try row.next()
    }
}
