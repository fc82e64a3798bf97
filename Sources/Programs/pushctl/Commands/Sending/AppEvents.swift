import Glibc
import LedgerReports
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Command {
    static let act = Command(
        name: "act", summary: "report that a button of a notification was pressed",
        description: [
            """
            Tells the daemon that the user pressed a button of a notification. ACTION is the button's id: on iOS and \
            the web the action's identifier, for Braze on Android the value of ab_a0_id, ab_a1_id and so on. --text is \
            the text that the user typed, if the button has a text field. MESSAGE and --payload name the notification \
            as in "open". An ACTION that a Braze push does not have is accepted and not counted.
            """,
            """
            Text may be private: a handler gets it on standard input only, and it does not reach the journal. The exit \
            status is 0 when the request was accepted and none of its custom data was rejected. With --wait --fail it \
            is 1 as well when an outcome is neither handled nor handed_to_tracker.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [
            .action, .text, .payload, .platform, .app, .device, .externalID, .sdk, .at, .id, .wait, .fail, .json,
        ],
        examples: [
            Example(line: "pushctl act 41 --action accept", meaning: "a press on the button accept"),
            Example(
                line: "pushctl act --action reply --text 'on my way' --wait 41",
                meaning: "an answer typed into the notification, with its outcome"),
        ]
    ) { arguments, session throws(Failure) in
        guard arguments.has(.action) else {
            throw arguments.usageFailure("--action ACTION is missing: ACTION is the id of the pressed button")
        }
        return try session.sendInteraction(.action, arguments)
    }
}

extension Command {
    static let open = Command(
        name: "open", summary: "report that a notification was opened",
        description: [
            """
            Tells the daemon that the user opened a notification by its body. MESSAGE is the number (seq) that \
            "inject" printed, or the payload's own message id if it is not all digits. A message id stands for the \
            latest delivery with it on the device. Where the platform hands the payload back, name the notification \
            with --payload instead.
            """,
            """
            The daemon looks up a number or message id among the Braze deliveries that the tracker remembers, then in \
            the ledger, which also has the platform. A tap on another provider's notification is routed to a handler \
            as its push is. Android has no push callback for a tap, so there the callback is "none". The tracker holds \
            a tap whose message it does not know, because the delivery may still come; --wait then says what became of it.
            """,
            """
            The exit status is 0 when the request was accepted and none of its custom data was rejected. With --wait \
            --fail it is 1 as well when an outcome is neither handled nor handed_to_tracker.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [.payload, .platform, .app, .device, .externalID, .sdk, .at, .id, .wait, .fail, .json],
        examples: [
            Example(line: "pushctl open 41", meaning: "a tap on the delivery with the number 41"),
            Example(
                line: "pushctl open --device pixel-1 --wait 0:1700000000%31bd1c96",
                meaning: "a tap on the message with this id, with its outcome"),
        ]
    ) { arguments, session throws(Failure) in
        try session.sendInteraction(.opened, arguments)
    }
}

extension Command {
    static let dismiss = Command(
        name: "dismiss", summary: "report that a notification was dismissed",
        description: [
            """
            Tells the daemon that the user dismissed a notification without opening it. Two platforms report a \
            dismissal to the app: iOS, if the notification's category asks for it, and the web, as notificationclose. \
            MESSAGE and --payload name the notification as in "open".
            """,
            """
            The exit status is 0 when the request was accepted and none of its custom data was rejected. With --wait \
            --fail it is 1 as well when an outcome is neither handled nor handed_to_tracker.
            """,
        ],
        operands: Operands(usage: "[MESSAGE]", count: 0...1),
        options: [.payload, .platform, .app, .device, .externalID, .at, .id, .wait, .fail, .json],
        examples: [
            Example(line: "pushctl dismiss 41", meaning: "the notification of the delivery with the number 41")
        ]
    ) { arguments, session throws(Failure) in
        try session.sendInteraction(.dismissed, arguments)
    }
}

extension Command {
    static let session = Command(
        name: "session", summary: "report that a session of the app began or ended",
        description: [
            """
            Tells the daemon that the user began or stopped to use the app on a device. When another user takes over \
            the device, send a start with that user. No callback of a push SDK runs for a session, so a session has no \
            outcome.
            """,
            """
            A start continues an open session of the same user, or resumes a session of that user that ended a short \
            time ago. Such a start is no new session. An end without an open session, and any request without \
            --device, is accepted and changes nothing. A time later than the daemon's clock is replaced by the clock's \
            time; an earlier time is kept.
            """,
            """
            With --wait it also prints what the daemon made of it, read from the ledger: whether a session began, went on \
            or ended; after Grace=, which pushes it counts for as an influenced open, and for each other one of the \
            device why not (the newest \(SessionAnswer.pushesMax)); and the custom events that still wait.
            """,
        ],
        operands: Operands(usage: "start|end", count: 1...1, words: ["start", "end"]),
        options: [.platform, .app, .device, .externalID, .at, .id, .waitForTracker, .json],
        examples: [
            Example(
                line: "pushctl session start --app com.shop --device pixel-1 --external-id anna",
                meaning: "anna opened the app"),
            Example(
                line: "pushctl session start --app com.shop --device pixel-1 --wait",
                meaning: "the same without a user, and what it counts for"),
        ]
    ) { arguments, session throws(Failure) in
        let (status, accepted) = try session.exchange(try RequestLine.session(arguments), arguments)
        if let accepted, arguments.has(.waitForTracker) { try session.printAnswer(to: accepted, arguments) }
        return status
    }
}

extension Command {
    static let token = Command(
        name: "token", summary: "report a new push token, or that a token became invalid",
        description: [
            """
            Tells the daemon that the push service gave a token to the app on a device, or took it back. The platform \
            tells the app (onNewToken; didRegister on iOS), and every route that matches gets the callback. \
            "registered" and "unregistered" belong to FCM's second generation, which has installation ids.
            """,
            """
            A token is a secret: a handler gets it on standard input only, and it does not reach the journal.
            """,
        ],
        operands: Operands(usage: "[TOKEN]", count: 0...1),
        options: [.tokenKind, .platform, .app, .device, .externalID, .at, .id, .wait, .fail, .json],
        examples: [
            Example(line: "pushctl token --device pixel-1 --wait bk3RNwTe3H0", meaning: "the device has a new token"),
            Example(
                line: "pushctl token --device pixel-1 --kind unregistered",
                meaning: "the device has no token any "
                    + "more"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.token(arguments), arguments)
    }
}

extension Command {
    static let log = Command(
        name: "log", summary: "log a custom event or attributes",
        description: [
            """
            Logs custom data as an app would: a custom event with properties, attributes of the app's own (attribute), \
            or attributes that Braze knows (user-attribute: email, first_name, last_name, phone, dob, country, \
            home_city, language, gender, time_zone, and subscription states). \(Assignment.forms)
            """,
            """
            With --suite, or without --braze-id, the entry is stored until the next session of the app starts. Then it \
            is flushed for that session's user; if USER is named, only a session of USER flushes it. With --braze-id \
            and no suite it is sent to Braze's endpoint at once. A session of any app, device or user flushes an entry \
            that names none. phone_number is kept as phone. An attribute's value can also be a change: \
            tags:='{"add":["a"]}', tags:='{"remove":["a"]}', visits:='{"inc":1}'; null removes the attribute.
            """,
            """
            The daemon rejects data that breaks a rule with the reason, and keeps the other data: then the exit status \
            is 1, and "pushctl pending --rejected" lists the entry later.
            """,
        ],
        operands: Operands(usage: "event NAME|[user-]attribute KEY=TEXT...", count: 2...Int.max),
        options: [.property, .suite, .brazeID, .platform, .app, .device, .externalID, .at, .id, .json],
        examples: [
            Example(
                line: "pushctl log event bought --property price:=9.99 --app com.shop",
                meaning: "an event that waits for the next session of com.shop"),
            Example(
                line: "pushctl log attribute plan=free visits:=3 --suite group.com.shop", meaning: "two attributes"),
            Example(line: "pushctl log user-attribute email=anna@example.com --external-id anna", meaning: "of anna"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.log(arguments), arguments)
    }
}

extension Session {
    /// How long an answer waits beyond the grace, for a daemon that is busy.
    private static let patience: Duration = .seconds(10)
    /// The pause between two reads of the ledger, in microseconds.
    private static let interval: useconds_t = 200_000

    /// Sends a tap, a press or a dismissal. With `--wait` it also prints what became of one that the tracker holds, where
    /// this user may read the ledger.
    fileprivate func sendInteraction(
        _ kind: InteractRequest.Kind, _ arguments: Arguments
    ) throws(Failure) -> ExitStatus {
        let (status, accepted) = try exchange(try RequestLine.interaction(kind, arguments), arguments)
        guard let seq = accepted, arguments.has(.wait), !arguments.has(.json) else { return status }
        guard let story = try? story(of: seq), story.isHeld, (try? waitForTracker(of: seq)) == true,
            let decided = try? self.story(of: seq)
        else { return status }
        output.print("seq \(seq)  \(PushFacts(decided).sentence)\n".showingControlsInLines())
        return status
    }

    /// Waits until the tracker has decided a request, for its grace and some seconds.
    ///
    /// - Returns: whether it has.
    private func waitForTracker(of seq: SequenceNumber) throws(Failure) -> Bool {
        let end = Instant.now + settingsOfReport().routing.tracking.grace + Self.patience
        while true {
            let isDecided = try reading { ledger throws(StoreError) in
                let last = try ledger.highestSequenceNumber()
                let starts = try ledger.pendingStarts().contains { $0.cause == seq }
                let isHeld = try ledger.heldInteractions().contains { $0.interaction.cause == seq }
                return last >= seq && !starts && !isHeld
            }
            guard !isDecided, Instant.now < end else { return isDecided }
            usleep(Self.interval)
        }
    }

    /// Waits for the decision of the tracker about the start or end of a session, and prints the decision.
    func printAnswer(to seq: SequenceNumber, _ arguments: Arguments) throws(Failure) {
        let rules = settingsOfReport().routing.tracking
        let isDecided = try waitForTracker(of: seq)
        let (source, table) = try pushSource()
        var answer = SessionAnswer(try story(of: seq))
        answer.isDecided = isDecided
        answer.names = campaignNamesIfReadable()
        try reading { ledger throws(StoreError) in
            try ledger.sessions { answer.add($0) }
            try ledger.unfinishedEntries { answer.waiting.add($0) }
        }
        if let text = answer.candidates, isDecided {
            do {
                let query = try PushQuery(text, now: LocalTime.now)
                let search = PushSearch(query, before: seq, limit: SessionAnswer.pushesMax, patience: .seconds(1))
                for found in try source.search(search).stories {
                    guard case .story(let story) = try source.story(of: found.request.seq) else { continue }
                    answer.add(PushFacts(story, table: table(story)), rules)
                }
            } catch {
                output.note("the pushes of the device are not shown: \(error)")
            }
        }
        if arguments.has(.json) {
            output.write(line: answer.json)
        } else {
            output.print(answer.text(in: arguments.zone))
        }
    }
}

extension RequestStory {
    /// Whether the tracker waits for the push that it is about. Any other outcome has the verdict in its reason.
    fileprivate var isHeld: Bool { invocations.contains { $0.result?.reasonCode == .heldForDelivery } }
}
