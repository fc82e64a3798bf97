import PushModel
import PushSettings
import Store

extension Command {
    static let erase = Command(
        name: "erase", summary: "delete the stored data of one person",
        description: [
            """
            Deletes payloads, push tokens, texts that the person typed, events, sessions, custom data and the profile \
            of a user or of one device from the ledger and the log. It shows the number of rows first, and asks for \
            that number. A running daemon carries the erasure out and forgets the person: it counts a later tap as \
            one on an unknown delivery. Without a daemon this command erases; root becomes the owner of the state \
            directory first.
            """,
            """
            --user erases the rows that name the user, and the rows without a user on a device that is or was the \
            user's. Rows of another user on a shared device stay. --device erases all rows that name the device; the \
            profile of a user of the device stays. The rows of a request stay without payload and names, so that \
            figures of times and outcomes do not change; without a daemon, rows of undecided requests are deleted. \
            Producers may use the ids of erased requests again.
            """,
            """
            The erasure waits until all requests of the person up to the command have their outcomes, and the forwarder \
            has settled their entries; later requests are new and stay. After a minute the command tries again for a \
            minute more, then it ends, and the daemon goes on. The erasure rewrites the ledger without the erased rows. This takes \
            the time to read and write the ledger, and twice its disk space. After a crash the next start completes \
            the erasure; you can also run the command again.
            """,
            """
            In a pair the command asks the leader. The leader writes the order into the shared log, and each machine \
            erases when it applies the order. The receipt has the number of the order's batch: the database keeps the \
            data of the person in the batches up to that number until it has two later snapshots, ten minutes at least.
            """,
            """
            The erasure does not reach the journal, backups, exports, set-aside directories and the endpoint of custom \
            data. The receipt names these places.
            """,
        ],
        operands: .none,
        options: [.erasedUser, .erasedDevice, .countOnly, .unasked, .json],
        examples: [
            Example(line: "pushctl erase --user anna --dry-run", meaning: "the number of anna's rows"),
            Example(line: "pushctl erase --device pixel-1 --yes --json", meaning: "a receipt for a program"),
        ]
    ) { arguments, session throws(Failure) in
        let person: Person =
            switch (arguments[.erasedUser], arguments[.erasedDevice]) {
            case (let user?, nil) where !user.isEmpty: Person(externalID: user)
            case (nil, let device?) where !device.isEmpty: Person(externalID: nil, devices: [device])
            default: throw arguments.usageFailure("give either --user USER or --device DEVICE")
            }
        let expected = try session.count(person)
        if arguments.has(.countOnly) {
            session.printErasure(Erasure(receipt: expected, isDone: false, isShared: session.sharesLog), arguments)
            return .done
        }
        if expected.rows == 0 {
            session.output.note(
                "the ledger has no data of that person; an erasure rewrites the whole ledger nevertheless")
        }
        guard arguments.has(.unasked) || session.confirms(expected.rows, "row", "rows", are: "erased")
        else {
            session.output.note("no row was erased")
            return .no
        }
        let erasure = try session.erase(person)
        session.printErasure(erasure, arguments)
        return .done
    }
}

extension Session {
    fileprivate func printErasure(_ erasure: Erasure, _ arguments: Arguments) {
        let setAside = setAsideNames
        if arguments.has(.json) {
            output.write(document: erasure.json(setAside))
        } else {
            output.print(erasure.text(setAside))
        }
    }
}
