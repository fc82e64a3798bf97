import PushModel
import PushSettings
import Store

extension Command {
    static let salvage = Command(
        name: "salvage", summary: "save the readable rows of a damaged ledger",
        description: [
            """
            Reads a damaged ledger row by row, skips unreadable rows, adds the requests that only the log has, and \
            writes the result into a new file: a backup, for "pushctl restore". The command only reads the state \
            directory. The daemon must not run, and the directory of FILE needs twice the size of the ledger.
            """,
            """
            It prints the number of saved rows and the damage of each table. It leaves out rows of a lost request. \
            Numbers of new requests begin a million above the highest number that was read, so that the daemon gives \
            no number twice.
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
        if let logDamage { text += "  log: not all of it is saved: \(logDamage)\n" }
        return text + (isWhole ? "Nothing is known to be lost.\n" : "Something is lost.\n")
            + "The damaged ledger is as it was. Go on with: pushctl restore \(file)\n"
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
