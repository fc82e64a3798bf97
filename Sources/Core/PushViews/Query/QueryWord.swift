public import PushModel

/// The words of the query language: each is declared here alone, and parser, help, page and documentation derive from it.
public enum QueryWord: String, Sendable, CaseIterable {
    case app, device, user, campaign, id, outcome, handler, owner, callback, route, platform, op, client, topic, code,
        label
    case data = "data.KEY"
    case has
    case `is`
    case before, after, larger, slower

    /// The values that a word takes.
    public enum Values: Sendable {
        /// Texts; `*`, `?` and `[a-z]` match as in a shell.
        case patterns
        /// One of these words.
        case words([String])
        /// A time.
        case time
        /// A number of bytes.
        case size
        /// A time span.
        case span
    }

    /// The values of the word.
    public var values: Values {
        switch self {
        case .app, .device, .user, .campaign, .id, .handler, .owner, .route, .client, .topic, .code, .label, .data:
            .patterns
        case .outcome: .words(Outcome.allCases.map(\.rawValue))
        case .callback: .words(Callback.allCases.map(\.rawValue))
        case .platform: .words(Platform.allCases.map(\.rawValue))
        case .op: .words(Operation.allCases.map(\.rawValue))
        case .has: .words(QueryFeature.allCases.map(\.rawValue))
        case .is: .words(QueryState.allCases.map(\.rawValue))
        case .before, .after: .time
        case .larger: .size
        case .slower: .span
        }
    }

    /// The meaning, for people.
    public var meaning: String {
        switch self {
        case .app: "the app's package name or bundle id"
        case .device: "the device, as the producer names it"
        case .user: "the user's external id"
        case .campaign: "the campaign, as the payload names it"
        case .id: "the number of the request, the producer's id, or the payload's own message id"
        case .outcome: "the outcome of one of its invocations"
        case .handler: "the handler of one of its invocations"
        case .owner: "the provider whose payload it is; none: no known provider"
        case .callback: "the platform's callback that one of its invocations stands for"
        case .route: "the route that picked a handler"
        case .platform: "the platform"
        case .op: "the operation; without it only pushes are searched: deliver and publish"
        case .client: "the program that sent the push to the gateway: X-Firebase-Client, else User-Agent"
        case .topic: "the topic of the publish"
        case .code: "the code of a reason, such as not_finished_at_deadline"
        case .label: "the analytics label of FCM"
        case .data: "a key of the payload's data"
        case .has: "a part that the push has"
        case .is: "a state of the push"
        case .before: "accepted before a time"
        case .after: "accepted at a time or later"
        case .larger: "request lines of more bytes"
        case .slower: "one of its invocations took longer, from acceptance to its end"
        }
    }

    /// An example of its use.
    public var example: String {
        switch self {
        case .app: "app:com.example.shop"
        case .device: "device:pixel-*"
        case .user: "user:anna"
        case .campaign: "campaign:spring"
        case .id: "id:41"
        case .outcome: "outcome:timed_out,expired"
        case .handler: "handler:crm"
        case .owner: "owner:braze"
        case .callback: "callback:onMessageReceived"
        case .route: "route:50-crm"
        case .platform: "platform:ios"
        case .op: "op:interact"
        case .client: "client:*firebase*"
        case .topic: "topic:news"
        case .code: "code:ended_by_signal"
        case .label: "label:a-b-test"
        case .data: "data.order_id:1018"
        case .has: "has:notification"
        case .is: "is:dead"
        case .before: "before:2026-11-24"
        case .after: "after:-1h"
        case .larger: "larger:2k"
        case .slower: "slower:5s"
        }
    }
}

/// The values of `has:`.
enum QueryFeature: String, Sendable, CaseIterable {
    case notification, buttons, image, campaign, replay, open, error, attempts
    case customData = "custom_data"
}

/// The values of `is:`.
enum QueryState: String, Sendable, CaseIterable {
    case dead, pending, late, retry, replay, observed, opened, erased
    /// A push that the page shows in red.
    case problem

    /// The outcomes of which a push in this state has one; `nil`: any, or none.
    var outcomes: [Outcome]? { self == .problem ? Outcome.allCases.filter(\.mayBeProblem) : nil }
}

extension QueryWord {
    /// The words as items of a list of a manual page (mdoc).
    public static var manual: String {
        allCases.map { word in
            let values = if case .words(let words) = word.values { ": \(words.joined(separator: ", "))" } else { "" }
            return """
                .It Cm \(word.rawValue) : Ns Ar value
                \(word.meaning.prefix(1).uppercased())\(word.meaning.dropFirst())\(values).
                Example:
                .Ql \(word.example)

                """
        }.joined()
    }
}

extension WallTime {
    /// Reads a time of UTC: RFC 3339; `2026-11-21`, `today`, `yesterday`, which are the midnights that they begin with; `now`;
    /// or how long ago, as in `-90s`, `-30min`, `-1h`, `-2d`, `-1w`. `nil` for anything else.
    public init?(inWords text: String, now: WallTime) {
        let day: Int64 = 86_400_000
        let midnight = now.milliseconds / day * day
        switch text {
        case "now": self = now
        case "today": self = WallTime(milliseconds: midnight)
        case "yesterday": self = WallTime(milliseconds: midnight - day)
        case _ where text.hasPrefix("-"):
            let digits = text.dropFirst().prefix { ("0"..."9").contains($0) }
            let units: [Substring: Int64] = ["s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800]
            guard let count = Int64(digits), count < 1_000_000, let unit = units[text.dropFirst(1 + digits.count)]
            else { return nil }
            self = WallTime(milliseconds: now.milliseconds - count * unit * 1000)
        default:
            guard let time = WallTime(rfc3339: text) ?? WallTime(rfc3339: text + "T00:00:00Z") else { return nil }
            self = time
        }
    }
}
