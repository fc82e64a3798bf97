import EventLoop
import Synchronization

/// Keeps the service manager from losing patience with a start that has much to do, as long as it goes on.
final class StartProgress: Sendable {
    /// For how long each word of progress asks, in seconds; and after how many nanoseconds the next is said.
    private static let extensionSeconds = 30
    /// A migration of a ledger of many gigabytes is through in this time.
    private static let longSeconds = 600
    private static let interval: Int64 = 5_000_000_000
    private let saidAt = Mutex<Int64>(EventLoop.nowNanoseconds)

    /// Something begins that may take long and says nothing meanwhile; on any thread.
    func beginsLongWork() { Notify.extendTimeout(seconds: Self.longSeconds) }

    /// Something was done; on any thread.
    func goesOn() {
        let now = EventLoop.nowNanoseconds
        let isDue = saidAt.withLock { saidAt in
            guard now - saidAt >= Self.interval else { return false }
            saidAt = now
            return true
        }
        if isDue { Notify.extendTimeout(seconds: Self.extensionSeconds) }
    }
}
