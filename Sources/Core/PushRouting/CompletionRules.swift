import PushDispatch
public import PushModel

/// What completes a callback where neither Braze's public contract nor a handler says it.
public struct CompletionRules: Hashable, Sendable {
    /// What Braze's SDK passes to the completion handler of `didReceiveRemoteNotification`. Its code is not public.
    public var brazeFetchResult = FetchResult.noData
    /// What the app answers in `willPresent` when the owner says nothing; `nil`: what Braze's example answers, by the
    /// version of iOS.
    public var presentationOptions: [PresentationOption]?

    /// What the app answers in `willPresent` when the owner says nothing.
    ///
    /// - Parameter osVersion: the device's version of iOS; unknown, it is 14 or later.
    func presentation(on osVersion: OSVersion?) -> [PresentationOption] {
        if let presentationOptions { return presentationOptions }
        let hasBanners = osVersion.map { $0.major >= 14 } ?? true
        return hasBanners ? [.banner, .list, .sound] : [.alert, .sound]
    }

    /// Whether the user sees a Braze payload: in the foreground `willPresent` decides (tracker, T9).
    ///
    /// - Parameters:
    ///   - decision: what the platform does with it.
    ///   - osVersion: the device's version of iOS, as the request says it.
    func displays(_ decision: Decision, on osVersion: String?) -> Bool {
        guard decision.displayed, decision.callbacks.contains(.willPresent) else { return decision.displayed }
        return presentation(on: osVersion.flatMap(OSVersion.init)).contains { $0.isVisible }
    }
}

extension PresentationOption {
    /// Whether the notification can be seen, and tapped later. A badge and a sound alone are neither.
    fileprivate var isVisible: Bool {
        switch self {
        case .alert, .banner, .list: true
        case .badge, .sound: false
        }
    }
}
