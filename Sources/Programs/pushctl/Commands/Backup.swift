import LinuxSystem
import PushModel
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
        ],
        operands: Operands(usage: "FILE", count: 1...1),
        options: [.json],
        examples: [
            Example(line: "pushctl backup /var/backups/push-monday.db", meaning: "before an upgrade")
        ]
    ) { arguments, session throws(Failure) in
        let path = arguments.operands.first ?? ""
        guard path != "-" else {
            throw arguments.usageFailure("-: a backup is a file, which is checked when it is whole: name it")
        }
        let ledger = try session.ledger()
        let backup = try Session.reading { () throws(StoreError) in try Backup.write(ledger, to: path) }
        guard arguments.has(.json) else {
            session.output.print(
                "\(path): \(counted(backup.requests, "request")), \(backup.length) bytes, schema \(backup.schema)\n")
            return .done
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("file", path)
            writer.member("requests", backup.requests)
            writer.member("bytes", backup.length)
            writer.member("schema", backup.schema)
            writer.member("state", backup.state.description)
        }
        session.output.write(document: writer.bytes)
        return .done
    }
}
