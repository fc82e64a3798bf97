public import PushModel

/// Decides which party completes a callback, and with which values: exactly once on every path.
///
/// Source: the provider's own dispatcher and the documentation of braze-swift-sdk. The owner of
/// `didReceiveRemoteNotification` and `didReceiveResponse` completes them. Braze's foreground handler never completes
/// `willPresent`, so the app always does. Apple requires exactly one call of each completion handler: a second call
/// crashes the app, and a missing call costs the app its background time.
struct Completions {
    /// The callback to complete.
    let callback: Callback
    /// The defaults for a callback that no owner completes.
    let rules: CompletionRules
    /// The device's version of iOS in the delivery.
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

    /// Returns the completion after a handler answered. The first answer counts, with the options in it that iOS knows.
    func byHandler(_ reply: HandlerAnswer.Content) -> Completion? {
        guard callback != .none else { return nil }
        let spoke = reply.result != nil || reply.options != nil
        return Completion(
            by: spoke ? .handler : .default, times: max(1, reply.times), result: reply.result ?? .noData,
            options: callback == .willPresent ? reply.options.map(Self.known) ?? presentation : [])
    }

    /// Returns the completion by the app if no owner answered. At the deadline the app passes `failed` to iOS.
    func byHost(_ outcome: Outcome) -> Completion? {
        guard callback != .none else { return nil }
        let failed = callback == .didReceiveRemoteNotification && outcome.isMissed
        return Completion(
            by: .default, result: failed ? .failed : .noData, options: callback == .willPresent ? presentation : [])
    }

    /// Returns a remark for people on a handler's answer; `nil` if the answer is in order.
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

    /// Returns a remark for people on a handler that missed its deadline; `nil` if the callback has no completion
    /// handler.
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
    /// Whether the callback has a completion handler that iOS waits for.
    fileprivate var hasCompletionHandler: Bool {
        switch self {
        case .didReceiveRemoteNotification, .willPresent, .didReceiveResponse, .serviceExtension: true
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered,
            .onUnregistered, .didRegister, .push, .notificationclick, .notificationclose, .none:
            false
        }
    }
}

/// The defaults for completing a callback when neither Braze's public contract nor a handler states the completion.
public struct CompletionRules: Hashable, Sendable {
    /// The result that Braze's SDK passes to the completion handler of `didReceiveRemoteNotification`. The SDK's code
    /// is not public.
    public var brazeFetchResult = FetchResult.noData
    /// The options that the app returns from `willPresent` if the owner gives none; `nil`: the options of Braze's
    /// example for the version of iOS.
    public var presentationOptions: [PresentationOption]?

    /// Returns the options that the app returns from `willPresent` if the owner gives none.
    ///
    /// - Parameter osVersion: the device's version of iOS; `nil` counts as 14 or later.
    func presentation(on osVersion: OSVersion?) -> [PresentationOption] {
        if let presentationOptions { return presentationOptions }
        let hasBanners = osVersion.map { $0.major >= 14 } ?? true
        return hasBanners ? [.banner, .list, .sound] : [.alert, .sound]
    }

    /// Whether the user sees a Braze payload. In the foreground the options of `willPresent` decide (tracker, T9).
    ///
    /// - Parameters:
    ///   - decision: the platform's treatment of the payload.
    ///   - osVersion: the device's version of iOS in the request.
    func displays(_ decision: Decision, on osVersion: String?) -> Bool {
        guard decision.displayed, decision.callbacks.contains(.willPresent) else { return decision.displayed }
        return presentation(on: osVersion.flatMap(OSVersion.init)).contains { $0.isVisible }
    }
}

extension PresentationOption {
    /// Whether the option makes the notification visible, and so tappable later. A badge or a sound alone does neither.
    fileprivate var isVisible: Bool {
        switch self {
        case .alert, .banner, .list: true
        case .badge, .sound: false
        }
    }
}
