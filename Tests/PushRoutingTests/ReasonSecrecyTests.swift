import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The payload's text in the reason of an outcome")
struct ReasonSecrecyTests {
    /// A text in every place where a producer may write freely.
    private static let secret = "XyZZy-7731"

    /// Payloads with the secret in every value that a decision reads, and in keys.
    private static let payloads: [(Platform, String)] = [
        (.android, #"{"extras":{"message_type":"\#(secret)","google.message_id":"\#(secret)"}}"#),
        (.android, #"{"extras":{"message_type":"send_event","google.message_id":"\#(secret)"}}"#),
        (.android, #"{"extras":{"message_type":"send_error","google.message_id":"\#(secret)","error":"\#(secret)"}}"#),
        (.android, #"{"extras":{"message_type":"deleted_messages","\#(secret)":"\#(secret)"}}"#),
        (.android, #"{"extras":{"gcm.n.e":"1","gcm.n.title":"\#(secret)","\#(secret)":"1"}}"#),
        (.android, #"{"action":"\#(secret)","extras":{"token":"\#(secret)"}}"#),
        (.android, #"{"action":"com.google.firebase.messaging.NEW_TOKEN","extras":{"token":"\#(secret)"}}"#),
        (.android, #"{"action":"com.amazon.device.messaging.intent.REGISTRATION","extras":{"error":"\#(secret)"}}"#),
        (.android, #"{"action":"com.amazon.device.messaging.intent.REGISTRATION","extras":{"\#(secret)":"1"}}"#),
        (.android, #"{"action":"com.amazon.device.messaging.intent.RECEIVE","extras":{"k":"\#(secret)"}}"#),
        (.android, #"{"data":{"_ab":"true","t":"\#(secret)","a":"\#(secret)","cid":"\#(secret)"}}"#),
        (.android, #"{"data":{"_ab":"true","extra":"{\"appboy_uninstall_tracking\":\"\#(secret)\"}"}}"#),
        (.android, #"{"data":{"_ab":"true"},"notification":{"title":"\#(secret)"}}"#),
        (.android, #"{"message":{"token":"\#(secret)","data":{"\#(secret)":"\#(secret)"}},"validate_only":true}"#),
        (.android, #"{"data":{"\#(secret)":"\#(secret)"},"collapse_key":"\#(secret)"}"#),
        (.ios, #"{"aps":{"alert":"\#(secret)","category":"\#(secret)"},"\#(secret)":"\#(secret)"}"#),
        (.ios, #"{"aps":{"alert":"\#(secret)","content-available":1},"ab":{"c":"\#(secret)"}}"#),
        (.ios, #"{"aps":{"event":"\#(secret)","content-state":{"\#(secret)":1}}}"#),
        (.ios, #"{"mdm":"\#(secret)"}"#),
        (.ios, #"{"aps":{"sound":"\#(secret)","mutable-content":1}}"#),
        (.web, #"{"cid":"\#(secret)","t":"\#(secret)"}"#),
        (.web, #"{"\#(secret)":"\#(secret)"}"#),
    ]

    @Test("is never there, for any payload and any state of the app", arguments: AppState.allCases)
    func outcomes(state: AppState) throws {
        for (platform, payload) in Self.payloads {
            for sdk in SDKState.allCases {
                var bench = Bench(.testing(handlers: [Handler(name: "crm", kind: .discard)]))
                // A refused payload makes no request: its message goes to the client alone.
                guard (try? bench.submit(.deliver(payload, to: "d", platform: platform, state: state, sdk: sdk))) != nil
                else { continue }
                #expect(!bench.ends.isEmpty, "\(payload)")
                for (id, end) in bench.ends {
                    #expect(end.result.reason?.contains(Self.secret) != true, "\(id): \(payload)")
                    let names = [end.invocation.provider, end.invocation.route, end.invocation.handler]
                    #expect(!names.contains { $0?.contains(Self.secret) == true }, "\(id): \(payload)")
                }
            }
        }
    }

    @Test("is never there even when the decision itself quotes it")
    func quoting() throws {
        var quoted = 0
        for (platform, payload) in Self.payloads {
            let root = JSONDocument(test: payload).root
            guard let decision = try? decide(Delivery(platform: platform, payload: root)) else { continue }
            for reason in decision.reasons where reason.description.contains(Self.secret) {
                quoted += 1
                // A decision with a callback gives no outcome's reason.
                if decision.outcome != nil { #expect(!reason.withoutPayload.contains(Self.secret), "\(reason)") }
            }
        }
        #expect(quoted >= 5, "or this test looks at the wrong payloads")
    }
}
