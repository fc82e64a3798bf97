/// What detection takes from the configuration.
public struct DetectionSettings: Hashable, Sendable {
    /// The names of Braze's keys that the vendor has not published.
    public var brazeKeys: BrazeKeys

    /// - Parameter brazeKeys: the names of Braze's keys that the vendor has not published.
    public init(brazeKeys: BrazeKeys = BrazeKeys()) { self.brazeKeys = brazeKeys }
}

/// Names of keys in Braze's Android payloads whose constants are public and whose values are known only from
/// decompiled apps. So they are settings.
public struct BrazeKeys: Hashable, Sendable {
    /// `BRAZE_PUSH_REFRESH_FEATURE_FLAGS_KEY`.
    public var refreshFeatureFlags: String
    /// `BRAZE_PUSH_REFRESH_BANNERS_KEY`.
    public var refreshBanners: String

    /// Names the keys.
    public init(refreshFeatureFlags: String = "br_ffr", refreshBanners: String = "br_br") {
        self.refreshFeatureFlags = refreshFeatureFlags
        self.refreshBanners = refreshBanners
    }
}
