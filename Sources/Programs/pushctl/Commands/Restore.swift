import Glibc
import LinuxSystem
import PushModel
import PushSettings
import Store

extension Command {
    static let restore = Command(
        name: "restore", summary: "put a backup in the place of the ledger",
        description: [
            """
            Checks the backup, moves ledger and log into the directory set-aside-MILLISECONDS of the state directory, \
            and puts the backup in their place. The daemon must not run. The command refuses a backup of a newer \
            version, and migrates a backup of an older version. Root may restore for the user of the daemon: the \
            process first changes to the owner of the state directory.
            """,
            """
            Only the set-aside ledger has requests that were accepted after the backup. If a producer sends a request \
            with an id of that time again, the daemon accepts it again. The state directory has a new id, so "pushctl \
            export --cursor" refuses an earlier cursor file. Numbers continue after those of the set-aside ledger if \
            it can be read, a million higher if it is damaged. Queued entries of custom data become unknown, since \
            they may have been sent: "pushctl pending --unknown" lists them. Requests in flight end as after a crash.
            """,
        ],
        operands: Operands(usage: "[FILE]", count: 0...1),
        options: [.empty, .json],
        examples: [
            Example(
                line: "systemctl stop pushrouterd 'pushrouterd-*.socket'", meaning: "first: no producer may start it"),
            Example(line: "pushctl restore /var/backups/push-monday.db", meaning: "then"),
            Example(line: "pushctl restore --empty", meaning: "begin with an empty ledger instead"),
        ]
    ) { arguments, session throws(Failure) in
        let file = try openBackup(arguments)
        defer { if let file { close(file) } }
        try session.dropPrivilegesToStateOwner()
        let restored = try Session.reading { () throws(StoreError) in
            try Restoration.restore(file, into: session.directories.state, at: LocalTime.now)
        }
        if !restored.continuesNumbers {
            session.output.note(
                """
                the ledger that was there cannot be read, so numbers of requests that are not in the backup may be \
                given again
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

/// Opens the backup; `nil`: `--empty` was given.
private func openBackup(_ arguments: Arguments) throws(Failure) -> Int32? {
    guard let path = arguments.operands.first else {
        guard arguments.has(.empty) else {
            throw .usage("FILE is missing; --empty begins with an empty ledger", of: .restore)
        }
        return nil
    }
    guard !arguments.has(.empty) else { throw .usage("--empty takes no FILE", of: .restore) }
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure(.noInput, "\(path): cannot read it: \(errorText(errno))") }
    return file
}

extension Option {
    fileprivate static let empty = Option("empty", .none, "begin with an empty ledger, instead of FILE")
}

extension Restoration {
    fileprivate var text: String {
        let place = setAside.map { "What was there is in \($0).\n" } ?? ""
        let entries =
            unknownEntries == 0
            ? ""
            : "\(counted(unknownEntries, "entry", "entries")) may have been sent: see \"pushctl pending --unknown\".\n"
        return "Restored \(counted(backup.requests, "request")).\n" + place + entries
            + "Start the daemon: systemctl start pushrouterd\n"
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
