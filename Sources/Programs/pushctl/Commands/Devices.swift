import PushModel
import PushViews
import Store

extension Command {
    static let device = Command(
        name: "device", summary: "set the state of an app and its device",
        description: [
            """
            Tells the daemon whether the app on DEVICE is in the foreground, whether the screen is locked, and whether \
            the app may show notifications. The daemon keeps this state with the device. The state counts for the \
            pushes of unmodified clients of FCM and APNs (pushrouter-gateway), and for publishes to topics. A request \
            with a state of its own, such as one of "pushctl inject", uses that. Without an option, its part of the \
            state stays as it is.
            """
        ],
        operands: Operands(usage: "DEVICE", count: 1...1),
        options: [
            .platform, .app, .externalID, .appState, .locked, .unlocked, .notifications, .osVersion, .sdk, .id, .json,
        ],
        examples: [
            Example(
                line: "pushctl device --app shop --app-state foreground pixel-1",
                meaning: "the app is in the foreground"),
            Example(
                line: "pushctl device --app shop --notifications denied pixel-1",
                meaning: "the user no longer allows notifications"),
        ]
    ) { arguments, session throws(Failure) in
        try session.send(try RequestLine.device(arguments), arguments)
    }

    static let devices = Command(
        name: "devices", summary: "list the devices that the daemon knows",
        description: [
            """
            Prints the known devices, the first known device first: platform, app, name, user, the beginning of the \
            token, the topics, and the state of the app. It reads the ledger in the state directory, with or without a \
            daemon. The exit status is 1 when no device is found.
            """
        ],
        operands: .none,
        options: [.platform, .app, .device, .externalID, .limit, .fullTokens, .json],
        examples: [
            Example(line: "pushctl devices --external-id anna", meaning: "the devices of a user"),
            Example(line: "pushctl devices --app shop --json", meaning: "the devices of an app, as one JSON object"),
        ]
    ) { arguments, session throws(Failure) in
        let limit = try limit(arguments) ?? (arguments.has(.json) ? .max : 100)
        let platform = arguments.word(.platform, Platform.self)
        let devices = try session.reading { ledger throws(StoreError) in try ledger.knownDevices() }.filter { device in
            (platform == nil || device.platform == platform)
                && [(arguments[.app], device.key.app), (arguments[.device], device.key.device)].allSatisfy {
                    $0.0 == nil || $0.0 == $0.1
                } && (arguments[.externalID] == nil || arguments[.externalID] == device.externalID)
        }
        let shortens = !arguments.has(.fullTokens)
        if arguments.has(.json) {
            var writer = JSONWriter()
            writer.object {
                $0.member("count", devices.count)
                $0.member(
                    "devices",
                    array: { list in
                        for device in devices.prefix(limit) {
                            list.object { $0.members(of: device, shortensTokens: shortens) }
                        }
                    })
            }
            session.output.write(document: writer.bytes)
        } else {
            session.output.print(
                Text.columns(devices.prefix(limit).map { $0.columns(shortensTokens: shortens) }, indent: 0))
            if devices.count > limit {
                session.output.note("and \(devices.count - limit) more; --limit sets the number shown")
            }
        }
        guard !devices.isEmpty else { throw Failure(.no, "there is no such device") }
        return .done
    }
}

extension KnownDevice {
    private func token(shortened: Bool) -> String? { token.map { shortened ? PushTokens.shortened($0) : $0 } }

    fileprivate func columns(shortensTokens: Bool) -> [String] {
        let topics = detail.topics.map(\.topic.topic)
        let facts = [
            token(shortened: shortensTokens).map { "token \($0)" },
            topics.isEmpty
                ? nil
                : "topics " + topics.prefix(5).joined(separator: ", ")
                    + (topics.count > 5 ? " and \(topics.count - 5) more" : ""),
            detail.state.state?.rawValue, detail.state.locked.map { $0 ? "locked" : "unlocked" },
            detail.state.notifications.map { "notifications \($0.rawValue)" },
            detail.state.osVersion.map { "version \($0)" }, detail.state.sdk.map { "sdk \($0.rawValue)" },
        ].compactMap(\.self)
        return [platform.rawValue, key.app ?? "-", key.device, externalID ?? "-", facts.joined(separator: "; ")].map {
            $0.showingControls()
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of device: KnownDevice, shortensTokens: Bool) {
        member("platform", device.platform.rawValue)
        member("app", device.key.app)
        member("device", device.key.device)
        member("external_id", device.externalID)
        member("token", device.token.map { shortensTokens ? PushTokens.shortened($0) : $0 })
        member(
            "topics",
            array: { list in
                for subscription in device.detail.topics {
                    list.object {
                        $0.member("project", subscription.topic.project)
                        $0.member("topic", subscription.topic.topic)
                        $0.member("since", WallTime(milliseconds: subscription.since * 1000).rfc3339)
                    }
                }
            })
        members(of: device.detail.state)
    }
}
