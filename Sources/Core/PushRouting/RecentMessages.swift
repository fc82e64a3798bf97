import PushModel

/// The ids that FCM on one device saw last: it drops a message whose id is among them.
///
/// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.alreadyReceivedMessage: at most ten, the oldest goes
/// first, one that is dropped changes nothing; a static of the process, so gone with it.
struct RecentMessages: Sendable {
    private static let capacity = 10

    /// Hashes, oldest first: ids are long and devices are many.
    private var hashes: [Int] = []

    /// Notes that a message came.
    ///
    /// - Returns: whether it is a repeat.
    mutating func see(_ id: String) -> Bool {
        var hasher = Hasher()
        var bytes = id
        // By bytes, as Java compares: to `String` two spellings of one letter are equal.
        bytes.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        let hash = hasher.finalize()
        if hashes.contains(hash) { return true }
        if hashes.count == Self.capacity { hashes.removeFirst() }
        hashes.append(hash)
        return false
    }
}
