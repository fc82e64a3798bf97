import CSystemd
import Glibc
import Synchronization

/// Reports the state of the service to the service manager, as sd_notify(3) does. A missing or deaf service manager is
/// no error: a service must not fail for that. The loop answers the watchdog: ``EventLoop/answerWatchdog()``.
///
/// No call waits, while sd_notify would block on a service manager that does not read. A message that finds no room is
/// sent before the next one.
///
/// The environment stays unchanged, because each call reads `NOTIFY_SOCKET` again, as sd_watchdog_enabled(3) does with
/// its variables. Handlers do not inherit it.
public enum Notify {
    /// Reports that the start, or a reload, is finished (READY=1).
    ///
    /// - Parameter status: the status text for `systemctl status`.
    /// - Returns: whether a service manager got the message.
    @discardableResult
    public static func ready(status: String) -> Bool { send(["READY=1", line(status)]) }

    /// Sets the status text for `systemctl status`.
    ///
    /// - Returns: whether a service manager got the message.
    @discardableResult
    public static func status(_ status: String) -> Bool { send([line(status)]) }

    /// Reports the begin of a reload, which ``ready(status:)`` ends. By the time, `Type=notify-reload` distinguishes
    /// reloads.
    ///
    /// - Parameter nowNanoseconds: `CLOCK_MONOTONIC` now.
    /// - Returns: whether a service manager got the message.
    @discardableResult
    public static func reloading(nowNanoseconds: Int64) -> Bool {
        send(["RELOADING=1", "MONOTONIC_USEC=\(nowNanoseconds / 1000)"])
    }

    /// Reports that the service is about to end (STOPPING=1).
    ///
    /// - Parameter status: the status text for `systemctl status`.
    /// - Returns: whether a service manager got the message.
    @discardableResult
    public static func stopping(status: String) -> Bool { send(["STOPPING=1", line(status)]) }

    /// Asks the service manager for more time for the present start or stop.
    ///
    /// - Parameter seconds: the time from now.
    /// - Returns: whether a service manager got the message.
    @discardableResult
    public static func extendTimeout(seconds: Int) -> Bool { send(["EXTEND_TIMEOUT_USEC=\(seconds)000000"]) }

    /// Answers the watchdog, for a loop that is blocked on the disk; on any thread.
    ///
    /// - Returns: whether a service manager got the message.
    @discardableResult
    public static func watchdog() -> Bool { send(["WATCHDOG=1"]) }

    /// Makes the status assignment, without line feeds, which would begin another assignment.
    private static func line(_ status: String) -> String {
        "STATUS=" + String(status.map { $0.isNewline ? " " : $0 })
    }

    /// The messages that found no room, the oldest first.
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

/// The sockets that the service manager passes at the start (sd_listen_fds(3)).
public enum InheritedSockets {
    /// Takes the sockets, each with its name from `FileDescriptorName=`. The caller owns them; a second call finds
    /// none.
    public static func take() -> [(name: String, descriptor: Int32)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        // 1 unsets the environment variables, so that no child takes the sockets for its own.
        let count = sd_listen_fds_with_names(1, &names)
        guard count > 0, let names else { return [] }
        defer {
            for index in 0..<Int(count) { free(names[index]) }
            free(names)
        }
        return (0..<count).map { index in
            (names[Int(index)].map { String(cString: $0) } ?? "", SD_LISTEN_FDS_START + index)
        }
    }

    /// Takes the socket of a program that listens on one; `nil` if there is none.
    ///
    /// - Throws: if there are several: the program would not answer on the others.
    public static func takeSingle() throws(SurplusSockets) -> Int32? {
        let all = take()
        guard all.count <= 1 else { throw SurplusSockets(count: all.count) }
        return all.first?.descriptor
    }
}

/// The error if the service manager passed more sockets than a program listens on.
public struct SurplusSockets: Error, Hashable, CustomStringConvertible {
    /// The number of sockets.
    public let count: Int

    /// The advice for people.
    public var description: String {
        "the service manager gave \(count) sockets, and this program takes one: keep one socket unit, with one "
            + "ListenStream="
    }
}
