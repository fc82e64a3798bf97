public import PushModel
import PushRouter

/// The services for which errors can be demanded.
public enum FaultService: String, Hashable, Sendable, CaseIterable {
    /// Sends of FCM.
    case fcm
    /// Single subscriptions of FCM's topics.
    case topics
    /// Sends of APNs.
    case apns
}

/// An answer on demand in place of the regular one.
public enum InjectedAnswer: Hashable, Sendable {
    /// An answer of the service, by its name.
    case named(Name)
    /// Any answer.
    case raw(status: Int, headers: [GatewayRequest.Header], body: [UInt8])
    /// The refusal of a token that names no answer: a test with a misspelt name must not pass.
    case unknown(cause: String)

    /// The name of an answer: `UNREGISTERED`, `Unregistered`; the suffix `+ra` adds a `Retry-After`.
    public struct Name: Hashable, Sendable {
        /// The name, without `+ra`.
        public let text: String
        /// The seconds of `Retry-After`; `nil` for an answer without one.
        let retryAfter: Int64?

        /// - Parameter text: the name of an answer of a service.
        /// - Returns: `nil` if the service has no such answer.
        init?(_ text: String, of service: FaultService) {
            let says = text.hasSuffix(Self.retryMark)
            self.text = says ? String(text.dropLast(Self.retryMark.count)) : text
            retryAfter = says ? RefusalMeaning.secondsWithoutWord : nil
            let isKnown =
                switch service {
                case .apns: APNsReason(rawValue: self.text) != nil
                case .fcm, .topics: FCMErrorCode(rawValue: self.text) != nil || Self.special[self.text] != nil
                }
            guard isKnown else { return nil }
        }

        /// The names of a service's answers.
        static func all(of service: FaultService) -> [String] {
            switch service {
            case .apns: APNsReason.allCases.map(\.rawValue)
            case .fcm, .topics: FCMErrorCode.allCases.map(\.rawValue) + special.keys
            }
        }

        private static let retryMark = "+ra"

        fileprivate static let badToken = GoogleError(.badToken(field: "message.token"))

        /// Google's answers without an `errorCode` of this name, or with more than the code, as functions of the project.
        fileprivate static let special: [String: @Sendable (_ project: String) -> GatewayResponse] = [
            // The commonest error of this code; no answer has the code alone.
            FCMErrorCode.invalidArgument.rawValue: { _ in badToken.response },
            "BADREQUEST": { _ in badToken.response },
            "APNS": { _ in
                let reason = APNsReason.badDeviceToken
                return GoogleError.refusedByAPNs(statusCode: reason.status, reason: reason.rawValue).response
            },
            "401": { _ in GoogleError.badAccessToken.response },
            "403API": { GoogleError.disabled(project: $0).response },
            "409": { _ in TopicSubscriptionOutcome.exists.response },
            "NODETAIL404": { _ in GoogleError.notFound.response },
            "HTML502": { _ in
                GatewayResponse(
                    status: 502, headers: [GatewayRequest.Header("content-type", "text/html; charset=UTF-8")],
                    body: Array("<!DOCTYPE html><title>Error 502 (Server Error)!!1</title>".utf8))
            },
        ]
    }

    /// Returns the answer to a request to FCM.
    ///
    /// - Parameter project: the project of the request.
    public func response(project: String) -> GatewayResponse {
        switch self {
        case .unknown(let cause): Name.badToken.caused(by: cause).response
        case .raw(let status, let headers, let body): GatewayResponse(status: status, headers: headers, body: body)
        case .named(let name):
            (Name.special[name.text]?(project)
                ?? GoogleError(fcm: FCMErrorCode(rawValue: name.text) ?? .unspecified).response)
                .retried(afterSeconds: name.retryAfter).onDemand()
        }
    }

    /// Returns the answer to a request to APNs.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - timestamp: the time since which a token is invalid, for a reason with a timestamp.
    public func response(to request: GatewayRequest, timestamp: WallTime) -> GatewayResponse {
        switch self {
        case .unknown(let cause): return APNsRejection(.badDeviceToken, remark: cause).response(to: request)
        case .raw(let status, let headers, let body):
            let id = request.header("apns-id").map { [GatewayRequest.Header("apns-id", $0)] } ?? []
            let hasID = headers.contains { $0.name == "apns-id" }
            return GatewayResponse(status: status, headers: (hasID ? [] : id) + headers, body: body)
        case .named(let name):
            let reason = APNsReason(rawValue: name.text) ?? .internalServerError
            return APNsRejection(reason, timestamp: timestamp, retryAfter: name.retryAfter).response(to: request)
                .onDemand()
        }
    }
}
