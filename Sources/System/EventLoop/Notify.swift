import CSystemd
import Glibc
import LinuxSystem
import Synchronization

/// Tells the service manager how the service is doing, as sd_notify(3) does. Without one, and when it does not listen,
/// nothing happens: a service must not fail for that. The watchdog is the loop's: ``EventLoop/answerWatchdog()``.
///
/// Nothing here waits, as sd_notify would for a service manager that does not read: a message without room is sent before the
/// next one.
///
/// The environment stays as it is, because each call reads `NOTIFY_SOCKET` anew, and the watchdog's do too. A handler does
/// not inherit it.
public enum Notify {
    /// Start-up, or a reload, is finished.
    ///
    /// - Parameter status: what `systemctl status` shows from now on.
    /// - Returns: whether there is a service manager that was told.
    @discardableResult
    public static func ready(status: String) -> Bool { send(["READY=1", line(status)]) }

    /// What `systemctl status` shows from now on.
    ///
    /// - Returns: whether there is a service manager that was told.
    @discardableResult
    public static func status(_ status: String) -> Bool { send([line(status)]) }

    /// A reload begins; ``ready(status:)`` ends it. The time lets `Type=notify-reload` tell it from an older one.
    ///
    /// - Parameter nowNanoseconds: `CLOCK_MONOTONIC` now.
    /// - Returns: whether there is a service manager that was told.
    @discardableResult
    public static func reloading(nowNanoseconds: Int64) -> Bool {
        send(["RELOADING=1", "MONOTONIC_USEC=\(nowNanoseconds / 1000)"])
    }

    /// The service is about to end.
    ///
    /// - Parameter status: what `systemctl status` shows from now on.
    /// - Returns: whether there is a service manager that was told.
    @discardableResult
    public static func stopping(status: String) -> Bool { send(["STOPPING=1", line(status)]) }

    /// Asks the service manager to wait longer for the start, or the stop, that goes on.
    ///
    /// - Parameter seconds: for how long from now on.
    /// - Returns: whether there is a service manager that was told.
    @discardableResult
    public static func extendTimeout(seconds: Int) -> Bool { send(["EXTEND_TIMEOUT_USEC=\(seconds)000000"]) }

    /// Answers the watchdog, for a loop that waits for the disk and cannot; on any thread.
    ///
    /// - Returns: whether there is a service manager that was told.
    @discardableResult
    public static func watchdog() -> Bool { send(["WATCHDOG=1"]) }

    /// A line feed would begin another assignment.
    private static func line(_ status: String) -> String {
        "STATUS=" + String(status.map { $0.isNewline ? " " : $0 })
    }

    /// Messages that there was no room for, the oldest first.
    private static let unsent = Mutex<[String]>([])
    private static let unsentMax = 16

    private static func send(_ assignments: [String]) -> Bool {
        guard let place = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }),
            let socket = FileDescriptor(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        else { return false }
        return unsent.withLock { unsent in
            unsent.append(assignments.joined(separator: "\n"))
            while let message = unsent.first {
                let error = send(message, to: place, over: socket.rawValue)
                if error == EAGAIN || error == ENOBUFS {
                    if unsent.count > unsentMax { unsent.removeFirst() }
                    return false
                }
                unsent.removeFirst()
                if error != 0 { return false }
            }
            return true
        }
    }

    /// - Returns: 0, or the error number.
    private static func send(_ message: String, to place: String, over socket: Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // unix(7): an abstract name begins with NUL, a path ends with it.
        let isAbstract = place.hasPrefix("@")
        let name = (isAbstract ? [0] + place.utf8.dropFirst() : Array(place.utf8)) + (isAbstract ? [] : [0])
        guard name.count <= MemoryLayout.size(ofValue: address.sun_path), place.hasPrefix("/") || isAbstract else {
            return EINVAL
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                retryingInterrupts {
                    sendto(socket, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address, length)
                }
            }
        }
        return sent < 0 ? errno : 0
    }
}
