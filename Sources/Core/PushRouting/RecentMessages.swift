import PushModel

/// The last message ids that FCM on one device saw: FCM drops a message whose id is among them.
///
/// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.alreadyReceivedMessage: at most ten ids, the
/// oldest is removed first, a dropped message changes nothing. The list is a static of the process, so it is lost with
/// the process.
struct RecentMessages: Sendable {
    private static let capacity = 10

    /// Hashes of the ids, the oldest first: ids are long and devices are many.
    private var hashes: [Int] = []

    /// Adds the id of a message.
    ///
    /// - Returns: whether the message is a repeat.
    mutating func receive(_ id: String) -> Bool {
        var hasher = Hasher()
        var bytes = id
        // Hashes the bytes, because Java compares code units: `String` treats two spellings of one letter as equal.
        bytes.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        let hash = hasher.finalize()
        if hashes.contains(hash) { return true }
        if hashes.count == Self.capacity { hashes.removeFirst() }
        hashes.append(hash)
        return false
    }
}
