extension FanOut: StoredRecord {
    // rest has the numbers of devices, with a space between them; NULL: all deliveries are made.
    public static let table = LedgerTable(
        "fan_outs",
        [
            .integer("seq"), .integer("members"), .integer("made"), .integer("left_out"), .text("rest").orNull,
        ])

    public func write(to row: inout RowWriter) {
        row.add(seq, members, made, leftOut)
        row.add(rest.isEmpty ? nil : rest.map { String($0.value) }.joined(separator: " "))
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (seq, members, made, leftOut) = try row.next()
        let text: String? = try row.next()
        rest = []
        for number in text?.utf8.split(separator: 0x20) ?? [] {
            guard let value = Int64(String(decoding: number, as: UTF8.self)), StoredRange.number.contains(value) else {
                throw row.unreadable("these are no numbers of devices")
            }
            rest.append(SequenceNumber(value))
        }
    }
}
