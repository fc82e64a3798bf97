/// One request line of `inject.sock`, read and checked, before the router resolved what it leaves out.
package struct Request: Sendable {
    /// What is asked. One reference: it is handed on many times.
    package enum Action: Sendable {
        /// `op: deliver`
        case deliver(DeliverRequest)
        /// `op: interact`
        indirect case interact(InteractRequest)
        /// `op: session`
        indirect case session(SessionRequest)
        /// `op: token`
        indirect case token(TokenRequest)
        /// `op: log`
        indirect case log(LogRequest)
    }

    /// What is asked.
    package var action: Action
    /// The producer's id: its idempotency key.
    package var id: String?
    /// The event's time for the tracker; never the start of a deadline.
    package var at: WallTime?
    /// Whether a line follows for each invocation when its outcome is known.
    package var waitsForOutcome: Bool
    /// The line as it came, scanned.
    package var document: JSONDocument

    /// Joins the parts.
    package init(action: Action, id: String?, at: WallTime?, waitsForOutcome: Bool, document: JSONDocument) {
        self.action = action
        self.id = id
        self.at = at
        self.waitsForOutcome = waitsForOutcome
        self.document = document
    }

    /// The operation's name.
    package var operation: Operation {
        switch action {
        case .deliver: .deliver
        case .interact: .interact
        case .session: .session
        case .token: .token
        case .log: .log
        }
    }
}

/// Whom a request is about; each may be left out, and then the device's last known holds.
package struct Target: Hashable, Sendable {
    /// The platform.
    package var platform: Platform?
    /// Package name or bundle id.
    package var app: String?
    /// The device, as the producer names it.
    package var device: String?
    /// The user.
    package var externalID: String?

    /// Joins the parts.
    package init(platform: Platform? = nil, app: String? = nil, device: String? = nil, externalID: String? = nil) {
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
    }
}

/// `op: deliver`: one payload for one app on one device in one app state. A reference: it is handed on many times.
package final class DeliverRequest: Sendable {
    /// Whom it reaches.
    package let target: Target
    /// What the app was doing.
    package let state: AppState
    /// Whether the screen was locked.
    package let locked: Bool
    /// The version of the operating system.
    package let osVersion: String?
    /// Whether notifications may be shown.
    package let notifications: NotificationPermission
    /// Whether the app had a Braze instance.
    package let sdk: SDKState
    /// The payload, an object in any of the accepted forms.
    package let payload: JSONNode

    /// Joins the parts; all but the payload have the protocol's defaults.
    package init(
        target: Target = Target(), state: AppState = .background, locked: Bool = false, osVersion: String? = nil,
        notifications: NotificationPermission = .allowed, sdk: SDKState = .ready, payload: JSONNode
    ) {
        self.target = target
        self.state = state
        self.locked = locked
        self.osVersion = osVersion
        self.notifications = notifications
        self.sdk = sdk
        self.payload = payload
    }
}

/// `op: interact`: what a person did with a notification.
package struct InteractRequest: Sendable {
    /// What was done. The raw values are the wire names.
    package enum Kind: String, Sendable, CaseIterable {
        /// The body was tapped.
        case opened
        /// A button was pressed.
        case action
        /// The notification was swept away.
        case dismissed
    }

    /// Which notification.
    package enum Subject: Sendable {
        /// By the number of the delivery.
        case delivery(SequenceNumber)
        /// By the payload's own id.
        case message(String)
        /// By the payload, as the platform hands it back.
        case payload(JSONNode)
    }

    /// Who did it, where.
    package var target: Target
    /// What was done.
    package var kind: Kind
    /// With which notification.
    package var subject: Subject
    /// The button's id; `nil` unless `kind` is `action`.
    package var action: String?
    /// What was typed into the button's text field.
    package var text: String?

    /// Joins the parts.
    package init(target: Target, kind: Kind, subject: Subject, action: String? = nil, text: String? = nil) {
        self.target = target
        self.kind = kind
        self.subject = subject
        self.action = action
        self.text = text
    }
}

/// `op: session`: a person's use of the app begins or ends.
package struct SessionRequest: Sendable {
    /// Which of the two. The raw values are the wire names.
    package enum Kind: String, Sendable, CaseIterable {
        /// The app came to the front, or another user began to use it.
        case start
        /// The app left the front.
        case end
    }

    /// Who, where.
    package var target: Target
    /// Which of the two.
    package var kind: Kind

    /// Joins the two.
    package init(target: Target, kind: Kind) {
        self.target = target
        self.kind = kind
    }
}

/// `op: token`: the push service gave the app on a device a token, or took it back.
package struct TokenRequest: Sendable {
    /// What happened. The raw values are the wire names.
    package enum Kind: String, Sendable, CaseIterable {
        /// A token, new or changed: `onNewToken`, on iOS `didRegister`.
        case new
        /// FCM's second generation: the installation is registered, `onRegistered`.
        case registered
        /// FCM's second generation: the installation is not registered any more, `onUnregistered`.
        case unregistered
    }

    /// Who, where.
    package var target: Target
    /// What happened.
    package var kind: Kind
    /// The token or installation id; `nil` only for what is no longer registered.
    package var token: String?

    /// Joins the parts.
    package init(target: Target, kind: Kind, token: String?) {
        self.target = target
        self.kind = kind
        self.token = token
    }
}

/// `op: log`: custom data, to be stored for the app's next session or sent at once.
package struct LogRequest: Sendable {
    /// Whom it is about.
    package var target: Target
    /// Where it is stored; `nil`: in the app's own storage, unless `brazeID` says that it is sent at once.
    package var suite: String?
    /// The provider's id of the profile.
    package var brazeID: String?
    /// What it tells.
    package var kind: EntryKind
    /// The object that has `name` and `properties`, or `attributes`; not checked yet.
    package var object: JSONNode

    /// Joins the parts.
    package init(target: Target, suite: String?, brazeID: String?, kind: EntryKind, object: JSONNode) {
        self.target = target
        self.suite = suite
        self.brazeID = brazeID
        self.kind = kind
        self.object = object
    }
}
