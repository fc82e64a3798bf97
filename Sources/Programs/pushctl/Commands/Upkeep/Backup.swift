import Glibc
import LinuxSystem
import PushModel
import PushSettings
import Store

extension Command {
    static let backup = Command(
        name: "backup", summary: "copy the ledger into a file",
        description: [
            """
            Writes every acknowledged request with its data into a new file, in one state of the ledger. The daemon \
            keeps running. With a daemon the command first sends the request sync; without a daemon it adds the data \
            that only the log holds. The file is a SQLite database that only its owner may read. The file gets its \
            name when it is complete, checked and on the disk. The command does not replace an existing file.
            """,
            """
            A backup holds the sent payloads and push tokens. It does not hold the configuration and keys.
            """,
            """
            With --keep N the operand is a directory: the file there has the time as its name, and the command removes \
            all but the N newest such files once the new one is complete. pushrouterd-backup.timer does that each night.
            """,
            """
            With --check FILE the command reads the whole backup, counts its rows, checks each as a restore does, and \
            compares the requests with this machine's ledger, if there is one. It changes nothing. The exit status is 1 \
            when the ledger has requests from before the backup that are not in it.
            """,
        ],
        operands: Operands(usage: "FILE|DIRECTORY", count: 0...1),
        options: [.checked, .keep, .json],
        examples: [
            Example(line: "pushctl backup /var/backups/push-monday.db", meaning: "before an upgrade"),
            Example(line: "pushctl backup --keep 7 /srv/push", meaning: "a week of them, run daily"),
            Example(line: "pushctl backup --check /var/backups/push-monday.db", meaning: "may it be relied on?"),
        ]
    ) { arguments, session throws(Failure) in
        guard let checked = arguments[.checked] else { return try session.backUp(arguments) }
        guard arguments[.keep] == nil, arguments.operands.isEmpty else {
            throw arguments.usageFailure("--check writes no backup")
        }
        return try session.checkBackup(checked, arguments)
    }
}

extension Session {
    /// Writes a backup.
    fileprivate func backUp(_ arguments: Arguments) throws(Failure) -> ExitStatus {
        guard let operand = arguments.operands.first else { throw arguments.usageFailure("FILE|DIRECTORY is missing") }
        guard operand != "-" else {
            throw arguments.usageFailure("-: a backup is a file, which is checked when it is whole: name it")
        }
        var kept: Int?
        if let text = arguments[.keep] {
            guard let number = Int(text), (1...10_000).contains(number) else {
                throw arguments.usageFailure("--keep is a number from 1 to 10000, not \(text)")
            }
            kept = number
        }
        let path = kept == nil ? operand : "\(operand)/\(BackupName.name(at: LocalTime.now.rfc3339))"
        let ledger = try self.ledger()
        let backup = try Session.reading { () throws(StoreError) in try Backup.write(ledger, to: path) }
        if let kept { rotateBackups(in: operand, keeping: kept) }
        guard arguments.has(.json) else {
            output.print(
                "\(path): \(counted(backup.requests, "request")), \(backup.length) bytes, schema \(backup.schema)\n")
            return .done
        }
        var writer = JSONWriter()
        writer.object { writer in
            backup.write(to: &writer, file: path)
        }
        output.write(document: writer.bytes)
        return .done
    }

    /// Removes all but the newest backups of a directory, and those that killed commands left incomplete.
    fileprivate func rotateBackups(in directory: String, keeping count: Int) {
        let names = (try? SmallFile.names(in: directory, suffix: "")) ?? []
        let surplus = names.filter(BackupName.isWhole).dropLast(count) + names.filter(BackupName.isPartial)
        for name in surplus where unlink("\(directory)/\(name)") != 0 {
            output.note("\(directory)/\(name) stays: \(errorText(errno))")
        }
    }

    /// Reads a whole backup, and compares it with the ledger.
    fileprivate func checkBackup(_ path: String, _ arguments: Arguments) throws(Failure) -> ExitStatus {
        guard access(path, R_OK) == 0 else {
            throw Failure(.noInput, "\(path): cannot open the file: \(errorText(errno))")
        }
        try refuseDirectory(path)
        let contents = try Self.reading { () throws(StoreError) in try BackupContents(reading: path) }
        // A machine for restores has no ledger of its own.
        let ledger = try? self.ledger()
        let comparison = try Self.reading { () throws(StoreError) -> (after: Int64, missing: Int64)? in
            guard let ledger else { return nil }
            return try contents.comparison(with: ledger)
        }
        let missing = comparison?.missing ?? 0
        if arguments.has(.json) {
            output.write(document: contents.json(file: path, comparison))
        } else {
            output.print(contents.text(file: path, comparison, hasLedger: ledger != nil))
        }
        return missing == 0 ? .done : .no
    }
}

extension Backup {
    /// Writes the members for programs that a backup and its check share.
    fileprivate func write(to writer: inout JSONWriter, file: String) {
        writer.member("file", file)
        writer.member("requests", requests)
        writer.member("bytes", length)
        writer.member("schema", schema)
        writer.member("state", state.description)
    }
}

extension BackupContents {
    fileprivate func text(file: String, _ comparison: (after: Int64, missing: Int64)?, hasLedger: Bool) -> String {
        var text = "\(file): \(counted(backup.requests, "request")), \(backup.length) bytes, schema \(backup.schema): "
        text += areRowsChecked ? "whole\n" : "whole; \"pushctl restore --dry-run\" checks the rows of an older schema\n"
        for table in tables { text += "  \(table.name): \(counted(table.rows, "row"))\n" }
        guard let comparison else {
            return text
                + (hasLedger ? "This machine's ledger is of another state directory, or was restored since.\n" : "")
        }
        guard comparison.missing == 0 else {
            let missing = comparison.missing
            return text
                + "It is incomplete: \(counted(missing, "request")) of this machine's ledger from before the backup "
                + "\(missing == 1 ? "is" : "are") not in it. Make another one.\n"
        }
        return text + "This machine's ledger has \(counted(comparison.after, "request")) after it.\n"
    }

    fileprivate func json(file: String, _ comparison: (after: Int64, missing: Int64)?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            backup.write(to: &writer, file: file)
            writer.member("rows_checked", areRowsChecked)
            writer.member(
                "tables", object: { writer in for table in tables { writer.member(table.name, table.rows) } })
            writer.member("requests_after", comparison?.after)
            writer.member("requests_missing", comparison?.missing)
        }
        return writer.bytes
    }
}

extension Command {
    static let restore = Command(
        name: "restore", summary: "put a backup in the place of the ledger",
        description: [
            """
            Checks the backup, moves ledger and log into the directory set-aside-MILLISECONDS of the state directory, \
            and puts the backup in their place. The daemon must not run; a backup of a newer version is refused, one of \
            an older version is brought up to date. Root may restore for the user of the daemon: it becomes the owner of \
            the state directory first.
            """,
            """
            The command refuses, with 78, where the configuration has [Store] Log=: a machine of a pair fetches its \
            copy from the database, and pushrouterd-fleet refuses a restored ledger.
            """,
            """
            Only the set-aside ledger has the requests accepted after the backup. A request that a producer sends \
            again under an id of that time is accepted again. The state directory has a new id, so "pushctl export \
            --cursor" refuses an earlier cursor file. Request numbers continue after those of the set-aside ledger if \
            it can be read, a million later if it is damaged, and a billion after those of FILE if it cannot be read. Queued entries of custom data become unknown, since \
            they may have been sent: "pushctl pending --unknown" lists them. Invocations in flight end as after a \
            crash.
            """,
            """
            --dry-run rehearses: it restores FILE into a directory of its own in $TMPDIR (/var/tmp), opens it there as \
            a start of the daemon does, and removes the directory. The daemon may run, and nothing else changes.
            """,
        ],
        operands: Operands(usage: "[FILE]", count: 0...1),
        options: [.empty, .rehearsal, .json],
        examples: [
            Example(line: "pushctl restore --dry-run /var/backups/push-monday.db", meaning: "would it work?"),
            Example(
                line: "systemctl stop pushrouterd 'pushrouterd-*.socket'", meaning: "first: no producer may start it"),
            Example(line: "pushctl restore /var/backups/push-monday.db", meaning: "then"),
            Example(line: "pushctl restore --empty", meaning: "begin with an empty ledger instead"),
        ]
    ) { arguments, session throws(Failure) in
        let file = try openBackup(arguments)
        defer { if let file { close(file) } }
        try session.refusePair()
        if arguments.has(.rehearsal) {
            guard let file else { throw arguments.usageFailure("--dry-run takes a FILE") }
            let parent = Output.environment("TMPDIR") ?? "/var/tmp"
            let rehearsed = try Session.reading { () throws(StoreError) in
                try Restoration.rehearse(file, in: parent, at: LocalTime.now)
            }
            if arguments.has(.json) {
                session.output.write(document: rehearsed.json)
            } else {
                session.output.print(
                    "\(counted(rehearsed.backup.requests, "request")) would be restored: a copy was restored, opened "
                        + "and removed. Nothing was changed.\n")
            }
            return .done
        }
        // Before the privileges are dropped: root restores, and not the owner of the directory.
        let act = session.act(.restore, arguments.operands.first ?? "an empty ledger")
        try session.dropPrivilegesToStateOwner()
        let restored = try session.recording(act) { act throws(Failure) in
            let begun = act
            let restored = try Session.reading { () throws(StoreError) in
                try Restoration.restore(file, into: session.directories.state, at: LocalTime.now, as: begun)
            }
            act.count = Int(restored.backup.requests)
            return restored
        }
        if !restored.continuesNumbers {
            session.output.note(
                """
                the previous ledger cannot be read; the numbers of requests continue a billion later, so that none of its \
                own is given again
                """)
        }
        if arguments.has(.json) {
            session.output.write(document: restored.json)
        } else {
            session.output.print(restored.text)
        }
        return .done
    }
}

extension Session {
    /// Refuses to restore a machine of a pair, whose daemon would not start with another ledger than its copy.
    ///
    /// A configuration that cannot be read does not keep a person from a restore; neither do mistakes beside `Log=`.
    fileprivate func refusePair() throws(Failure) {
        guard let sources = try? configurationSources(),
            Settings.read(sources).settings.store.shared.database != nil
        else { return }
        throw Failure(
            .configuration,
            """
            this machine belongs to a pair, because [Store] Log= names a database; nothing was changed
            a machine of a pair fetches its copy from the database. To restore the database, see "A clone, a move, a \
            restored database" in the guide to pairs. To restore this machine alone, remove Log= first
            """)
    }
}

/// Refuses a directory in the place of a backup, and names the newest backup in it.
private func refuseDirectory(_ path: String) throws(Failure) {
    var facts = stat()
    guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else { return }
    let names = (try? SmallFile.names(in: path, suffix: "")) ?? []
    let newest = names.filter(BackupName.isWhole).max().map { ", such as \(path)/\($0)" } ?? ""
    throw Failure(.noInput, "\(path) is a directory: name a backup in it\(newest)")
}

/// Opens the backup; `nil`: `--empty` was given.
private func openBackup(_ arguments: Arguments) throws(Failure) -> Int32? {
    guard let path = arguments.operands.first else {
        guard arguments.has(.empty) else {
            throw .usage("FILE is missing; --empty begins with an empty ledger", of: .restore)
        }
        return nil
    }
    guard !arguments.has(.empty) else { throw .usage("--empty takes no FILE", of: .restore) }
    try refuseDirectory(path)
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure(.noInput, "\(path): cannot open the file: \(errorText(errno))") }
    return file
}

extension Option {
    fileprivate static let checked = Option(
        "check", .file, "read this whole backup, and compare it with the ledger; write nothing")
    fileprivate static let keep = Option(
        "keep", .text("N"), "write a new file into DIRECTORY, and remove all but the N newest")
    fileprivate static let rehearsal = Option(
        "dry-run", .none, "restore FILE into a directory of its own, open it there, and remove it")
    fileprivate static let empty = Option("empty", .none, "begin with an empty ledger, instead of FILE")
}

extension Restoration {
    fileprivate var text: String {
        let place = setAside.map { "The previous ledger and log are in \($0).\n" } ?? ""
        let entries =
            unknownEntries == 0
            ? ""
            : "\(counted(unknownEntries, "entry", "entries")) may have been sent: see \"pushctl pending --unknown\".\n"
        return "Restored \(counted(backup.requests, "request")).\n" + place + entries
            + "Start the daemon: systemctl reset-failed pushrouterd 'pushrouterd-*.socket'; systemctl start pushrouterd\n"
    }

    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("requests", backup.requests)
            writer.member("schema", backup.schema)
            writer.member("state", state.description)
            writer.member("former_state", backup.state.description)
            writer.member("set_aside", setAside)
            writer.member("continues_numbers", continuesNumbers)
            writer.member("unknown_entries", unknownEntries)
        }
        return writer.bytes
    }
}

extension Command {
    static let salvage = Command(
        name: "salvage", summary: "save the readable rows of a damaged ledger",
        description: [
            """
            Reads a damaged ledger row by row, skips the rows that cannot be read, adds the data that only the log \
            holds, and writes all rows into a new file, a backup for "pushctl restore". The command only reads the \
            state directory. The daemon must not run, and the directory of FILE needs twice the space of the ledger.
            """,
            """
            The command prints the number of saved rows and the damage of each table. An invalid number becomes the \
            nearest valid one. Rows of a lost request, and rows with another invalid value, are left out. Request numbers continue a million after the highest number read, so that no number is given twice.
            """,
        ],
        operands: Operands(usage: "FILE", count: 1...1),
        options: [.json],
        examples: [
            Example(line: "pushctl salvage /var/backups/push-salvaged.db", meaning: "first, with the service stopped"),
            Example(line: "pushctl restore /var/backups/push-salvaged.db", meaning: "then"),
        ]
    ) { arguments, session throws(Failure) in
        let path = arguments.operands.first ?? ""
        let salvage = try Session.reading { () throws(StoreError) in
            try Salvage.write(from: session.directories.state, to: path)
        }
        if arguments.has(.json) {
            session.output.write(document: salvage.json(file: path))
        } else {
            session.output.print(salvage.text(file: path))
        }
        return .done
    }
}

extension Salvage {
    fileprivate func text(file: String) -> String {
        let requests = counted(backup.requests, "request")
        var text = "\(file): \(requests), \(backup.length) bytes, schema \(backup.schema)\n"
        for table in tables {
            let damage = table.damage.map { "; damaged: \($0)" } ?? ""
            text += "  \(table.name): \(counted(table.rows, "row"))\(damage)\n"
        }
        if orphans > 0 { text += "  \(counted(orphans, "row")) left out: their request or event is lost\n" }
        if let logDamage { text += "  log: saved in part: \(logDamage)\n" }
        return text + (isWhole ? "No data is known to be lost.\n" : "Data is lost.\n")
            + "The damaged ledger is unchanged. Continue with: pushctl restore \(file)\n"
    }

    fileprivate func json(file: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("file", file)
            writer.member("requests", backup.requests)
            writer.member("bytes", backup.length)
            writer.member("schema", backup.schema)
            writer.member("is_whole", isWhole)
            writer.member(
                "tables",
                object: { writer in
                    for table in tables {
                        writer.member(
                            table.name,
                            object: { writer in
                                writer.member("rows", table.rows)
                                writer.member("damage", table.damage)
                            })
                    }
                })
            writer.member("orphans", orphans)
            writer.member("log_damage", logDamage)
        }
        return writer.bytes
    }
}
