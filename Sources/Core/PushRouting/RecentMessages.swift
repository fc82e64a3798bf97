import PushModel

/// The ids of the last messages that FCM on one device saw: it drops a message whose id is among them.
///
/// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.alreadyReceivedMessage: at most ten, the oldest
/// goes first; a dropped message leaves the list as it is. The list is a static of the process and ends with it.
struct RecentMessages: Sendable {
    private static let capacity = 10

    /// Hashes, oldest first: ids are long and devices are many.
    private var hashes: [Int] = []

    /// Adds the id of a message.
    ///
    /// - Returns: whether the list had it already.
    mutating func see(_ id: String) -> Bool {
        var hasher = Hasher()
        var bytes = id
        // Hashes bytes, as Java compares: to `String` two spellings of one letter are equal.
        bytes.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        let hash = hasher.finalize()
        if hashes.contains(hash) { return true }
        if hashes.count == Self.capacity { hashes.removeFirst() }
        hashes.append(hash)
        return false
    }
}
