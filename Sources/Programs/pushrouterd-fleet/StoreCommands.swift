import PostgreSQL
import PushFleet
import PushModel
import PushSettings
import SettingsFiles

/// The commands for the database of a fleet.
enum StoreCommands {
    /// The options that ask for one of them, in place of the daemon.
    static let flags: Set<String> = ["--init", "--status", "--json"]

    /// Carries out the one that is asked for.
    ///
    /// - Returns: the exit status; `nil`: the daemon is to run.
    static func run(_ flags: Set<String>, _ options: LoadedConfiguration) throws -> Int32? {
        guard !flags.isEmpty else { return nil }
        guard flags == ["--init"] || flags.subtracting(["--json"]) == ["--status"] else {
            throw StartFailure("give --init, or --status with or without --json", exitStatus: StartFailure.usage)
        }
        guard let database = options.settings.store.shared.database else {
            throw StartFailure("[Store] Log= names no database", exitStatus: StartFailure.configuration)
        }
        do throws(EngineProblem) {
            let address = try ConnectionString(database)
            if flags == ["--init"] {
                let state = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
                let made = try FleetDatabase.initialise(address, state: state)
                print("fleet \(made.fleet) is set up; start pushrouterd-fleet on each machine")
            } else {
                let status = try FleetDatabase.status(address)
                print(flags.contains("--json") ? status.json : text(status), terminator: "")
            }
            return 0
        } catch {
            throw StartFailure("[Store] Log=: \(error)", exitStatus: StartFailure.unavailable)
        }
    }

    private static func text(_ status: FleetStatus) -> String {
        let engine = status.engine
        let names = engine.standbyNames.isEmpty ? "none: Durability=standby acknowledges nothing" : engine.standbyNames
        var lines = [
            "fleet          \(status.fleet)",
            "PostgreSQL     \(engine.version); synchronous standbys: \(names)",
            "batches        \(status.batchesSize >> 20) MiB",
        ]
        lines += status.standbys.map { "standby        \($0.name): \($0.state ?? "?"), \($0.sync ?? "?")" }
        if !engine.fsync || !engine.fullPageWrites {
            lines.append("warning        fsync or full_page_writes is off: a power cut may lose what was acknowledged")
        }
        if abs(engine.clockAhead.milliseconds) > 1000 {
            lines.append("warning        its clock is \(engine.clockAhead.milliseconds) ms ahead of this machine's")
        }
        for shard in status.shards {
            let leader = shard.lease.owner?.node ?? "nobody"
            let tail = shard.tail.reference.number
            lines.append(
                "shard \(shard.number)        \(leader) leads, term \(shard.lease.epoch); \(tail) batches, the last one "
                    + "\(shard.age.milliseconds) ms old")
            for copy in shard.copies {
                lines.append(
                    "copy           \(copy.node): \(tail - min(tail, copy.applied)) batches behind "
                        + "\(copy.age.milliseconds) ms ago")
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
