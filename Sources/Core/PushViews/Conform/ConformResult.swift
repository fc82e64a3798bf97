public import PushModel

/// The acts of a dispatcher on one case: a line that a team's tests write, in any language.
public struct ConformResult: Sendable {
    /// A call of the completion handler, or the end of the promise in `waitUntil`.
    struct Completion: Hashable, Sendable {
        /// The argument; of `willPresent` the words, with commas between them.
        var result: String?
        /// The time since the call of the callback.
        var milliseconds: Double?
    }

    /// The name of the case.
    public let name: String
    var owners: [String] = []
    var returned: Bool?
    var completions: [Completion] = []
    var shown: [String] = []
    var milliseconds: Double?
    var thrown: String?
    var calledSuper: Bool?
    var skipped: String?

    /// The members of a line and their meanings, in their order.
    public static let members: [(name: String, meaning: String)] = [
        ("name", "the name of the case; each case has one line"),
        ("owners", "a list of those who got the call, each as often as it got it: braze, own, or a provider's name"),
        (
            "returned",
            "what handleBrazeRemoteMessage, handleBackgroundNotification or handleUserNotification returned; null or left out if none was called"
        ),
        (
            "completions",
            "a list with an object for each call of the completion handler: result, its argument as a word (of willPresent the words, with commas), and at_ms, the milliseconds since the call of the callback; both may be left out. On the web an object for each event whose waitUntil came to its end"
        ),
        ("shown", "a list of those who showed a notification: braze, own, or a provider's name"),
        ("elapsed_ms", "the milliseconds until the callback returned, by any clock"),
        ("thrown", "the error that left the callback"),
        ("super_called", "false if the class has a super method that was not called"),
        ("skipped", "the reason why the case was not run; the other members are left out then"),
    ]

    /// Reads a line.
    public init(_ line: JSONNode) throws(ConformError) {
        let known = Self.members.map(\.name)
        for (key, _) in line.members where !known.contains(key) {
            throw ConformError(key, "a result has no such member\(suggestion(for: key, among: known))")
        }
        let members = ConformMembers(object: line)
        func milliseconds(_ name: String, of members: ConformMembers) throws(ConformError) -> Double? {
            try members.value(name, "milliseconds from 0") { node in node.double.flatMap { $0 >= 0 ? $0 : nil } }
        }
        name = try members.required("name", members.text("name"))
        owners = try members.texts("owners")
        returned = try members.bool("returned")
        shown = try members.texts("shown")
        thrown = try members.text("thrown")
        calledSuper = try members.bool("super_called")
        skipped = try members.text("skipped")
        self.milliseconds = try milliseconds("elapsed_ms", of: members)
        let list = try members.value("completions", "a list of objects") { node in
            node.kind == .array && node.elements.allSatisfy { $0.kind == .object } ? node.elements : nil
        }
        for (place, node) in (list ?? []).enumerated() {
            let one = ConformMembers(object: node, path: "completions[\(place)].")
            for (key, _) in node.members where key != "result" && key != "at_ms" {
                throw ConformError(one.path + key, "a completion has result and at_ms")
            }
            completions.append(
                Completion(result: try one.text("result"), milliseconds: try milliseconds("at_ms", of: one)))
        }
        if skipped == nil, object(of: line) == ["name"] {
            throw ConformError("owners", "the line says nothing about \(name): give owners, or skipped with the reason")
        }
    }

    private func object(of line: JSONNode) -> [String] { line.members.map(\.key) }
}
