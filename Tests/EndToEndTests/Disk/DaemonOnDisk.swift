import Glibc
import TestSupport
import Testing

/// A daemon whose state is on a faulty disk; it can be started repeatedly.
final class DaemonOnDisk {
    let installation: Installation
    let disk: FaultyDisk
    private(set) var daemon: DaemonProcess?
    /// The events so far, for the analysis of a loss.
    var history: [String] = []

    /// - Parameters:
    ///   - settings: the text of `pushrouterd.conf`.
    ///   - seed: the seed of the disk's choice of what is lost.
    init(_ settings: String = "", seed: UInt64) {
        // A subdirectory of the disk, so that the directory's own name can be lost too.
        installation = Installation(settings, stateFolder: "disk/state")
        DiskRequests.addRoutes(to: installation)
        mkdir(installation.root + "/disk", 0o755)
        disk = FaultyDisk(installation.root + "/disk", platterAt: installation.root + "/platter", seed: seed)
    }

    /// Chooses whether the file system allows direct transfers, and their alignment.
    func chooseTransfers(_ generator: inout SeededGenerator) {
        disk.directAlignment = [4096, 512, 0].randomElement(using: &generator) ?? 0
    }

    /// Starts the daemon and waits until it is ready.
    ///
    /// - Parameter environment: variables beside the disk's.
    func start(environment: [String] = []) throws {
        if let end = try startUnlessItEnds(environment: environment) {
            throw DiskFailure("it ended (\(end)) before it was ready: \(lastWords)")
        }
    }

    /// Starts the daemon and waits until it is ready or has ended.
    ///
    /// - Returns: its end; `nil` when it is ready.
    func startUnlessItEnds(environment: [String] = []) throws -> Program.End? {
        let daemon = DaemonProcess(installation, environment: disk.environment + environment)
        self.daemon = daemon
        do throws(DaemonFailure) {
            try daemon.waitForNotification("READY=1")
            history.append("started")
            return nil
        } catch {
            guard let end = daemon.end else { throw error }
            // The daemon before was killed while it started a handler: the child keeps lock and sockets until its exec.
            if end == .exited(69) || end == .exited(73), history.last != "too early" {
                history.append("too early")
                usleep(100_000)
                return try startUnlessItEnds()
            }
            history.append("ended (\(end)) before it was ready")
            return end
        }
    }

    /// Whether the daemon is still running.
    var isAlive: Bool { daemon.map { EndToEndTests.isAlive($0.processID) } ?? false }

    /// The last lines of standard error.
    var lastWords: String { daemon?.standardError.split(separator: "\n").suffix(3).joined(separator: "\n") ?? "" }

    /// Kills the daemon and cuts the power.
    ///
    /// - Parameter chance: the chance in 1000 that dirty data reaches the platter at the last moment.
    func cutPower(sparing chance: Int = 0) throws {
        crash()
        try disk.cutPower(sparing: chance)
        history.append("power cut, sparing \(chance) of 1000")
    }

    /// Kills the daemon and leaves the disk unchanged.
    func crash() {
        // Even a daemon about to end is killed: it locks the state directory until its end.
        guard let daemon, daemon.end == nil else { return }
        disk.betweenChanges(while: { isAlive }, daemon.crash)
        history.append("kill -9")
    }

    /// Waits until the daemon has ended by itself.
    func waitForEnd() throws -> Program.End { try #require(daemon).waitForEnd() }

    /// Sends SIGTERM and waits for the end.
    func stop() throws -> Program.End { try #require(daemon).stop() }
}
