import PushModel
import PushRouter

extension [Key<Settings>] {
    static var usersTrackSection: [Key<Settings>] {
        [
            // Messages never show the values of the first two: a user may have pasted a secret there.
            Key(
                "UsersTrack", "Endpoint", { $1(&$0.usersTrack.endpoint) }, Form.endpoint.optional, showsValue: false,
                meaning: """
                    The address of the Braze instance, such as `https://rest.fra-01.braze.eu`, with or without \
                    `/users/track`; while it is empty the forwarder sends nothing, and the entries wait. Only `https`, \
                    but for localhost, 127.0.0.0/8 and [::1].
                    """),
            Key(
                "UsersTrack", "KeyFile", { $1(&$0.usersTrack.keyFile) }, Form.secretFile.optional, showsValue: false,
                meaning: """
                    The absolute path of a file that has nothing but the API key and that only its owner can read; never put \
                    the key itself into the configuration. Default: empty; the systemd credential `users-track-key`.
                    """),
            Key(
                "UsersTrack", "BatchSize", { $1(&$0.usersTrack.batchSize) },
                .integer(1...75, reason: ": /users/track refuses more of a kind"), default: "75",
                meaning: "The maximum number of events, and of attribute objects, in one request, 1 to 75."),
            Key(
                "UsersTrack", "CombinedLimit", { $1(&$0.usersTrack.combinedLimit) }, Form.integer(1...150).optional,
                meaning: """
                    The maximum number of events and attribute objects together in one request, 1 to 150; some of \
                    Braze's plans allow 50. Default: empty; no such limit.
                    """),
            Key(
                "UsersTrack", "Flush", { $1(&$0.usersTrack.flush) }, .timeSpan(.zero ... .seconds(60)), default: "1s",
                meaning: "The time for which the first entry of a request waits for others, up to 1min."),
            Key(
                "UsersTrack", "RateLimit", { $1(&$0.usersTrack.rateLimit) }, .integer(1...1_000_000), default: "3000",
                meaning: "The maximum number of requests in an interval: 1 to 1000000 in 1ms to 1d."),
            Key(
                "UsersTrack", "RateInterval", { $1(&$0.usersTrack.rateInterval) },
                .timeSpan(.milliseconds(1) ... .seconds(86_400)), default: "3s"),
            Key(
                "UsersTrack", "Timeout", { $1(&$0.usersTrack.timeout) }, .timeSpan(.seconds(1) ... .seconds(600)),
                default: "30s",
                meaning: "The maximum time of a request, from the connection to the end of its answer, 1s to 10min."),
            Key(
                "UsersTrack", "Connections", { $1(&$0.usersTrack.connections) }, .integer(1...64), default: "2",
                meaning: "The maximum number of requests under way at once, 1 to 64."),
            Key(
                "UsersTrack", "OnUnknown", { $1(&$0.routing.customData.onUnknown) }, .choice, default: "hold",
                meaning: """
                    The treatment of an entry that was sent and whose answer was lost: `hold` keeps the entry until a \
                    person decides, `retry` sends it again. `/users/track` does not recognize repeated entries: an \
                    entry that is sent again may count twice, and cannot be taken back.
                    """),
            Key(
                "UsersTrack", "SendFlushed", { $1(&$0.routing.customData.sendsFlushed) }, .boolean, default: "no",
                meaning: """
                    Whether entries that a session start flushes are also sent, to the profile of that session's user.
                    """),
            Key(
                "UsersTrack", "MaxPending", { $1(&$0.routing.customData.pendingMax) }, .integer(1...100_000_000),
                default: "100000",
                meaning: """
                    The maximum number of waiting entries, in suites and to be sent, 1 to 100000000, and the maximum \
                    size of their names and values, 64K to 16G. Beyond it the daemon refuses new entries with \
                    `overloaded`.
                    """),
            Key(
                "UsersTrack", "MaxPendingSize", { $1(&$0.routing.customData.pendingSizeMax) },
                .byteSize(64 << 10...16 << 30), default: "64M"),
            Key(
                "UsersTrack", "ArrayElementsMax", { $1(&$0.routing.customData.arrayElementsMax) }, .integer(1...10_000),
                default: "500",
                meaning: """
                    The maximum number of elements of an array in a custom attribute, 1 to 10000: the limit of your \
                    Braze workspace.
                    """),
        ]
    }
}
