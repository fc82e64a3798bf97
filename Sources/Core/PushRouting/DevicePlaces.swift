import PushModel

/// The indices of the known devices by their numbers, for many look-ups.
struct DevicePlaces {
    private var entries: [(number: SequenceNumber, place: UInt32)]

    /// - Parameter entries: the number and the index of each device, in any order.
    init(_ entries: [(number: SequenceNumber, place: UInt32)]) {
        // After a start the devices lie in this order.
        self.entries = entries.sorted { $0.number < $1.number }
    }

    /// Returns the index of the device with a number; `nil`: it is not known any more.
    subscript(number: SequenceNumber) -> UInt32? {
        var (first, end) = (0, entries.count)
        while first < end {
            let middle = (first + end) / 2
            if entries[middle].number < number { first = middle + 1 } else { end = middle }
        }
        return first < entries.count && entries[first].number == number ? entries[first].place : nil
    }
}
