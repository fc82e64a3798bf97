import Glibc
import LinuxSystem
import PostgreSQL
import PushDaemon
import PushModel
import PushSettings
import PushViews
import Store

/// The commands for the database of a fleet.
enum StoreCommands {
    /// The options of the commands that replace the daemon, and the options that each of them allows.
    private static let commands: [String: Set<String>] = [
        "--init": ["--ledger", "--adopt"], "--status": ["--json"], "--move": ["--to"],
        "--drain": ["--node", "--undo", "--force"], "--verify": [],
    ]
    /// The options with a value.
    static let others: Set<String> = ["--to", "--node", "--ledger"]
    /// The options without a value.
    static let flags = Set(commands.keys).union(commands.values.joined()).subtracting(others)

    /// Runs the command that the options name.
    ///
    /// - Returns: the exit status.
    static func run(_ arguments: ServiceArguments, _ options: LoadedConfiguration) throws -> Int32 {
        let given = arguments.flags.union(others.filter { arguments.values[$0] != nil })
        guard let (command, more) = commands.first(where: { given.contains($0.key) }),
            given.subtracting(more) == [command], !given.isSuperset(of: ["--ledger", "--adopt"])
        else {
            throw StartFailure("these options exclude each other: see --help", exitStatus: StartFailure.usage)
        }
        let settings = options.settings.store.shared
        if command == "--verify" { return verify(settings, options.sources) }
        guard let database = settings.database else {
            throw StartFailure("[Store] Log= names no database", exitStatus: StartFailure.configuration)
        }
        do {
            let address = try ConnectionString(database)
            if let order = order(command, arguments, node: nodeName(settings)) {
                return try StoreOrders.give(order, address, node: nodeName(settings))
            } else if let ledger = arguments.values["--ledger"] {
                try begin(address, with: ledger)
            } else if given.contains("--adopt") {
                let fleet = try FleetDatabase.adopt(address)
                print(
                    "the database has the fleet \(fleet) now; start each machine with an empty state directory: it "
                        + "reads its ledger from the database")
            } else if command == "--init" {
                let made = try FleetDatabase.initialise(address, state: FleetDatabase.newFleet())
                print("fleet \(made.fleet) is set up; start pushrouterd-fleet on each machine")
            } else {
                let status = try FleetDatabase.status(address)
                let findings = status.findings(needsStandby: settings.durability == .standby)
                print(given.contains("--json") ? status.json(findings) : text(status, findings), terminator: "")
                // As pushctl doctor: 1 says that a line is an error.
                return findings.contains { $0.severity == .error } ? 1 : 0
            }
            return 0
        } catch let error as EngineProblem {
            throw StartFailure("[Store] Log=: \(error)", exitStatus: StartFailure.unavailable)
        } catch let error as StoreError {
            throw StartFailure(error.description, exitStatus: error.exitStatus)
        }
    }

    /// Prints what is wrong with the address of the database.
    ///
    /// - Returns: the exit status, as that of `pushctl verify`.
    private static func verify(_ settings: SharedLogSettings, _ sources: ConfigurationSources) -> Int32 {
        do throws(EngineProblem) {
            if let database = settings.database { _ = try ConnectionString(database) }
            return 0
        } catch {
            let place = sources.place(of: "Log")
            print(Diagnostic(.error, file: place.file, line: place.line, message: "Log=: \(error)"))
            return 1
        }
    }

    private static func order(_ command: String, _ arguments: ServiceArguments, node: String) -> FleetOrder? {
        let node = arguments.values["--node"] ?? node
        return switch command {
        case "--move": .move(to: arguments.values["--to"])
        case "--drain" where arguments.flags.contains("--undo"): .undrain(node)
        case "--drain": .drain(node, isForced: arguments.flags.contains("--force"))
        default: nil
        }
    }

    /// Creates a fleet from the ledger of one machine.
    private static func begin(_ address: ConnectionString, with directory: String) throws {
        let first = try FirstLedger(
            in: directory, boot: bootID(), at: WallTime(milliseconds: SystemClock.wallMilliseconds)
        ) { UserName(of: $0).text(of: $0) }
        let fleet = FleetDatabase.newFleet()
        // Runs just before the database gets its name. Later, another fleet could be joined with this ledger meanwhile.
        // Earlier, the ledger could become a copy of a fleet that no database has.
        func join() throws(EngineProblem) {
            do throws(StoreError) {
                try first.join(fleet: fleet)
            } catch {
                throw EngineProblem(.failing, message: "\(error)")
            }
        }
        _ = try FleetDatabase.initialise(address, first.start, as: fleet, beforeName: join) { first.part($0) }
        print(
            """
            fleet \(fleet) is set up with the ledger in \(directory), which goes on as a copy; start pushrouterd-fleet on \
            each machine, and pushrouterd on none
            """)
    }

    /// `router-1 leads`
    private static func lead(_ shard: FleetStatus.Shard) -> String {
        guard let leader = shard.lease.owner?.node else { return "no machine leads" }
        guard let silence = shard.longSilence else { return "\(leader) leads" }
        return "no machine leads, \(leader) led until \(spanInWords(silence)) ago"
    }

    private static func text(_ status: FleetStatus, _ findings: [HealthFinding]) -> String {
        let engine = status.engine
        let names = engine.standbyNames.isEmpty ? "none" : engine.standbyNames
        var lines = [
            "fleet          \(status.fleet)",
            "PostgreSQL     \(engine.version); synchronous standbys: \(names)",
            "batches        \(status.batchesSize >> 10) KiB",
        ]
        lines += status.standbys.map { "standby        \($0.name): \($0.state ?? "?"), \($0.sync ?? "?")" }
        for shard in status.shards {
            let tail = shard.tail.reference.number
            let batches = tail == 0 ? "no batch yet" : "\(tail) batches, the last one \(shard.age.milliseconds) ms old"
            lines.append("shard \(shard.number)        \(lead(shard)), term \(shard.lease.epoch); \(batches)")
            if let successor = shard.lease.successor {
                lines.append("order          \(successor) is to lead: pushctl store move")
            }
            lines.append("log            begins with batch \(shard.first)")
            for stored in shard.snapshots {
                lines.append(
                    "snapshot       behind batch \(stored.snapshot.reference.number), "
                        + "\(stored.age.milliseconds / 1000) s old, \(stored.snapshot.length >> 10) KiB")
            }
            if shard.snapshots.isEmpty {
                lines.append("snapshot       none: a machine with an empty disk reads the whole log")
            }
            // Leaves out the copy of the leader, which was noted before it led.
            lines += shard.copies.filter { $0.node != shard.lease.owner?.node }.map { copy in
                "copy           \(StoreOrders.text(copy, tail: tail))\(StoreOrders.program(copy, shard))"
            }
        }
        for finding in findings where finding.severity != .fine {
            let word = finding.severity.rawValue
            let remedy = finding.remedy.map { "; do: \($0)" } ?? ""
            lines.append(word + String(repeating: " ", count: 15 - word.utf8.count) + finding.message + remedy)
        }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension FleetOrder {
    /// The administrative act, for the audit.
    fileprivate var subject: AuditRecord.Subject {
        switch self {
        case .move(let node): AuditRecord.Subject(.move, node.map { "to \($0)" })
        case .drain(let node, let isForced): AuditRecord.Subject(.drain, node + (isForced ? ", forced" : ""))
        case .undrain(let node): AuditRecord.Subject(.drain, "\(node), undone")
        }
    }
}

/// `pushctl store move` and `drain`: gives orders to the nodes, and prints the results.
enum StoreOrders {
    /// Gives an order, waits until it is carried out, and prints the result.
    ///
    /// - Returns: the exit status.
    static func give(
        _ order: FleetOrder, _ address: ConnectionString, node: String
    ) throws(StartFailure) -> Int32 {
        var act = AuditRecord(
            at: WallTime(milliseconds: SystemClock.wallMilliseconds), order.subject, .program, .done, uid: getuid(),
            pid: getpid(), node: node)
        // In the journal of this machine: the leader writes the row of an order alone.
        defer { JournalEntry(act).sendToJournal() }
        do throws(OrderFailure) {
            return printOutcome(try FleetDatabase.give(order, as: act, address), order)
        } catch .refused(.leads(let node), _) {
            print("\(node) leads already")
            return 0
        } catch {
            let text = text(error, order)
            (act.result, act.reason) = (.refused, text)
            throw StartFailure(text, exitStatus: StartFailure.unavailable)
        }
    }

    private static func printOutcome(_ outcome: OrderOutcome, _ order: FleetOrder) -> Int32 {
        switch outcome {
        case .handedOver(let change):
            let from = change.from ?? "nobody"
            print(
                "\(change.to) leads, term \(change.epoch), after \(change.took.milliseconds) ms; between the last batch "
                    + "of \(from) and the first of \(change.to) were \(change.gap.milliseconds) ms")
            if case .move(let wanted?) = order, wanted != change.to { return 1 }
        case .waits(let time):
            print(
                "the leader has not handed over within \(time.milliseconds / 1000) s: \"pushctl store status\" shows who leads; "
                    + "the order stays in force")
            return StartFailure.temporary
        case .noted: break
        }
        switch order {
        case .move: break
        case .drain(let node, _): print("\(node) does not lead until \"pushctl store drain --undo \(node)\"")
        case .undrain(let node): print("\(node) may lead again")
        }
        return 0
    }

    private static func text(_ failure: OrderFailure, _ order: FleetOrder) -> String {
        switch failure {
        case .engine(let problem): "[Store] Log=: \(problem)"
        case .changed: "another machine has begun to lead meanwhile: try again"
        case .refused(let refusal, let tail):
            if case .drain = order {
                "\(text(refusal, tail: tail)); --force drains it all the same"
            } else {
                text(refusal, tail: tail)
            }
        }
    }

    private static func text(_ refusal: Succession.Refusal, tail: UInt64) -> String {
        switch refusal {
        case .noLeader: return "no machine leads, so none can hand over"
        case .unknown(let node): return "no machine \(node) has a copy"
        case .leads(let node): return "\(node) leads already"
        case .drained(let node): return "\(node) is drained; \"pushctl store drain --undo \(node)\" ends that"
        case .tooFarBehind(let copy): return "not near enough to lead: \(text(copy, tail: tail))"
        case .noCandidate(let copies):
            let list = copies.map { text($0, tail: tail) }.joined(separator: ", ")
            return "no other machine is near enough to lead" + (list.isEmpty ? "" : ": \(list)")
        }
    }

    /// `router-2: was 3 batches and 80 ms behind, 400 ms ago`
    static func text(_ copy: CopyNote, tail: UInt64) -> String {
        let behind = tail - min(tail, copy.applied)
        let lag = copy.lag.map { $0 == .zero ? "" : " and \($0.milliseconds) ms" } ?? ""
        return "\(copy.node): was \(behind) batches\(lag) behind, \(copy.age.milliseconds) ms ago"
            + (copy.isDrained ? ", drained" : "")
    }

    /// The version of a copy's program, with a warning if it cannot read the newest batches.
    static func program(_ copy: CopyNote, _ shard: FleetStatus.Shard) -> String {
        let program = copy.program.map { "; pushrouterd \($0)" } ?? ""
        guard copy.reads < shard.version else { return program }
        return "\(program) reads batches of version \(copy.reads) and stopped before those of version "
            + "\(shard.version): upgrade it"
    }
}
