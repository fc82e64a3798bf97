public import PushModel

/// What a Braze payload is, as Braze's SDK for the platform classifies it. What is decided by it is read at once, what is
/// only told is read from the payload when asked for.
public struct BrazeFacts: Sendable {
    /// What the SDK does with it. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// Shows it.
        case visible
        /// Hands it to the app without showing it.
        case silent
        /// Ignores it: it only probes whether the app is still installed.
        case uninstallTracking = "uninstall_tracking"
        /// Logs it: the push service dropped messages that it had stored.
        case deletedMessages = "deleted_messages"
    }

    /// What else the payload asks of the SDK. The raw values are the wire names.
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
        /// What a press on it does. The raw values are the wire names.
        public enum Kind: String, Sendable, CaseIterable {
            /// Opens a web address.
            case uri
            /// Opens a link of another scheme than `http` and `https`.
            case deepLink = "deep_link"
            /// Opens the app.
            case open
            /// Only removes the notification.
            case close
            /// Something that this SDK does not know: the press is logged, nothing else happens.
            case unknown
        }

        /// The id under which a press on it is reported; `nil` when the payload gives it none.
        public var id: String?
        /// What a press on it does.
        public var kind: Kind
        /// The text on it.
        public var title: String?
        /// Where `uri` and `deepLink` lead.
        public var uri: String?
    }

    /// What else the payload asks of the SDK, a bit each.
    struct FeatureSet: Hashable, Sendable {
        private var bits: UInt8 = 0

        init() {}

        mutating func insert(_ feature: Feature) { bits |= feature.bit }

        func contains(_ feature: Feature) -> Bool { bits & feature.bit != 0 }
    }

    /// What the SDK does with it.
    public let kind: Kind
    /// The campaign as the payload names it; `nil` for API campaigns and tests: their opens are not attributable.
    public let campaignID: String?
    /// Android: the id by which the SDK drops a push that it has seen before; `nil`: it is never a repetition.
    public let uniqueID: String?
    /// Whether a session that starts soon enough after it can be its influenced open: it is displayed, has a campaign,
    /// and is none of the SDK's own errands.
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

    /// What else it asks for, in the order of `Feature`.
    public var features: [Feature] { Feature.allCases.filter(featureSet.contains) }

    /// The buttons of the notification, in their order. Read when asked for.
    public var actions: [Action] { payload.brazeActions }

    /// Where a tap on the notification leads; `nil`: into the app. Read when asked for.
    public var deepLink: String? { payload.brazeLink }

    /// Whether it says something to the user or the app, rather than about the app's installation.
    var isMessage: Bool { kind == .visible || kind == .silent }

    /// Whether the rules of the tracker (T9) ever count it as displayed. What is silent to the SDK may be.
    var mayBeDisplayed: Bool { isMessage && !featureSet.contains(.testInAppMessage) }

    /// Whether it is an errand of the SDK's own (braze-swift-sdk: `isInternal`; React Native: `is_braze_internal`).
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
    /// What a button that opens `uri` does (rule T1: only `http` and `https` are web addresses).
    init(opening uri: String?) {
        let scheme = uri?.prefix { $0 != ":" }.lowercased()
        self = scheme == "http" || scheme == "https" ? .uri : .deepLink
    }

    /// What a button on the web does: an address without a scheme is one of the site's own.
    init(webTarget: String) {
        let scheme = webTarget.prefix { $0 != ":" }
        self = scheme == webTarget || scheme.contains("/") ? .uri : Self(opening: webTarget)
    }
}

extension ButtonAction {
    /// `nil` for a button that the SDK does not know: the press is logged, nothing else happens.
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
