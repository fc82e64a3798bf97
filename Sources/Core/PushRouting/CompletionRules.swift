public import PushModel

/// What completes a callback where neither Braze's public contract nor a handler says it.
public struct CompletionRules: Hashable, Sendable {
    /// What Braze's SDK passes to the completion handler of `didReceiveRemoteNotification`. Its code is not public.
    public var brazeFetchResult: FetchResult
    /// What the app answers in `willPresent` when the owner says nothing; `nil`: what Braze's example answers, by the
    /// version of iOS.
    public var presentationOptions: [PresentationOption]?

    /// Joins the parts; the defaults are the shipped ones.
    public init(brazeFetchResult: FetchResult = .noData, presentationOptions: [PresentationOption]? = nil) {
        self.brazeFetchResult = brazeFetchResult
        self.presentationOptions = presentationOptions
    }

    /// What the app answers in `willPresent` when the owner says nothing.
    ///
    /// - Parameter osVersion: the device's version of iOS; unknown, it is 14 or later.
    func presentation(on osVersion: OSVersion?) -> [PresentationOption] {
        if let presentationOptions { return presentationOptions }
        let hasBanners = osVersion.map { $0.major >= 14 } ?? true
        return hasBanners ? [.banner, .list, .sound] : [.alert, .sound]
    }
}
