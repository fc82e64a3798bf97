import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

/// Collects facts about the gateway and the backups for the metrics. Safe on any thread.
struct OtherPrograms: Sendable {
    /// The path of the gateway's Unix socket.
    var gatewaySocket = Directories.standardGatewaySocket
    /// The directory of the backups.
    var backups = Directories.standardBackups

    /// Returns the daemon's metrics with those of the other programs. A program that does not answer is no error of the
    /// whole.
    func metrics(behind daemon: String, _ format: MetricsFormat) -> String {
        let now = WallTime(milliseconds: SystemClock.wallMilliseconds)
        return OpenMetrics.text(
            daemon, with: ProgramMetrics.facts(gateway: gateway, backups: made, at: now), as: format)
    }

    private var gateway: ProgramMetrics.Gateway {
        guard access(gatewaySocket, F_OK) == 0 else { return .absent }
        do {
            return .up(try GatewayStatusQuestion.ask(gatewaySocket, timeoutMilliseconds: DaemonSource.patience))
        } catch {
            return .down
        }
    }

    /// The number of backups, and when the newest one was made; `nil` without the directory.
    private var made: (count: Int, newest: WallTime?)? {
        do throws(StartFailure) {
            let times = try SmallFile.names(in: backups, suffix: BackupName.suffix).compactMap(BackupName.time)
            return (times.count, times.max())
        } catch {
            return nil
        }
    }
}
