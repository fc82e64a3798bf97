public import PushModel

/// The ledger's data on one user: devices, sessions, the last pushes and their opens.
public struct UserProfile: Sendable {
    /// A push that the user received.
    struct Push {
        /// The kind of its open.
        enum Opening: String {
            case direct, influenced
        }

        let received: AnalyticsEvent
        var opened: (how: Opening, time: Int64)?
        var closed: [String] = []
        /// Why no session counted as its influenced open.
        var obstacle: String?
    }

    /// The most pushes to keep.
    static let pushesMax = 10

    /// The user's id.
    public let externalID: String
    private let zone: LocalZone
    /// The names of campaigns that a person keeps, by the id in the payload.
    public var names: [String: String] = [:]
    private(set) var devices: [KnownDevice] = []
    /// The last pushes, the latest last.
    private(set) var pushes: [Push] = []
    private(set) var figures = CampaignFigures()
    private(set) var withoutCampaign = 0
    private(set) var sessions = 0
    private(set) var firstSession: Int64?
    private(set) var lastSession: Int64?
    private(set) var timeInSessions: Duration = .zero
    private(set) var endedSessions = 0
    private(set) var openSessions: [SessionRow] = []
    private(set) var customEvents = 0
    private var attributes: [AttributeRecord] = []

    /// A profile without data.
    /// - Parameters:
    ///   - externalID: the user's id.
    ///   - zone: the zone of times for people.
    public init(of externalID: String, zone: LocalZone = .utc) {
        self.externalID = externalID
        self.zone = zone
    }

    /// Whether the ledger has no data of this user.
    public var isUnknown: Bool {
        devices.isEmpty && openSessions.isEmpty && pushes.isEmpty && sessions == 0 && endedSessions == 0
            && figures.isEmpty && customEvents == 0 && attributes.isEmpty
    }

    /// Adds a device if this user was the last one known on it.
    public mutating func add(_ device: KnownDevice) {
        if device.externalID == externalID { devices.append(device) }
    }

    /// Adds the open session of a device if it is this user's.
    public mutating func add(_ session: SessionRow) {
        if session.externalID == externalID, session.end == nil { openSessions.append(session) }
    }

    /// Adds a profile field if it is this user's.
    public mutating func add(_ attribute: AttributeRecord) {
        if attribute.owner == .user(externalID) { attributes.append(attribute) }
    }

    /// Adds an event if it is this user's. Call it in the order in which events were decided.
    public mutating func add(_ event: AnalyticsEvent) {
        guard event.externalUserID == externalID else { return }
        switch event.content {
        case .received(let push):
            if push.campaignID == nil { withoutCampaign += 1 } else { figures.add(event, recipient: nil) }
            pushes.append(Push(received: event))
            if pushes.count > Self.pushesMax { pushes.removeFirst() }
        case .open, .influencedOpen:
            figures.add(event, recipient: nil)
            mark(event)
        case .sessionStart:
            sessions += 1
            firstSession = min(firstSession ?? event.time, event.time)
            lastSession = max(lastSession ?? event.time, event.time)
        case .sessionEnd(let duration):
            endedSessions += 1
            timeInSessions += duration
        case .customEvent: customEvents += 1
        case .iosForeground, .tokenStateChange, .uninstall: break
        }
    }

    /// Notes the open on a kept push; a direct open replaces an influenced one.
    private mutating func mark(_ event: AnalyticsEvent) {
        guard let index = pushes.lastIndex(where: { $0.received.delivery == event.delivery }) else { return }
        if let button = event.button, button.action == .close {
            pushes[index].closed.append(button.id)
        } else if event.kind == .open || pushes[index].opened == nil {
            pushes[index].opened = (event.kind == .open ? .direct : .influenced, event.time)
        }
    }

    /// The kept pushes that were not opened.
    public var unopened: [SequenceNumber] { pushes.filter { $0.opened == nil }.map(\.received.delivery) }

    /// Notes why no session counted as an influenced open of a kept push.
    public mutating func add(obstacle: String, to delivery: SequenceNumber) {
        for index in pushes.indices where pushes[index].received.delivery == delivery {
            pushes[index].obstacle = obstacle
        }
    }

    // MARK: Text

    /// The profile for people.
    public var text: String {
        [facts, attributeTable, deviceTable, pushTable].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var facts: String {
        var lines = [
            "User      \(externalID.showingControls())",
            "Sessions  \(grouped(sessions))" + (firstSession.map { ", first \(zone.text(seconds: $0))" } ?? "")
                + (lastSession.map { ", last \(zone.text(seconds: $0))" } ?? ""),
        ]
        if endedSessions > 0 {
            lines.append("Duration  \(roundedSpan(timeInSessions)) in \(counted(endedSessions, "ended session"))")
        }
        for session in openSessions {
            lines.append("Open now  on \(session.key.device.showingControls()), since \(zone.text(session.startedAt))")
        }
        let opens = "\(grouped(figures.directOpens)) direct, \(grouped(figures.influencedOpens)) influenced"
        if customEvents > 0 { lines.append("Events    \(grouped(customEvents)) custom") }
        lines.append("Pushes    \(grouped(figures.received + withoutCampaign)) received")
        lines.append(
            "Opens     \(grouped(figures.totalOpens)) of \(grouped(figures.received)) with a campaign (\(opens))")
        return lines.joined(separator: "\n") + "\n"
    }

    private var attributeTable: String {
        TextTable(
            attributes,
            [
                .nameInText("Attribute", \.name),
                .nameInText("Kind", { $0.kind == .userAttributes ? "user" : "custom" }),
                .nameInText("Value", \.value), .nameInText("Set", { zone.text($0.setAt) }),
            ], widest: 44
        ).text
    }

    private var deviceTable: String {
        TextTable(
            sortedDevices,
            [
                .nameInText("Device", \.key.device), .nameInText("App", { $0.key.app ?? "-" }),
                .nameInText("Platform", \.platform.rawValue),
            ], widest: 44
        ).text
    }

    private var pushTable: String {
        TextTable(
            pushes.reversed(),
            [
                .numberInText("Seq", \.received.delivery.description),
                .nameInText("Received", { zone.text(seconds: $0.received.time) }),
                .nameInText("Campaign", { $0.received.push?.campaignID.map(names.title) ?? "-" }),
                .nameInText("Device", { $0.received.deviceID ?? "-" }),
                .wordsInText("Opened") { push in
                    let opened = push.opened.map { "\($0.how.rawValue), \(zone.text(seconds: $0.time))" }
                    let closed = push.closed.isEmpty ? nil : "closed by \(push.closed.joined(separator: ", "))"
                    let how = [opened ?? closed, push.obstacle.map { "not influenced: \($0)" }].compactMap(\.self)
                    return how.isEmpty ? "-" : how.joined(separator: "; ")
                },
            ], widest: 160
        ).text
    }

    private var sortedDevices: [KnownDevice] {
        devices.sorted { ($0.key.device, $0.key.app ?? "") < ($1.key.device, $1.key.app ?? "") }
    }

    // MARK: JSON

    /// The profile for programs: one JSON object on one line, with its line feed; times in UTC.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("external_user_id", externalID)
            $0.member("devices", array: { list in sortedDevices.forEach { $0.write(to: &list) } })
            writeSessions(to: &$0)
            $0.member("custom_attributes", attributes: attributes.filter { $0.kind == .customAttributes })
            $0.member("user_attributes", attributes: attributes.filter { $0.kind == .userAttributes })
            $0.member("custom_events", customEvents)
            $0.member("received", figures.received + withoutCampaign)
            $0.member("received_with_campaign", figures.received)
            $0.member("direct_opens", figures.directOpens)
            $0.member("influenced_opens", figures.influencedOpens)
            $0.member("total_opens", figures.totalOpens)
            $0.member("last_pushes", array: { list in pushes.reversed().forEach { $0.write(to: &list) } })
        }
        return writer.line()
    }

    private func writeSessions(to writer: inout JSONWriter) {
        writer.member(
            "sessions",
            object: {
                $0.member("count", sessions)
                $0.member("first_at", firstSession.map(rfc3339))
                $0.member("last_at", lastSession.map(rfc3339))
                $0.member("ended", endedSessions)
                $0.member("open", array: { list in openSessions.forEach { $0.write(to: &list) } })
                $0.member("duration", raw: decimal(timeInSessions.milliseconds, scale: 3).utf8)
            })
    }
}

extension JSONWriter {
    /// Writes fields by name, each with its value, its time and its entry.
    fileprivate mutating func member(_ name: String, attributes: [AttributeRecord]) {
        member(
            name,
            object: { writer in
                for attribute in attributes {
                    writer.member(
                        attribute.name,
                        object: {
                            $0.member("value", raw: attribute.value.utf8)
                            $0.member("set_at", attribute.setAt.rfc3339)
                            $0.member("entry", attribute.entry.value)
                        })
                }
            })
    }
}

extension KnownDevice {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("device_id", key.device)
            $0.member("app_id", key.app)
            $0.member("platform", platform.rawValue)
        }
    }
}

extension SessionRow {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("device_id", key.device)
            $0.member("app_id", key.app)
            $0.member("platform", platform.rawValue)
            $0.member("started_at", startedAt.rfc3339)
        }
    }
}

extension UserProfile.Push {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("seq", received.delivery.value)
            $0.member("received_at", rfc3339(received.time))
            $0.member("campaign_id", received.push?.campaignID)
            $0.member("message_id", received.push?.messageID)
            $0.member("device_id", received.deviceID)
            $0.member("app_id", received.appID)
            $0.member("platform", received.platform.rawValue)
            $0.member("opened", opened?.how.rawValue)
            $0.member("opened_at", opened.map { rfc3339($0.time) })
            $0.member("closed_by", array: { list in closed.forEach { list.string($0) } })
            $0.member("not_influenced", obstacle)
        }
    }
}

private func rfc3339(_ seconds: Int64) -> String { WallTime(milliseconds: seconds * 1000).rfc3339 }
