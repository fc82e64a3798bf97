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
        guard let numbers = text.map(Self.numbers) ?? [] else {
            throw row.unreadable("the numbers of devices cannot be read")
        }
        devices = numbers
    }

    /// Parses the numbers of devices. A start may read a million of them, so no number becomes a text of its own.
    private static func numbers(in text: String) -> [SequenceNumber]? {
        var numbers: [SequenceNumber] = []
        var value: Int64?
        func append() -> Bool {
            guard let number = value, StoredRange.number.contains(number) else { return value == nil }
            numbers.append(SequenceNumber(number))
            value = nil
            return true
        }
        for byte in text.utf8 {
            if byte == 0x20 {
                guard append() else { return nil }
            } else {
                guard byte.isDigit, value ?? 0 < Int64.max / 10 else { return nil }
                value = (value ?? 0) * 10 + Int64(byte - 0x30)
            }
        }
        return append() ? numbers : nil
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
