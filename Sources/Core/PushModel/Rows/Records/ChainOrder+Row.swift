extension RowBuffer {
    /// Appends an order; the buffer must be empty.
    public func append(_ order: ChainOrder) {
        precondition(isEmpty, "an order is alone in its batch")
        switch order {
        case .prune(let slice): append(.pruning, slice)
        case .erase(let order): append(.erasure) { order.write(to: &$0) }
        }
    }
}

extension PruningSlice: StoredValue {
    public static var count: Int { 5 }

    public func write(to row: inout RowWriter) {
        row.add(cutoff?.stored, limit)
        row.add(deadLetters?.cutoff.stored, deadLetters?.byteCountMax, figures?.stored)
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (cutoff, limit) = try row.next()
        let (cutoff, byteCountMax, figures): (WallTime?, Int?, WallTime?) = try row.next()
        deadLetters =
            if let cutoff, let byteCountMax { DeadLetterLimits(cutoff: cutoff, byteCountMax: byteCountMax) } else {
                nil
            }
        self.figures = figures
    }
}

extension WallTime {
    /// The nearest time that a row may have. The effect is the same, since all stored times are within the limits.
    fileprivate var stored: WallTime {
        WallTime(
            milliseconds: min(max(milliseconds, StoredRange.time.lowerBound), StoredRange.time.upperBound))
    }
}

extension ErasureOrder {
    /// Writes the order; the devices come last, in any number.
    fileprivate func write(to row: inout RowWriter) {
        row.add(bound.request, bound.entry, person.externalID)
        for device in person.devices.map(\.text).sorted() { row.text(device) }
    }

    init(reading row: inout RowValues) throws(RowError) {
        let (request, entry, user): (SequenceNumber, EntryNumber, String?) = try row.next()
        var devices: [String] = []
        while !row.isAtEnd { devices.append(try row.next()) }
        self.init(
            person: Person(externalID: user, devices: devices), bound: ErasureBound(request: request, entry: entry),
            takesUndecided: true)
    }
}
