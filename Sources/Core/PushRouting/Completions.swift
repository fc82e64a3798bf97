import PushModel

/// Who completes a callback, and with what: exactly once, on every path.
///
/// Source: the provider's own dispatcher and the documentation of braze-swift-sdk: whoever owns
/// `didReceiveRemoteNotification` and `didReceiveResponse` completes them; Braze's foreground handler never completes
/// `willPresent`, so the app always does. Apple wants each called once: twice crashes the app, never costs it its time in
/// the background.
struct Completions {
    /// The callback to complete.
    let callback: Callback
    /// What completes it where nobody says.
    let rules: CompletionRules
    /// The device's version of iOS, as the delivery says it.
    let osVersion: OSVersion?

    init(_ callback: Callback, rules: CompletionRules = CompletionRules(), osVersion: OSVersion? = nil) {
        self.callback = callback
        self.rules = rules
        self.osVersion = osVersion
    }

    /// The tracker took the payload.
    func byTracker() -> Completion? {
        switch callback {
        case .none: nil
        case .willPresent: Completion(by: .default, result: .noData, options: presentation)
        case .didReceiveRemoteNotification: Completion(by: .tracker, result: rules.brazeFetchResult)
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered,
            .onUnregistered, .didReceiveResponse, .serviceExtension, .didRegister, .push, .notificationclick,
            .notificationclose:
            Completion(by: .tracker, result: .noData)
        }
    }

    /// A handler answered. Its first answer counts, and of that the options that iOS has.
    func byHandler(_ reply: HandlerAnswer.Content) -> Completion? {
        guard callback != .none else { return nil }
        let spoke = reply.result != nil || reply.options != nil
        return Completion(
            by: spoke ? .handler : .default, times: max(1, reply.times), result: reply.result ?? .noData,
            options: callback == .willPresent ? reply.options.map(Self.known) ?? presentation : [])
    }

    /// Nobody answered: the app completes. At the deadline iOS is told `failed`.
    func byHost(_ outcome: Outcome) -> Completion? {
        guard callback != .none else { return nil }
        let failed = callback == .didReceiveRemoteNotification && outcome.isMissed
        return Completion(
            by: .default, result: failed ? .failed : .noData, options: callback == .willPresent ? presentation : [])
    }

    /// What a person should know of a handler's answer; `nil` when it is in order.
    func remark(on reply: HandlerAnswer.Content, of handler: String) -> String? {
        var remarks = reply.remarks
        if reply.times > 1 {
            let crash = "; in an app the second call of the completion handler crashes"
            let first = "only the first answer counts" + (callback.hasCompletionHandler ? crash : "")
            remarks.append("\(handler) answered \(reply.times) times; \(first)")
        }
        if callback == .willPresent {
            let unknown = (reply.options ?? []).filter { PresentationOption(rawValue: $0) == nil }
            if !unknown.isEmpty {
                let names = PresentationOption.allCases.map(\.rawValue).joined(separator: ", ")
                remarks.append("options: \(unknown.joined(separator: ", ")) ignored; iOS knows \(names)")
            }
        }
        return remarks.isEmpty ? nil : remarks.joined(separator: "; ")
    }

    /// What a person should know where a handler was due to answer and did not; `nil` where nothing waits for it.
    func remark(onSilenceOf handler: String?, outcome: Outcome) -> String? {
        guard outcome.isMissed, callback.hasCompletionHandler else { return nil }
        switch callback {
        case .serviceExtension:
            return "the service extension was not done in time: iOS shows the notification with its original content"
        default:
            let result = callback == .didReceiveRemoteNotification ? " with failed" : ""
            let who = handler.map { "\($0) never" } ?? "no handler"
            return "\(who) answered: the app completes the callback\(result)"
        }
    }

    private var presentation: [String] { rules.presentation(on: osVersion).map(\.rawValue) }

    /// The options that iOS has, each once.
    private static func known(_ options: [String]) -> [String] {
        var known: [String] = []
        for option in options where PresentationOption(rawValue: option) != nil && !known.contains(option) {
            known.append(option)
        }
        return known
    }
}

extension Callback {
    /// Whether iOS waits for a completion handler to be called.
    fileprivate var hasCompletionHandler: Bool {
        switch self {
        case .didReceiveRemoteNotification, .willPresent, .didReceiveResponse, .serviceExtension: true
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered,
            .onUnregistered, .didRegister, .push, .notificationclick, .notificationclose, .none:
            false
        }
    }
}
