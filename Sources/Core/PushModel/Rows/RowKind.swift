/// What a row of the log tells, and with that which values it has, in which order.
///
/// The raw values are on disk, in logs that a later version may have to read: a number never gets another meaning, and the
/// values of a kind never change, but for new ones at the end. 36 is given up.
public enum RowKind: UInt8, Sendable, CaseIterable {
    /// A new request; its invocations follow in the same batch.
    case request = 1
    /// A new invocation, decided or in flight.
    case invocation = 2
    /// An invocation in flight changed: the whole row as it is now.
    case invocationUpdate = 3
    /// An analytics event.
    case event = 4
    /// What is last known of a device; replaces what was known under its number.
    case device = 5
    /// A device that is no longer remembered.
    case forgottenDevice = 6
    /// A publish, and the devices that get it.
    case fanOut = 7
    /// The progress of a publish.
    case fanOutProgress = 8

    /// A delivery that the tracker takes over; its `Received` event is the event before it.
    case trackedDelivery = 16
    /// A tracked delivery was opened.
    case openedDelivery = 17
    /// A tracked delivery had its influenced open.
    case influencedDelivery = 18
    /// A delivery that the tracker no longer remembers.
    case forgottenDelivery = 19
    /// What became of an interaction.
    case interaction = 20
    /// A session; replaces what was known under its number.
    case session = 21
    /// A session that there is no need to know of any more.
    case forgottenSession = 22
    /// The latest session starts of a user; replaces what was known under their number.
    case starts = 23
    /// The session starts of a user that are no longer remembered.
    case forgottenStarts = 24
    /// A session start whose influenced opens are not decided yet.
    case pendingStart = 25
    /// The influenced opens of a session start are decided.
    case decidedStart = 26
    /// An interaction that waits for its delivery.
    case heldInteraction = 27
    /// An interaction waits no more.
    case settledInteraction = 28

    /// A new entry of custom data.
    case entry = 32
    /// An entry's state changed.
    case entryMove = 33
    /// A field of a profile is to change.
    case attribute = 34
    /// How sending goes.
    case sending = 35

    /// An attempt of a handler ended.
    case attempt = 40
    /// What the handler of the last attempt wrote to standard error.
    case output = 41
    /// An invocation became a dead letter.
    case deadLetter = 42
    /// The dead letters of a request are none any more.
    case noDeadLetters = 43

    /// A gap of the daemon is over.
    case gap = 48
    /// The daemon is alive.
    case lifeSign = 49

    /// A producer of a chain that several machines write has a number now: before its first request.
    case producer = 56
    /// Rows of requests that are too old or too many are taken out; alone in its batch.
    case pruning = 57
    /// Rows of a person are taken out; alone in its batch.
    case erasure = 58
}

/// How a value is written: one byte before it.
enum RowValueTag: UInt8 {
    case null = 0
    /// A whole number from 0 to 255, in one byte.
    case smallInteger = 1
    /// A whole number of 64 bits, the lowest byte first.
    case integer = 2
    /// A text of at most 255 bytes in UTF-8: its length in one byte, then the text.
    case shortText = 3
    /// A text: its length in four bytes, the lowest first, then the text.
    case text = 4
    /// Bytes: their number in four bytes, the lowest first, then the bytes.
    case bytes = 5
}
