import LinuxSystem
import PushModel
import Store

extension Command {
    static let backup = Command(
        name: "backup", summary: "copy the ledger into a file",
        description: [
            """
            Writes all that is acknowledged into a new file, in one state of the ledger, while the daemon goes on. \
            With a daemon it asks for sync first; without one it adds what is in the log alone. The file is a SQLite \
            database that only its owner may read. It gets its name when it is whole, checked and on the disk; a file \
            of that name is not replaced.
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
