import Glibc
import PushModel

extension StateDirectory {
    /// The bytes of a new ledger and the first segment of its log.
    private static let least = 2 << 20

    /// Returns how much room a start needs to apply the whole log, and how much there is; `nil` if there is enough.
    public static func shortage(in directory: String) -> String? {
        var facts = statvfs()
        guard statvfs(directory, &facts) == 0 else { return nil }
        let free = Int(facts.f_bavail) * Int(facts.f_frsize)
        let log = try? LogDirectory(reading: directory, state: UUID128(high: 0, low: 0))?.length()
        // A log of 24 MiB took 45 MiB of WAL, beside a longer ledger.
        let needed = least + 3 * Int(log ?? 0)
        guard free < needed else { return nil }
        return "; \(needed >> 20) MiB free are enough, and \(free >> 20) MiB are free"
    }
}
