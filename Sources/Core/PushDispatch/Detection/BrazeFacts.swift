public import PushModel

/// The classification of a Braze payload by Braze's SDK for the platform. Stored properties are those that decisions
/// need; computed ones parse the payload on each access.
public struct BrazeFacts: Sendable {
    /// The SDK's treatment of the payload. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The SDK shows it.
        case visible
        /// The SDK passes it to the app without showing it.
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
        /// The effect of a press on a button. The raw values are the wire names.
        public enum Kind: String, Sendable, CaseIterable {
            /// Opens a web URL.
            case uri
            /// Opens a link with a scheme other than `http` and `https`.
            case deepLink = "deep_link"
            /// Opens the app.
            case open
            /// Only removes the notification.
            case close
            /// Unknown to this SDK: it logs the press and does nothing else.
            case unknown
        }

        /// The id with which the SDK reports a press; `nil` if the payload gives none.
        public var id: String?
        /// The effect of a press.
        public var kind: Kind
        /// The title of the button.
        public var title: String?
        /// The link of `uri` and `deepLink`.
        public var uri: String?
    }

    /// A set of features, one bit each.
    struct FeatureSet: Hashable, Sendable {
        private var bits: UInt8 = 0

        init() {}

        mutating func insert(_ feature: Feature) { bits |= feature.bit }

        func contains(_ feature: Feature) -> Bool { bits & feature.bit != 0 }
    }

    /// The SDK's treatment of the payload.
    public let kind: Kind
    /// The campaign id in the payload; `nil` in API campaigns and tests, whose opens cannot be attributed.
    public let campaignID: String?
    /// Android: the id by which the SDK drops a repeated push; `nil`: the push is never a repetition.
    public let uniqueID: String?
    /// Whether a session soon after it can count as its influenced open: it is displayed, has a campaign, and is not
    /// internal to the SDK.
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

    /// The features, in the order of `Feature`.
    public var features: [Feature] { Feature.allCases.filter(featureSet.contains) }

    /// The buttons of the notification, in order. Parsed on each access.
    public var actions: [Action] { payload.brazeActions }

    /// The link that a tap opens; `nil`: a tap opens the app. Parsed on each access.
    public var deepLink: String? { payload.brazeLink }

    /// Whether it is a message for the user or the app, and not about the app's installation.
    var isMessage: Bool { kind == .visible || kind == .silent }

    /// Whether the tracker's rules (T9) may count it as displayed. That includes a payload that is silent to the SDK.
    var mayBeDisplayed: Bool { isMessage && !featureSet.contains(.testInAppMessage) }

    /// Whether the payload is internal to the SDK (braze-swift-sdk: `isInternal`; React Native: `is_braze_internal`).
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
    /// The effect of a button that opens `uri` (rule T1: only `http` and `https` are web URLs).
    init(opening uri: String?) {
        let scheme = uri?.prefix { $0 != ":" }.lowercased()
        self = scheme == "http" || scheme == "https" ? .uri : .deepLink
    }

    /// The effect of a button on the web: a link without a scheme is relative to the site.
    init(webTarget: String) {
        let scheme = webTarget.prefix { $0 != ":" }
        self = scheme == webTarget || scheme.contains("/") ? .uri : Self(opening: webTarget)
    }
}

extension ButtonAction {
    /// Returns `nil` for a button that is unknown to the SDK: it logs the press and does nothing else.
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
