extension ManPage {
    /// What the figures of "campaigns" are, under their names in JSON.
    static let campaignFigures = [
        (name: "received", meaning: "deliveries with a campaign that reached a device; a repeat of a message is none"),
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
            of the influenced ones those that were tapped later: both events exist, and the total has them as direct
            """
        ),
        (name: "total_opens", meaning: "direct_opens + influenced_opens - influenced_and_direct"),
        (name: "body_clicks", meaning: "opens by a tap on the body"),
        (
            name: "button_clicks",
            meaning: """
            a list of button_string (the button's id), button_action_type (uri, deep_link, none, close) and clicks. A \
            button that closes is no open, and each counts once for a delivery
            """
        ),
        (name: "unique_recipients", meaning: "users who received one; who is anonymous counts as the device"),
        (
            name: "rates",
            meaning: """
            direct_opens, influenced_opens and total_opens by base, the number of what "of" says (received); null when \
            that is 0, above 1 where opens are of pushes received before --since
            """
        ),
    ]

    /// The members of `campaigns --json`, which has such figures in many places.
    static let campaignMembers = [
        (name: "window, time_zone", meaning: "since and until in UTC; the zone in which days begin"),
        (name: "in_all, campaigns, by_day", meaning: "the figures; of each campaign, by campaign_id, those by_day too"),
        (name: "by", meaning: "null without --by; else field, and groups with their value, null where there is none"),
        (
            name: "campaigns_decoded",
            meaning: "with CampaignIdRule=decode: by campaign_part, of ids that are the base64 of campaign_$_..."
        ),
        (name: "unattributed", meaning: "taps on deliveries without a campaign id"),
        (
            name: "interactions",
            meaning: """
            what became of each: opened, closed, duplicate, unattributed, dismissed, unknown_action (the delivery has \
            no such button), elsewhere (it went to another device or app), unmatched (nothing of it came within \
            Grace=). Only opened and closed change the figures of campaigns. A time later than the clock is taken for the \
            clock's, an earlier one is kept
            """
        ),
        (
            name: "opens_lost",
            meaning: """
            shown_by_system: Braze pushes with a notification block, which Android shows in the background by \
            itself; unmatched: taps on what the tracker does not know, such a push among them
            """
        ),
    ]
}
