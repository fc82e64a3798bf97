/// The reason of a decision, for programs: a closed set. The raw values are on disk and in the input of people's
/// scripts, so a code never changes its meaning.
public enum ReasonCode: String, Sendable, CaseIterable {
    // The owner of the payload.
    case owner
    case noBrazeMarker = "no_braze_marker"
    case brazeMarkerIsNotTrue = "braze_marker_is_not_true"
    case noBrazeObject = "no_braze_object"
    case brazeObjectIsNone = "braze_object_is_none"
    case brazeObjectIsEmpty = "braze_object_is_empty"
    case noBrazeWebKey = "no_braze_web_key"
    case webPayloadEmpty = "web_payload_empty"
    case otherBrazeRule = "other_braze_rule"

    // The owner's SDK.
    case uninstallProbe = "uninstall_probe"
    case probe
    case ownReceiver = "own_receiver"

    // Braze's SDK.
    case brazeAppleUninstallTracking = "braze_apple_uninstall_tracking"
    case brazeDeletedMessages = "braze_deleted_messages"
    case brazeUninstallTracking = "braze_uninstall_tracking"
    case brazeUninstallTrackingInExtra = "braze_uninstall_tracking_in_extra"
    case brazeTitleAndContent = "braze_title_and_content"
    case brazeNotificationDenied = "braze_notification_denied"
    case brazeWithoutTitleOrContent = "braze_without_title_or_content"
    case brazeContentAvailable = "braze_content_available"
    case brazeWithoutContentAvailable = "braze_without_content_available"
    case noCampaign = "no_campaign"
    case brazeLost = "braze_lost"
    case brazeTestInAppMessage = "braze_test_in_app_message"
    case brazeStoryOnAmazon = "braze_story_on_amazon"

    // FCM, ADM, HMS and Android.
    case refusedSend = "refused_send"
    case unreadableMessage = "unreadable_message"
    case validateOnly = "validate_only"
    case forceStopped = "force_stopped"
    case deletedMessages = "deleted_messages"
    case sendEvent = "send_event"
    case sendError = "send_error"
    case unknownMessageType = "unknown_message_type"
    case newToken = "new_token"
    case registered
    case unregistered
    case notificationEvent = "notification_event"
    case unknownIntentAction = "unknown_intent_action"
    case amazonMessage = "amazon_message"
    case amazonRefusal = "amazon_refusal"
    case huaweiMessage = "huawei_message"
    case huaweiNotification = "huawei_notification"
    case huaweiNotificationInForeground = "huawei_notification_in_foreground"
    case dataMessage = "data_message"
    case notificationInForeground = "notification_in_foreground"
    case notificationSuppressed = "notification_suppressed"
    case notificationInBackground = "notification_in_background"
    case notificationWhileNotRunning = "notification_while_not_running"
    case notificationWhileLocked = "notification_while_locked"
    case repeatedMessageID = "repeated_message_id"

    // iOS.
    case mutableContent = "mutable_content"
    case mutableContentInForeground = "mutable_content_in_foreground"
    case alertInForeground = "alert_in_foreground"
    case contentAvailable = "content_available"
    case contentAvailableLaunches = "content_available_launches"
    case contentAvailableAfterForceQuit = "content_available_after_force_quit"
    case orderOfCallbacksUnknown = "order_of_callbacks_unknown"
    case alertShownToo = "alert_shown_too"
    case alertShownBySystem = "alert_shown_by_system"
    case nothingForTheApp = "nothing_for_the_app"
    case liveActivity = "live_activity"
    case deviceManagement = "device_management"
    case pushKit = "push_kit"
    case pushToTalk = "push_to_talk"
    case locationExtension = "location_extension"
    case fileProvider = "file_provider"
    case widgetsAndControls = "widgets_and_controls"

    // Android and iOS alike, and browsers.
    case notificationsDenied = "notifications_denied"
    case alertDenied = "alert_denied"
    case serviceWorker = "service_worker"
    case declarativeWebPush = "declarative_web_push"
    case webNotification = "web_notification"

    // The platform, when a person acts on a notification.
    case brazePushClicked = "braze_push_clicked"
    case brazeActionClicked = "braze_action_clicked"
    case brazePushDeleted = "braze_push_deleted"
    case intentStarted = "intent_started"
    case intentOfDismissalStarted = "intent_of_dismissal_started"
    case defaultAction = "default_action"
    case customAction = "custom_action"
    case noCategory = "no_category"
    case dismissAction = "dismiss_action"
    case dismissalWithoutCategory = "dismissal_without_category"
    case dismissalOfOtherCategory = "dismissal_of_other_category"
    case dismissalOfUnknownCategory = "dismissal_of_unknown_category"
    case notificationClick = "notification_click"
    case notificationAction = "notification_action"
    case notificationClose = "notification_close"
    case brazeIgnoresClose = "braze_ignores_close"
    case textInput = "text_input"
    case unknownButton = "unknown_button"

    // The tracker, for that action.
    case heldForDelivery = "held_for_delivery"
    case directOpen = "direct_open"
    case closeButton = "close_button"
    case openedBefore = "opened_before"
    case openedOrClosedBefore = "opened_or_closed_before"
    case unattributedOpen = "unattributed_open"
    case notificationDismissed = "notification_dismissed"
    case buttonNotInPayload = "button_not_in_payload"
    case deliveredElsewhere = "delivered_elsewhere"
    case unmatched
    case openedNotDisplayed = "opened_not_displayed"

    // The app without a Braze instance, and the tracker's settings.
    case noBrazeInstance = "no_braze_instance"
    case brazeInstanceDelayed = "braze_instance_delayed"
    case campaignEventsOff = "campaign_events_off"

    // The router.
    case noCallbackForToken = "no_callback_for_token"
    case noRouteMatches = "no_route_matches"
    case everyRouteDeclined = "every_route_declined"
    case handlerDeclined = "handler_declined"
    case routeGone = "route_gone"
    case routeTimeOver = "route_time_over"
    case breakerOpen = "breaker_open"

    // The end of a handler.
    case handledWithRemarks = "handled_with_remarks"
    case handlerNotStarted = "handler_not_started"
    case handlerRejected = "handler_rejected"
    case handlerLost = "handler_lost"
    case retryInDeviceMode = "retry_in_device_mode"
    case retriesUsedUp = "retries_used_up"
    case endedBySignal = "ended_by_signal"
    case endedInGrace = "ended_in_grace"

    // Missed deadlines, and full queues.
    case waitingInLane = "waiting_in_lane"
    case notFinishedAtDeadline = "not_finished_at_deadline"
    case noHandlerStartedInTime = "no_handler_started_in_time"
    case notDoneAfterRetries = "not_done_after_retries"
    case queueFull = "queue_full"

    // A stop or a crash of the daemon, or the loss of the leading machine.
    case daemonDown = "daemon_down"
    case daemonCrashed = "daemon_crashed"
    case leaderLost = "leader_lost"
}

/// The reason of a decision, for programs and for people.
public struct OutcomeReason: Hashable, Sendable {
    /// The reason, of a closed set.
    public var code: ReasonCode
    /// The reason as a sentence without its full stop, and remarks behind it. Decides nothing.
    public var text: String

    /// - Parameters:
    ///   - code: the reason, of a closed set.
    ///   - sentence: the reason for people; `nil` if the remarks say all of it.
    ///   - remarks: further facts for people, each a sentence without its full stop.
    public init(_ code: ReasonCode, _ sentence: String?, remarks: [String] = []) {
        self.code = code
        text = ((sentence.map { [$0] } ?? []) + remarks).joined(separator: "; ")
    }
}
