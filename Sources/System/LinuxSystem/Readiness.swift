import CLinux
public import Glibc

/// Waits until one of several descriptors is ready, or the time is over; on any thread.
///
/// - Parameters:
///   - descriptors: what is waited for; what is ready is in `revents` afterwards.
///   - nanoseconds: how long at most; `nil`: without end.
/// - Returns: whether one is ready. A signal ends the wait, too.
@discardableResult
public func waitUntilReady(_ descriptors: inout [pollfd], nanoseconds: Int64?) -> Bool {
    let count = descriptors.count
    let ready = CLinux_poll(&descriptors, UInt(count), nanoseconds.map { max(0, $0) } ?? -1)
    // Whatever ended the wait, what it left behind is not to be taken for news.
    if ready <= 0 { for index in descriptors.indices { descriptors[index].revents = 0 } }
    return ready > 0
}
