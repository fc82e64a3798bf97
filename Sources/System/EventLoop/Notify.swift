import CSystemd
import Glibc

/// Tells the service manager how the service is doing (sd_notify). Without one, and when it does not listen,
/// nothing happens: a service must not fail for that. The watchdog is the loop's: ``EventLoop/enableWatchdog()``.
///
/// The environment stays as it is, because each call reads `NOTIFY_SOCKET` anew, and the watchdog's do too:
/// whoever spawns children leaves ``environmentVariables`` out of theirs.
public enum Notify {
    /// What the service manager gave this process alone: no child should inherit it.
    public static let environmentVariables = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"]

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

    private static func send(_ assignments: [String]) -> Bool {
        sd_notify(0, assignments.joined(separator: "\n")) > 0
    }
}
