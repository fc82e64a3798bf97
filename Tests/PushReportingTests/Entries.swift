@testable import PushModel

/// A stored custom event with some fields set.
func entry(
    _ number: Int64, _ state: EntryState = .pending, destination: EntryDestination = .stored(suite: "standard"),
    name: String? = "bought", data: String = "{}", user: String? = nil, savedAt: Int64 = 0, reason: String? = nil
) -> EntryRecord {
    EntryRecord(
        entry: CustomEntry(
            number: EntryNumber(number), cause: SequenceNumber(number * 10),
            kind: name == nil ? .customAttributes : .customEvent, destination: destination, platform: .android,
            app: "shop",
            device: nil, externalID: user, name: name, data: Array(data.utf8),
            time: WallTime(milliseconds: savedAt - 5), savedAt: WallTime(milliseconds: savedAt)),
        state: state, reason: reason)
}
