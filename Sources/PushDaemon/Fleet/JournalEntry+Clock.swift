import LinuxSystem
import PushModel

extension JournalEntry {
    /// The entry for this machine's clock, which a pair does not use.
    init(_ change: ClockWatch.Change) {
        switch change {
        case .off(let ahead):
            let milliseconds = abs(ahead.milliseconds)
            let seconds = "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
            self.init(
                .warning,
                "this machine's clock is \(seconds) \(ahead > .zero ? "ahead of" : "behind") the database's, whose time counts: "
                    + "set the wrong clock right")
        case .right: self.init(.notice, "this machine's clock agrees with the database's again")
        }
    }
}
