import PushModel
import PushSettings
import Store

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
            The command prints the number of saved rows and the damage of each table. Rows of a lost request are left \
            out. Request numbers continue a million after the highest number read, so that no number is given twice.
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
