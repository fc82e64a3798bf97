import PushModel

/// The completion of a callback: by whom and with what result. Each path completes a callback exactly once.
///
/// Source: the provider's own dispatcher and the documentation of braze-swift-sdk: the owner of
/// `didReceiveRemoteNotification` and `didReceiveResponse` completes them; Braze's foreground handler never completes
/// `willPresent`, so the app always does. Apple requires one call each: a second call crashes the app, a missing call
/// costs the app its time in the background.
struct Completions {
    /// The callback to complete.
    let callback: Callback
    /// The completions for an owner that gives none.
    let rules: CompletionRules
    /// The device's version of iOS, as in the delivery.
    let osVersion: OSVersion?

    init(_ callback: Callback, rules: CompletionRules = CompletionRules(), osVersion: OSVersion? = nil) {
        self.callback = callback
        self.rules = rules
        self.osVersion = osVersion
    }

    /// Returns the completion after the tracker took the payload.
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

    /// Returns the completion by a handler's answer: the first answer counts, with the options that iOS knows.
    func byHandler(_ reply: HandlerAnswer.Content) -> Completion? {
        guard callback != .none else { return nil }
        let spoke = reply.result != nil || reply.options != nil
        return Completion(
            by: spoke ? .handler : .default, times: max(1, reply.times), result: reply.result ?? .noData,
            options: callback == .willPresent ? reply.options.map(Self.known) ?? presentation : [])
    }

    /// Returns the app's completion without an answer. At the deadline iOS gets `failed`.
    func byHost(_ outcome: Outcome) -> Completion? {
        guard callback != .none else { return nil }
        let failed = callback == .didReceiveRemoteNotification && outcome.isMissed
        return Completion(
            by: .default, result: failed ? .failed : .noData, options: callback == .willPresent ? presentation : [])
    }

    /// Returns the faults of a handler's answer, for people; `nil`: it has none.
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

    /// Returns the consequence of a handler's missing answer, for people; `nil` if it owed none, or if the callback has
    /// no completion handler.
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

    /// Returns the options that iOS knows, each once.
    private static func known(_ options: [String]) -> [String] {
        var known: [String] = []
        for option in options where PresentationOption(rawValue: option) != nil && !known.contains(option) {
            known.append(option)
        }
        return known
    }
}

extension Callback {
    /// Whether iOS passes a completion handler and waits for its call.
    fileprivate var hasCompletionHandler: Bool {
        switch self {
        case .didReceiveRemoteNotification, .willPresent, .didReceiveResponse, .serviceExtension: true
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered,
            .onUnregistered, .didRegister, .push, .notificationclick, .notificationclose, .none:
            false
        }
    }
}
