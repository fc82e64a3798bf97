import PushModel
import Store

/// The receipt of an erasure or of a dry run: the erased data, and the places with data that stays.
struct Erasure {
    var receipt: ErasureReceipt
    /// Whether the rows were erased.
    var isDone = true
    /// Whether machines share the log of the ledger.
    var isShared = false
    /// Why old pages are still in the files; `nil`: nothing is left.
    var waitsFor: String?

    private var sharesLog: Bool { isShared || receipt.batch != nil }

    /// - Parameter setAside: set-aside directories, which an erasure does not reach.
    func text(_ setAside: [String]) -> String {
        let verb = isDone ? "Erased" : "Would be erased"
        var lines = [
            "\(verb): the data of the person in \(counted(receipt.requests, "request")), "
                + "\(counted(receipt.events, "event")), \(counted(receipt.entries, "entry", "entries")) of custom data, "
                + "\(counted(receipt.attributes, "attribute")), \(counted(receipt.states, "row")) of sessions and devices."
        ]
        if let waitsFor {
            lines.append("Old pages are still in the files of the ledger: \(waitsFor). The daemon tries again.")
        }
        if receipt.othersOnDevices > 0 {
            let requests = counted(receipt.othersOnDevices, "request")
            lines.append("Kept for other users on the same devices: \(requests).")
        }
        if receipt.entriesSent > 0 {
            let entries = counted(receipt.entriesSent, "entry", "entries")
            lines.append("The endpoint of custom data has \(entries) of the person: delete the person there, too.")
        }
        if sharesLog {
            let (batches, place) =
                receipt.batch.map { ("batches up to \($0)", "at batch \($0) too") }
                ?? ("batches about the person, if there are any", "too, at the batch of the order")
            lines.append(
                "The shared log: \(batches), and earlier snapshots, hold data of the person until the database has "
                    + "two later snapshots, and deletes all earlier data. Other machines erase \(place)."
            )
            lines.append("Not reached: the WAL archive, standbys that are stopped, and backups of PostgreSQL.")
        }
        lines.append(
            "Not reached: the journal (journalctl -u pushrouterd), backups (pushctl backup) and exports (pushctl export)."
        )
        for path in setAside { lines.append("Not reached: \(path)") }
        return lines.map { $0 + "\n" }.joined()
    }

    func json(_ setAside: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("erased", isDone)
            for count in ErasureReceipt.counts { writer.member(count.name, receipt[keyPath: count.value]) }
            if let batch = receipt.batch { writer.member("batch", Int64(batch)) }
            writer.member("complete", isDone && waitsFor == nil)
            writer.member("waits_for", waitsFor)
            writer.member(
                "stays",
                array: { list in
                    let stays = ["journal", "backups", "exports"]
                    let shared = ["batches", "snapshots", "wal_archive", "postgresql_standbys", "postgresql_backups"]
                    for name in stays + (sharesLog ? shared : []) { list.string(name) }
                })
            writer.member("set_aside", array: { list in setAside.forEach { list.string($0) } })
        }
        return writer.bytes
    }
}

extension Erasure {
    /// Reads the daemon's answer.
    init(_ reply: JSONNode) {
        var receipt = ErasureReceipt()
        for count in ErasureReceipt.counts { receipt[keyPath: count.value] = Int(reply[count.name]?.int64 ?? 0) }
        receipt.batch = reply["batch"]?.int64.flatMap { UInt64(exactly: $0) }
        self.init(receipt: receipt, waitsFor: reply["waits_for"]?.string)
    }
}
