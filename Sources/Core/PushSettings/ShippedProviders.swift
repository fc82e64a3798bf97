import PushRouter

extension ConfigurationSources {
    /// The `.provider` files of `etc/pushrouterd/providers.d`, compiled in: always present, below all directories.
    ///
    /// The folder beside this file is a symbolic link to that one, so the program contains exactly the shipped files.
    public static let shippedProviders: [ConfigurationFile] = [
        shipped("adjust-uninstall", PackageResources.adjust_uninstall_provider),
        shipped("adobe-campaign", PackageResources.adobe_campaign_provider),
        shipped("adobe", PackageResources.adobe_provider),
        shipped("airship", PackageResources.airship_provider),
        shipped("appcues", PackageResources.appcues_provider),
        shipped("appsflyer-uninstall", PackageResources.appsflyer_uninstall_provider),
        shipped("batch", PackageResources.batch_provider),
        shipped("bloomreach", PackageResources.bloomreach_provider),
        shipped("blueshift", PackageResources.blueshift_provider),
        shipped("braze", PackageResources.braze_provider),
        shipped("clevertap", PackageResources.clevertap_provider),
        shipped("countly", PackageResources.countly_provider),
        shipped("customerio", PackageResources.customerio_provider),
        shipped("emarsys", PackageResources.emarsys_provider),
        shipped("expo", PackageResources.expo_provider),
        shipped("freshchat", PackageResources.freshchat_provider),
        shipped("helpshift", PackageResources.helpshift_provider),
        shipped("hubspot", PackageResources.hubspot_provider),
        shipped("infobip", PackageResources.infobip_provider),
        shipped("insider", PackageResources.insider_provider),
        shipped("intercom", PackageResources.intercom_provider),
        shipped("iterable", PackageResources.iterable_provider),
        shipped("klaviyo", PackageResources.klaviyo_provider),
        shipped("knock", PackageResources.knock_provider),
        shipped("kumulos", PackageResources.kumulos_provider),
        shipped("leanplum", PackageResources.leanplum_provider),
        shipped("mixpanel", PackageResources.mixpanel_provider),
        shipped("moengage", PackageResources.moengage_provider),
        shipped("notificare", PackageResources.notificare_provider),
        shipped("onesignal", PackageResources.onesignal_provider),
        shipped("pinpoint", PackageResources.pinpoint_provider),
        shipped("pusher-beams", PackageResources.pusher_beams_provider),
        shipped("pushwoosh", PackageResources.pushwoosh_provider),
        shipped("reteno", PackageResources.reteno_provider),
        shipped("salesforce", PackageResources.salesforce_provider),
        shipped("sendbird", PackageResources.sendbird_provider),
        shipped("streamchat", PackageResources.streamchat_provider),
        shipped("streamvideo", PackageResources.streamvideo_provider),
        shipped("swrve", PackageResources.swrve_provider),
        shipped("talkjs", PackageResources.talkjs_provider),
        shipped("twilio", PackageResources.twilio_provider),
        shipped("webengage", PackageResources.webengage_provider),
        shipped("zendesk", PackageResources.zendesk_provider),
    ]

    /// The provider files in force, by name: the given ones, and the shipped ones that no given one replaces or masks.
    var providersInForce: [ConfigurationFile] {
        let given = Set(providers.map(\.stem))
        let below = Self.shippedProviders.filter { !given.contains($0.stem) }
        return (providers + below).inOrder
    }

    private static func shipped(_ name: String, _ bytes: [UInt8]) -> ConfigurationFile {
        ConfigurationFile(path: "(shipped) providers.d/\(name).provider", bytes: bytes)
    }
}

extension ConfigurationSources {
    /// The handlers and the route of `etc/pushrouterd` for a machine without installed ones, so that an unclaimed
    /// payload reaches the journal. A single configuration file other than a `.provider` or `.track`, in any directory,
    /// disables them.
    public static let shipped = ConfigurationSources(
        handlers: [
            ConfigurationFile(
                path: "(shipped) handlers.d/discard.handler", bytes: Array("[Handler]\nType=discard\n".utf8)),
            ConfigurationFile(
                path: "(shipped) handlers.d/journal.handler", bytes: Array("[Handler]\nType=journal\n".utf8)),
        ],
        routes: [
            ConfigurationFile(
                path: "(shipped) routes.d/99-default.route", bytes: Array("[Match]\n[Route]\nHandler=journal\n".utf8))
        ])
}

/// The installed bridges.
let installedBridges: [any BridgeSettings.Type] = [HTTPEndpoint.self]
