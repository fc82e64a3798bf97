import DBus
import Glibc
import LinuxSystem

/// The log level, and its D-Bus interface for "systemctl service-log-level pushrouterd": `org.freedesktop.LogControl1`
/// on the system bus. Without a bus the daemon runs without the interface.
final class LogLevels {
    /// The daemon's name on the system bus: `BusName=` of the unit, and the policy file of the package.
    private static let busName = "dev.pushrouterd"

    private let journal: JournalWriter
    private let loop: EventLoop
    private var service: LogControlService?
    private var source: IOSource?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - loop: watches the bus.
    ///   - journal: the journal whose level it is.
    init(loop: EventLoop, journal: JournalWriter) {
        self.loop = loop
        self.journal = journal
    }

    /// The current level.
    var level: JournalEntry.Priority { journal.level }

    /// Sets the level until the daemon ends.
    func set(_ level: JournalEntry.Priority) {
        guard level != journal.level else { return }
        let message = "the log level is \(level.word) from now on; it was \(journal.level.word)"
        journal.level = level
        journal.log(JournalEntry(.notice, message, isWrittenAlways: true))
    }

    /// Connects to the system bus if a service manager started the daemon, or the environment names a bus.
    func begin() {
        guard getenv("INVOCATION_ID") != nil || getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil else { return }
        do throws(SystemError) {
            // `unowned` is safe here and below: this object owns service, source and timer.
            let log = LogControlService.Log(
                levels: JournalEntry.Priority.allCases.map(\.word), level: { [unowned self] in level.word },
                setLevel: { [unowned self] word in JournalEntry.Priority(word: word).map { set($0) } },
                target: journal.isOnTerminal ? "console" : "journal", identifier: "pushrouterd")
            let service = try LogControlService(
                address: LogControlService.systemAddress, name: Self.busName, log: log)
            self.service = service
            source = try IOSource(loop: loop, descriptor: service.descriptor, interest: .read) { [unowned self] _ in
                take()
            }
            timer = try TimerSource(loop: loop) { [unowned self] in take() }
            watch()
        } catch {
            end(error.description)
        }
    }

    private func take() {
        guard let service else { return }
        if let reason = service.process() { return end(reason) }
        watch()
    }

    private func watch() {
        guard let service else { return }
        // The bits of poll(2) and epoll_ctl(2) are the same for reading and writing.
        source?.interest = IOEvents(rawValue: service.events).intersection([.read, .write])
        if let due = service.dueNanoseconds { timer?.arm(at: due) } else { timer?.disarm() }
    }

    private func end(_ reason: String) {
        source = nil
        timer = nil
        service = nil
        let message = "\"systemctl service-log-level\" cannot reach the daemon, \"pushctl log-level\" can: \(reason)"
        journal.log(JournalEntry(.info, message))
    }
}
