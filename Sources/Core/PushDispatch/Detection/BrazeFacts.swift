public import PushModel

/// The classification of a Braze payload by Braze's SDK for the platform. The facts for decisions are read at once, the
/// others from the payload on each read.
public struct BrazeFacts: Sendable {
    /// The SDK's treatment. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The SDK shows it.
        case visible
        /// The SDK hands it to the app without showing it.
        case silent
        /// The SDK ignores it: it only tests whether the app is still installed.
        case uninstallTracking = "uninstall_tracking"
        /// The SDK logs it: the push service dropped stored messages.
        case deletedMessages = "deleted_messages"
    }

    /// Another task of the payload for the SDK. The raw values are the wire names.
    public enum Feature: String, Sendable, CaseIterable {
        case contentCardSync = "content_card_sync"
        case featureFlagsRefresh = "feature_flags_refresh"
        case bannersRefresh = "banners_refresh"
        case geofencesSync = "geofences_sync"
        case testInAppMessage = "test_in_app_message"
        case pushStory = "push_story"
        case actions
        case attachment
    }

    /// A button of the notification.
    public struct Action: Hashable, Sendable {
        /// The effect of a press. The raw values are the wire names.
        public enum Kind: String, Sendable, CaseIterable {
            /// Opens a web address.
            case uri
            /// Opens a link of a scheme other than `http` and `https`.
            case deepLink = "deep_link"
            /// Opens the app.
            case open
            /// Only removes the notification.
            case close
            /// A type that this SDK does not know: the SDK logs the press, and does nothing else.
            case unknown
        }

        /// The id by which a press is reported; `nil`: the payload gives it none.
        public var id: String?
        /// The effect of a press.
        public var kind: Kind
        /// The text on it.
        public var title: String?
        /// The address of `uri` and `deepLink`.
        public var uri: String?
    }

    /// The other tasks of the payload for the SDK, one bit each.
    struct FeatureSet: Hashable, Sendable {
        private var bits: UInt8 = 0

        init() {}

        mutating func insert(_ feature: Feature) { bits |= feature.bit }

        func contains(_ feature: Feature) -> Bool { bits & feature.bit != 0 }
    }

    /// The SDK's treatment.
    public let kind: Kind
    /// The campaign in the payload; `nil` for API campaigns and tests, whose opens are not attributable.
    public let campaignID: String?
    /// Android: the id by which the SDK drops a repeated push; `nil`: it is never a repetition.
    public let uniqueID: String?
    /// Whether a session soon after it can be its influenced open: it is displayed, has a campaign, and is not internal
    /// to the SDK.
    public internal(set) var countsForInfluencedOpen = false

    let featureSet: FeatureSet
    private let payload: any PlatformPayload

    init(
        _ payload: any PlatformPayload, kind: Kind, campaignID: String?, features: FeatureSet, uniqueID: String? = nil
    ) {
        self.payload = payload
        self.kind = kind
        self.campaignID = campaignID
        self.uniqueID = uniqueID
        featureSet = features
    }

    /// The other tasks of the payload, in the order of `Feature`.
    public var features: [Feature] { Feature.allCases.filter(featureSet.contains) }

    /// The buttons of the notification in order. Computed on each read.
    public var actions: [Action] { payload.brazeActions }

    /// The link that a tap on the notification opens; `nil`: the app. Computed on each read.
    public var deepLink: String? { payload.brazeLink }

    /// Whether it is a message for the user or the app, not about the app's installation.
    var isMessage: Bool { kind == .visible || kind == .silent }

    /// Whether the tracker (T9) may count it as displayed. A payload that is silent to the SDK may be displayed.
    var mayBeDisplayed: Bool { isMessage && !featureSet.contains(.testInAppMessage) }

    /// Whether it is internal to the SDK (braze-swift-sdk: `isInternal`; React Native: `is_braze_internal`).
    var isInternal: Bool {
        kind == .uninstallTracking || featureSet.contains(.featureFlagsRefresh) || featureSet.contains(.geofencesSync)
    }
}

extension BrazeFacts.Feature {
    fileprivate var bit: UInt8 {
        switch self {
        case .contentCardSync: 1 << 0
        case .featureFlagsRefresh: 1 << 1
        case .bannersRefresh: 1 << 2
        case .geofencesSync: 1 << 3
        case .testInAppMessage: 1 << 4
        case .pushStory: 1 << 5
        case .actions: 1 << 6
        case .attachment: 1 << 7
        }
    }
}

extension BrazeFacts.Action.Kind {
    /// Returns the effect of a button that opens `uri` (rule T1: only `http` and `https` are web addresses).
    init(opening uri: String?) {
        let scheme = uri?.prefix { $0 != ":" }.lowercased()
        self = scheme == "http" || scheme == "https" ? .uri : .deepLink
    }

    /// Returns the effect of a button on the web: an address without a scheme belongs to the site itself.
    init(webTarget: String) {
        let scheme = webTarget.prefix { $0 != ":" }
        self = scheme == webTarget || scheme.contains("/") ? .uri : Self(opening: webTarget)
    }
}

extension ButtonAction {
    /// Returns `nil` for a button that the SDK does not know: the SDK logs the press, and does nothing else.
    public init?(_ kind: BrazeFacts.Action.Kind) {
        switch kind {
        case .uri: self = .uri
        case .deepLink: self = .deepLink
        case .open: self = .none
        case .close: self = .close
        case .unknown: return nil
        }
    }
}
