/// What a Braze payload is, as Braze's SDK for the platform classifies it.
public struct BrazeFacts: Hashable, Sendable {
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

        /// Joins the parts.
        public init(id: String?, kind: Kind, title: String? = nil, uri: String? = nil) {
            self.id = id
            self.kind = kind
            self.title = title
            self.uri = uri
        }
    }

    /// What the SDK does with it.
    public var kind: Kind
    /// The campaign as the payload names it; `nil` for API campaigns and tests: their opens are not attributable.
    public var campaignID: String?
    /// What else it asks for, in the order of `Feature`.
    public var features: [Feature]
    /// The buttons of the notification, in their order.
    public var actions: [Action] = []
    /// Where a tap on the notification leads; `nil`: into the app.
    public var deepLink: String?
    /// Android: the id by which the SDK drops a push that it has seen before; `nil`: it is never a repetition.
    public var uniqueID: String?
    /// Whether a session that starts soon enough after it can be its influenced open: it is displayed, has a campaign,
    /// and is none of the SDK's own errands.
    public var countsForInfluencedOpen = false

    /// Whether it says something to the user or the app, rather than about the app's installation.
    var isMessage: Bool { kind == .visible || kind == .silent }

    /// Whether the rules of the tracker (T9) ever count it as displayed. What is silent to the SDK may be.
    var mayBeDisplayed: Bool { isMessage && !features.contains(.testInAppMessage) }

    /// Whether it is an errand of the SDK's own (braze-swift-sdk: `isInternal`; React Native: `is_braze_internal`).
    var isInternal: Bool {
        kind == .uninstallTracking || features.contains(.featureFlagsRefresh) || features.contains(.geofencesSync)
    }
}

extension BrazeFacts.Action.Kind {
    /// What a button that opens `uri` does (tracker, T1: only `http` and `https` are web addresses).
    init(opening uri: String?) {
        let scheme = uri?.prefix { $0 != ":" }.lowercased()
        self = scheme == "http" || scheme == "https" ? .uri : .deepLink
    }
}
