import CLinux
public import Glibc

/// Waits until one of several descriptors is ready, or the time has passed; on any thread.
///
/// - Parameters:
///   - descriptors: the descriptors to wait for; `revents` has the ready events afterwards.
///   - nanoseconds: the longest wait; `nil` means no limit.
/// - Returns: whether one is ready. A signal ends the wait, too.
@discardableResult
public func waitUntilReady(_ descriptors: inout [pollfd], nanoseconds: Int64?) -> Bool {
    let count = descriptors.count
    let ready = CLinux_poll(&descriptors, UInt(count), nanoseconds.map { max(0, $0) } ?? -1)
    // After a failure or a timeout, `revents` may have old values.
    if ready <= 0 { for index in descriptors.indices { descriptors[index].revents = 0 } }
    return ready > 0
}
