import Glibc
import TestSupport
import Testing

/// A daemon whose state is on a faulty disk, and what is needed to start it again and again.
final class DaemonOnDisk {
    let installation: Installation
    let disk: FaultyDisk
    private(set) var daemon: DaemonProcess?
    /// What was done to it, for the person who looks for the reason of a loss.
    var history: [String] = []

    /// - Parameters:
    ///   - settings: the text of `pushrouterd.conf`.
    ///   - seed: decides what the disk loses.
    init(_ settings: String = "", seed: UInt64) {
        // In a directory on the disk, so that its own name can be lost too.
        installation = Installation(settings, stateFolder: "disk/state")
        DiskRequests.addRoutes(to: installation)
        mkdir(installation.root + "/disk", 0o755)
        disk = FaultyDisk(installation.root + "/disk", platterAt: installation.root + "/platter", seed: seed)
    }

    /// Whether the file system can write past its page cache, and what it wants for that.
    func chooseTransfers(_ generator: inout SeededGenerator) {
        disk.directAlignment = [4096, 512, 0].randomElement(using: &generator) ?? 0
    }

    /// Starts the daemon and waits until it is ready.
    ///
    /// - Parameter environment: what it has beside the disk's.
    func start(environment: [String] = []) throws {
        if let end = try startUnlessItEnds(environment: environment) {
            throw DiskFailure("it ended (\(end)) before it was ready: \(lastWords)")
        }
    }

    /// Starts the daemon and waits until it is ready, or has ended.
    ///
    /// - Returns: how it ended; `nil` when it is ready.
    func startUnlessItEnds(environment: [String] = []) throws -> Program.End? {
        let daemon = DaemonProcess(installation, environment: disk.environment + environment)
        self.daemon = daemon
        do throws(DaemonFailure) {
            try daemon.waitForNotification("READY=1")
            history.append("started")
            return nil
        } catch {
            guard let end = daemon.end else { throw error }
            // The one before was killed while it started a handler, and that child has lock and sockets until it is exec'd.
            if end == .exited(69) || end == .exited(73), history.last != "too early" {
                history.append("too early")
                usleep(100_000)
                return try startUnlessItEnds()
            }
            history.append("ended (\(end)) before it was ready")
            return end
        }
    }

    /// Whether the daemon has not ended yet.
    var isAlive: Bool { daemon.map { EndToEndTests.isAlive($0.processID) } ?? false }

    /// The end of what it wrote to standard error.
    var lastWords: String { daemon?.standardError.split(separator: "\n").suffix(3).joined(separator: "\n") ?? "" }

    /// Kills the daemon and cuts the power.
    ///
    /// - Parameter chance: of 1000, that something reaches the platter at the last moment.
    func cutPower(sparing chance: Int = 0) throws {
        crash()
        try disk.cutPower(sparing: chance)
        history.append("power cut, sparing \(chance) of 1000")
    }

    /// Kills the daemon, and leaves the disk as it is.
    func crash() {
        // Also when it is about to end by itself: until it is gone the state directory is locked.
        guard let daemon, daemon.end == nil else { return }
        disk.betweenChanges(while: { isAlive }, daemon.crash)
        history.append("kill -9")
    }

    /// Waits until it has ended by itself.
    func waitForEnd() throws -> Program.End { try #require(daemon).waitForEnd() }

    /// Asks it to end and waits until it has.
    func stop() throws -> Program.End { try #require(daemon).stop() }
}
