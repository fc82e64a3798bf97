import LinuxSystem
import PushModel
import Store

extension Command {
    static let backup = Command(
        name: "backup", summary: "copy the ledger into a file",
        description: [
            """
            Writes all acknowledged requests into a new file, in one state of the ledger, while the daemon runs. With \
            a daemon the command asks for sync first; without a daemon it adds the requests that only the log has. The \
            file is a SQLite database that only its owner may read. The file gets its name when it is complete, \
            checked and on the disk; the command does not replace an existing file.
            """,
            """
            A backup has payloads and push tokens. It has neither the configuration nor keys.
            """,
        ],
        operands: Operands(usage: "FILE", count: 1...1),
        options: [.json],
        examples: [
            Example(line: "pushctl backup /var/backups/push-monday.db", meaning: "before an upgrade")
        ]
    ) { arguments, session throws(Failure) in
        let path = arguments.operands.first ?? ""
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
