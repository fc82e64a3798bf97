import PushModel
import PushRouter

/// A change of one topic's subscriptions for many tokens at once, as clients older than the topics of FCM v1 send it.
///
/// Source: firebase-admin 6.5.0 and async-firebase 6.4.0, recorded. Google's page has the limit of 1,000 tokens.
public struct TopicBatch: Hashable, Sendable {
    /// The reason why a token was not changed. The raw values are those of the answer.
    ///
    /// Source: firebase-admin's tests, and its recording. The conditions of each are unknown (UNVERIFIED).
    public enum Failure: String, Sendable, CaseIterable {
        case notFound = "NOT_FOUND"
        case invalidArgument = "INVALID_ARGUMENT"
        case internalError = "INTERNAL"
        case tooManyTopics = "TOO_MANY_TOPICS"
        case resourceExhausted = "RESOURCE_EXHAUSTED"
        case permissionDenied = "PERMISSION_DENIED"

        /// The failure for an answer to a single subscription, by its status; `nil` for an existing subscription, which
        /// is none here.
        init?(ofStatus status: Int) {
            switch status {
            case 400: self = .invalidArgument
            case 403: self = .permissionDenied
            case 404: self = .notFound
            case 409: return nil
            case 429: self = .resourceExhausted
            default: self = .internalError
            }
        }
    }

    /// The error for a malformed body.
    ///
    /// The word, and an answer without further members, are those that firebase-admin reads (UNVERIFIED).
    public struct Fault: Error, Hashable, Sendable {
        /// The error, for people; the answer does not contain it.
        public let message: String

        /// The answer.
        public var response: GatewayResponse {
            var writer = JSONWriter()
            writer.object { $0.member("error", "InvalidArgument") }
            return GatewayResponse.googleJSON(status: GoogleStatus.invalidArgument.code, writer.bytes)
                .because("Google", "InvalidArgument", message)
        }
    }

    /// Whether the request subscribes the tokens; otherwise it unsubscribes them.
    let isAdding: Bool
    /// The topic, without the prefix `/topics/`.
    let topic: String
    /// The tokens, in the order of the request.
    public let tokens: [String]

    /// The limit of tokens in one request.
    static let tokensMax = 1000

    /// Reads the body of a request.
    init(isAdding: Bool, body: [UInt8], limits: JSONLimits = JSONLimits()) throws(Fault) {
        let root: JSONNode
        do {
            root = try JSONDocument(scanning: body, limits: limits).root
        } catch {
            throw Fault(message: error.message)
        }
        self.isAdding = isAdding
        guard let to = root["to"]?.string else { throw Fault(message: "to is missing, or not a string") }
        topic = to.hasPrefix(Self.prefix) ? String(to.dropFirst(Self.prefix.count)) : to
        guard V1Body.isTopic(topic) else { throw Fault(message: "to: \(V1Body.topicForm)") }
        guard let list = root["registration_tokens"], list.kind == .array, list.count > 0 else {
            throw Fault(message: "registration_tokens is missing, empty, or not a list")
        }
        guard list.count <= Self.tokensMax else {
            throw Fault(message: "registration_tokens has \(list.count), more than \(Self.tokensMax)")
        }
        tokens = list.elements.compactMap(\.string)
        guard tokens.count == list.count else {
            throw Fault(message: "registration_tokens has a token that is not a string")
        }
    }

    private static let prefix = "/topics/"

    /// Returns the answer.
    ///
    /// - Parameter failures: the failure of each token, in the order of the tokens; `nil` for a success.
    public func response(_ failures: [Failure?]) -> GatewayResponse {
        var writer = JSONWriter()
        writer.object {
            $0.member(
                "results",
                array: { list in
                    for failure in failures {
                        list.object { result in
                            if let failure { result.member("error", failure.rawValue) }
                        }
                    }
                })
        }
        return .googleJSON(writer.bytes)
    }
}
