import PushDispatch
public import PushModel

/// The completions of callbacks that neither Braze's public contract nor a handler determines.
public struct CompletionRules: Hashable, Sendable {
    /// The result that Braze's SDK, which is not public, passes to the completion handler of
    /// `didReceiveRemoteNotification`.
    public var brazeFetchResult = FetchResult.noData
    /// The app's answer in `willPresent` if the owner gives none; `nil`: that of Braze's example, by version of iOS.
    public var presentationOptions: [PresentationOption]?

    /// Returns the app's answer in `willPresent` if the owner gives none.
    ///
    /// - Parameter osVersion: the device's version of iOS; `nil` counts as 14 or later.
    func presentation(on osVersion: OSVersion?) -> [PresentationOption] {
        if let presentationOptions { return presentationOptions }
        let hasBanners = osVersion.map { $0.major >= 14 } ?? true
        return hasBanners ? [.banner, .list, .sound] : [.alert, .sound]
    }

    /// Whether the user sees a Braze payload: in the foreground `willPresent` decides (tracker, T9).
    ///
    /// - Parameters:
    ///   - decision: the platform's treatment of the payload.
    ///   - osVersion: the device's version of iOS, as in the request.
    func displays(_ decision: Decision, on osVersion: String?) -> Bool {
        guard decision.displayed, decision.callbacks.contains(.willPresent) else { return decision.displayed }
        return presentation(on: osVersion.flatMap(OSVersion.init)).contains { $0.isVisible }
    }
}

extension PresentationOption {
    /// Whether the option makes the notification visible, so that a later tap can open it. A badge or a sound does not.
    fileprivate var isVisible: Bool {
        switch self {
        case .alert, .banner, .list: true
        case .badge, .sound: false
        }
    }
}
