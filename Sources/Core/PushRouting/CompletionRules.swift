import PushDispatch
public import PushModel

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
