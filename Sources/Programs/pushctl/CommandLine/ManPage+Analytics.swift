extension ManPage {
    /// The meanings of the figures of "campaigns", under their names in JSON.
    static let campaignFigures = [
        (
            name: "received",
            meaning: "deliveries with a campaign that reached a device; a repeated message does not count"
        ),
        (
            name: "direct_opens",
            meaning: "deliveries opened by a tap on the body, or on a button that opens the app or a link; each once"
        ),
        (
            name: "influenced_opens",
            meaning: """
            deliveries that a session of that user on that device followed within the window, displayed and not opened \
            until then; each once
            """
        ),
        (
            name: "influenced_and_direct",
            meaning: """
            influenced opens whose notification was tapped later: both events exist, and the total counts them as direct
            """
        ),
        (name: "total_opens", meaning: "direct_opens + influenced_opens - influenced_and_direct"),
        (name: "body_clicks", meaning: "opens by a tap on the body"),
        (
            name: "button_clicks",
            meaning: """
            a list of button_string (the button's id), button_action_type (uri, deep_link, none, close) and clicks. A \
            button that closes is not an open, and counts once for a delivery
            """
        ),
        (name: "unique_recipients", meaning: "users who received a push; without a user the device counts"),
        (
            name: "rates",
            meaning: """
            direct_opens, influenced_opens and total_opens divided by base; "of" names the base (received). They are null when \
            base is 0, and above 1 when opens belong to pushes received before --since
            """
        ),
    ]

    /// The members of `campaigns --json` around the figures.
    static let campaignMembers = [
        (name: "window, time_zone", meaning: "since and until in UTC; the zone in which days begin"),
        (
            name: "rows_begin",
            meaning: """
            Retention= or MaxSize= deleted the requests of the window before this time, with their opens, clicks and \
            interactions; receipts stay while the tracker knows the push; null when the window has all requests
            """
        ),
        (
            name: "in_all, campaigns, by_day",
            meaning: """
            the figures in all, by campaign_id (with opens_lost and by_day for each), and by day. Days have \
            opens_lost, too, and days of all campaigns have unattributed, also without any other count
            """
        ),
        (name: "by", meaning: "null without --by; else field, and groups with their value, which may be null"),
        (
            name: "campaigns_decoded",
            meaning: "with CampaignIdRule=decode: by campaign_part, of ids that are the base64 of campaign_$_..."
        ),
        (name: "unattributed", meaning: "taps on deliveries without a campaign id"),
        (
            name: "interactions",
            meaning: """
            the number of interactions by verdict: opened, closed, duplicate, unattributed, dismissed, unknown_action \
            (the delivery has no such button), elsewhere (it went to another device or app), unmatched (no such push \
            came within Grace=). Only opened and closed change the figures of campaigns. The time of the clock \
            replaces a later time; an earlier time is kept
            """
        ),
        (
            name: "opens_lost",
            meaning: """
            shown_by_system: Braze pushes with a notification block, which Android shows in the background by \
            itself; unmatched: taps on pushes that the tracker does not know, such as these
            """
        ),
        (
            name: "opens_lost_without_campaign",
            meaning: "the lost opens without a campaign: of pushes without a campaign, and of unknown pushes"
        ),
    ]
}
