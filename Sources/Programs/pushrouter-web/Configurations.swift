import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews

/// The configurations of the page: those of the daemon, and without one the files as they are. For one thread at a time.
final class Configurations: WebConfigurations {
    private let directories: Directories
    private let isRequired: Bool
    private let ask: (ConfigurationID?) -> ConfigurationText?
    private var used: [ConfigurationID: UsedConfiguration] = [:]
    /// Until when no past configuration is asked for, after a question without an answer.
    private var pauseEnd: Int64 = 0
    private(set) var current: UsedConfiguration
    private(set) var campaignNames: [String: String]
    /// The settings of the current configuration, for reports.
    private(set) var settings: Settings

    /// The most past configurations in memory.
    private static let usedMax = 8
    private static let pause: Int64 = 2_000_000_000

    /// - Parameters:
    ///   - directories: the directories of the files.
    ///   - isRequired: whether the command line named the first of them.
    ///   - ask: asks the daemon for a configuration, or for the one in force.
    init(_ directories: Directories, isRequired: Bool, ask: @escaping (ConfigurationID?) -> ConfigurationText?) {
        (self.directories, self.isRequired, self.ask) = (directories, isRequired, ask)
        campaignNames = Self.names(directories)
        settings = Self.files(directories, isRequired)
        current = UsedConfiguration(of: settings, id: nil, since: nil)
        _ = refreshed()
    }

    /// Reads everything again.
    func readAgain() {
        (used, pauseEnd, campaignNames) = ([:], 0, Self.names(directories))
        settings = Self.files(directories, isRequired)
        current = UsedConfiguration(of: settings, id: nil, since: nil)
        _ = refreshed()
    }

    func refreshed() -> UsedConfiguration {
        if let text = ask(nil), text.id != current.id, let new = Settings(text) {
            (settings, campaignNames) = (new, Self.names(directories))
            current = UsedConfiguration(of: new, id: text.id, since: text.since)
        }
        return current
    }

    func past(_ id: ConfigurationID) -> UsedConfiguration? {
        if let known = used[id] { return known }
        guard EventLoop.nowNanoseconds >= pauseEnd else { return nil }
        guard let text = ask(id), let settings = Settings(text) else {
            pauseEnd = EventLoop.nowNanoseconds + Self.pause
            return nil
        }
        if used.count >= Self.usedMax { used = [:] }
        let found = UsedConfiguration(of: settings, id: id, since: text.since)
        used[id] = found
        return found
    }

    /// The names of campaigns in the first directory that has them. A file that is wrong gives none: pushctl says why.
    private static func names(_ directories: Directories) -> [String: String] {
        for directory in directories.configuration {
            let path = "\(directory)/\(CampaignNames.fileName)"
            guard let bytes = try? SmallFile.read(path) else { continue }
            return (try? CampaignNames(bytes, of: path))?.names ?? [:]
        }
        return [:]
    }

    /// The valid parts of the files: a mistake does not keep the page from showing what there is.
    private static func files(_ directories: Directories, _ isRequired: Bool) -> Settings {
        let sources = try? ConfigurationSources(reading: directories.configuration, required: isRequired)
        return Settings.read(sources ?? .shipped).settings
    }
}

extension Settings {
    /// Reads the daemon's answer; `nil` if it is none.
    init?(_ text: ConfigurationText) {
        guard let sources = ConfigurationSources(keptText: text.text) else { return nil }
        self = Settings.read(sources).settings
    }
}

extension UsedConfiguration {
    fileprivate init(of settings: Settings, id: ConfigurationID?, since: WallTime?) {
        self.init(id: id, since: since, table: settings.routing, limits: settings.daemon.jsonLimits)
    }
}
