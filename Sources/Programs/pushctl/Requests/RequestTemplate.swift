import PushDispatch
import PushModel

extension RequestTemplate {
    /// Reads the options of "explain", two of which take "all" too: then they say nothing.
    init(explaining arguments: Arguments) {
        self.init(
            arguments, platform: arguments.word(.explainedPlatform, Platform.self),
            state: arguments.word(.explainedState, AppState.self))
    }

    /// Reads the options that belong into a request; those that the command does not have are left out.
    ///
    /// - Parameters:
    ///   - platform: of a command whose option takes more than platforms, the platform.
    ///   - state: of a command whose option takes more than states, the state of the app.
    init(_ arguments: Arguments, platform: Platform? = nil, state: AppState? = nil) {
        // Topics are the gateway's.
        let all = Set(Operation.allCases).subtracting([.topic, .publish])
        self.init(platform: platform?.rawValue ?? arguments[.platform])
        add("id", arguments[.id], to: all)
        add("app", arguments[.app], to: all)
        add("device", arguments[.device], to: all)
        add("external_id", arguments[.externalID], to: all)
        add("transport", arguments[.transport], to: [.deliver])
        add("state", state?.rawValue ?? arguments[.appState], to: [.deliver])
        add("notifications", arguments[.notifications], to: [.deliver])
        add("os_version", arguments[.osVersion], to: [.deliver])
        add("sdk", arguments[.sdk], to: [.deliver, .interact])
        add("suite", arguments[.suite], to: [.log])
        add("braze_id", arguments[.brazeID], to: [.log])
        if arguments.has(.locked) { add("locked", raw: Array("true".utf8), to: [.deliver]) }
        if arguments.has(.wait) { add("wait", "outcome", to: all) }
    }
}

extension RequestTemplate {
    /// The request line for a record, without its line feed.
    func line(for record: Record, isAPNs: Bool) -> [UInt8] {
        completed(platform: record.platform, app: record.app).line(for: record.document.root, isAPNs: isAPNs)
    }
}

extension InputFile {
    /// Whether it is a file of the iOS simulator.
    var isAPNs: Bool { name.hasSuffix(".apns") }

    /// Refuses what the simulator refuses, if it is a file of its.
    func check(_ record: Record) throws(Failure) {
        guard isAPNs, record.document.root["op"] == nil else { return }
        do {
            try SimulatorFile.check(record.document.root, length: size)
        } catch {
            throw Failure(.badData, "\(record.place): \(error.field): \(error.message)")
        }
    }
}
