import PushModel
import PushSettings
import Store

extension Command {
    static let erase = Command(
        name: "erase", summary: "take out all that is stored of one person",
        description: [
            """
            Takes payloads, push tokens, texts that the person typed, events, sessions, custom data and the profile of a \
            user or of one device out of the ledger and the log. It shows how many rows these are and asks for that \
            number first. With a daemon, the daemon does it and forgets the person: a tap afterwards is on an unknown \
            delivery. Without one it is done here; root becomes the owner of the state directory first.
            """,
            """
            --user takes what names the user, and what names no user on a device that is or was the user's. What names \
            another user on a shared device stays. --device takes all that names the device; the profile of a user \
            who used it stays. The rows of a request stay without payload and names, so that figures of times and \
            outcomes are what they were; what is not decided when no daemon runs goes as a whole. Producers may use \
            the ids of erased requests again.
            """,
            """
            While something of the person is in flight, or with the forwarder, the daemon refuses; this command then tries \
            again for a minute. The ledger is written once more without what was in it, which takes as long as its \
            length takes to be read and written, and that much room twice. A crash leaves an order that the next start \
            carries out; the command can also be given again.
            """,
            """
            In a pair the one that leads is asked. It writes the order into the shared log, and each machine erases when it comes \
            to it, whatever it lacked before. The receipt has the number of the batch: the database has the person in batches \
            up to there until a later snapshot lets them be deleted.
            """,
            """
            It does not reach the journal, backups, exports, directories that were set aside, and what the endpoint of \
            custom data took: the receipt names them.
            """,
        ],
        operands: .none,
        options: [.erasedUser, .erasedDevice, .countOnly, .unasked, .json],
        examples: [
            Example(line: "pushctl erase --user anna --dry-run", meaning: "what is stored of anna"),
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
            session.tell(Erasure(receipt: expected, isDone: false, isShared: session.sharesLog), arguments)
            return .done
        }
        if expected.rows == 0 {
            session.output.note(
                "nothing is stored of that person; an erasure writes the whole ledger once more all the same")
        }
        guard arguments.has(.unasked) || session.confirms(expected.rows, "row", "rows", are: "erased")
        else {
            session.output.note("nothing was erased")
            return .no
        }
        let erasure = try session.erase(person)
        session.tell(erasure, arguments)
        return .done
    }
}

extension Session {
    fileprivate func tell(_ erasure: Erasure, _ arguments: Arguments) {
        let setAside = setAsideNames
        if arguments.has(.json) {
            output.write(document: erasure.json(setAside))
        } else {
            output.print(erasure.text(setAside))
        }
    }
}
