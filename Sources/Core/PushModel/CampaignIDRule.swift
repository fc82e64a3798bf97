/// How reports group campaigns (T3). The raw values are the configuration's.
public enum CampaignIDRule: String, Sendable, CaseIterable {
    /// By the id as the payload has it.
    case raw
    /// By the campaign's own part of ids that are the base64 of `campaign_$_...`, as well.
    case decode
}
