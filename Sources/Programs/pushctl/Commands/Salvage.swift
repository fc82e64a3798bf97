import PushModel
import PushSettings
import Store

extension Command {
    static let salvage = Command(
        name: "salvage", summary: "save what can be read of a damaged ledger",
        description: [
            """
            Reads a ledger that the daemon says is damaged, row by row, goes on behind what cannot be read, adds what is \
            in the log alone, and writes all of that into a new file: a backup, for "pushctl restore". The state \
            directory is only read, the daemon must not run, and the directory of FILE needs twice the room of the \
            ledger.
            """,
            """
            It says for each table how many rows are saved and what is wrong with it. What belongs to a request that is \
            lost is left out. Numbers of requests go on a million behind the highest that was read, so that none is given \
            twice.
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
