import PushModel
import PushViews
import Store

extension Command {
    static let user = Command(
        name: "user", summary: "show the devices, sessions and attributes of one user",
        description: [
            """
            Prints the devices on which this user was last seen, the sessions, the attributes and when they were set, \
            the number of custom events, and the last ten Braze pushes that the user received, with their opens. ID is \
            the external_id of the requests. It reads the ledger in the state directory, with or without a daemon. The \
            exit status is 1 when the ledger does not know this user.
            """
        ],
        operands: Operands(usage: "ID", count: 1...1),
        options: [.utc, .json],
        examples: [Example(line: "pushctl user anna", meaning: "show the user anna")]
    ) { arguments, session throws(Failure) in
        let id = arguments.operands[0]
        var profile = UserProfile(of: id, zone: arguments.zone)
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in
                for device in try ledger.knownDevices() { profile.add(device) }
                try ledger.sessions(ofUser: id) { session in profile.add(session) }
                try ledger.events { event in profile.add(event) }
                for attribute in try ledger.attributes(of: .user(id)) { profile.add(attribute) }
            }
        }
        guard !profile.isUnknown else { throw Failure(.no, "the ledger has no data of a user \(id)") }
        if arguments.has(.json) {
            session.output.write(document: profile.json)
        } else {
            session.output.print(profile.text)
        }
        return .done
    }
}
