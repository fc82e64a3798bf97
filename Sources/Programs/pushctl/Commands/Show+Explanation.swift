import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

/// The reasons for the owner and the callbacks of a delivery, by the configuration that decided it.
struct ExplainedStory {
    /// The configuration, as a sentence.
    let sentence: String
    let explanation: Explanation

    /// The part of the story for people.
    var lines: [ReportLine] {
        [ReportLine(""), ReportLine("Owner and reasons", .heading), ReportLine("  \(sentence)")]
            + explanation.lines().map { ReportLine($0.text.isEmpty ? "" : "  \($0.text)", $0.tone) }
    }
}

extension Session {
    /// Explains a delivery by the configuration that decided it, else by the files as they are.
    ///
    /// - Returns: `nil` for other requests, and without any configuration.
    func explanation(of story: RequestStory, in zone: LocalZone) -> ExplainedStory? {
        guard let request = try? Request(acceptedLine: story.request.body), case .deliver(let deliver) = request.action,
            let (settings, sentence) = configuration(of: story, in: zone),
            let explanation = try? Explanation(
                deliver, platform: story.request.platform, table: settings.routing)
        else { return nil }
        return ExplainedStory(sentence: sentence, explanation: explanation)
    }

    private func configuration(of story: RequestStory, in zone: LocalZone) -> (Settings, String)? {
        guard let deciding = story.configuration else {
            return (try? settings()).map { ($0, "As the configuration decides today.") }
        }
        let id = deciding.period.id
        let sentence = "Decided by the configuration \(id), in force from \(zone.text(deciding.period.since)) on."
        guard let settings = settings(of: id) else {
            return (try? settings()).map {
                ($0, "\(sentence) This user cannot read it any more: as the configuration decides today.")
            }
        }
        let end = deciding.isInForce ? "It is still in force." : "Another one is in force now."
        return (settings, "\(sentence) \(end)")
    }

    /// A configuration that was in force: from its file, or from the daemon, which withholds what may be secret.
    private func settings(of id: ConfigurationID) -> Settings? {
        if let sources = ConfigurationKeeper(state: directories.state).sources(of: id) {
            return Settings.read(sources).settings
        }
        guard let reply = try? control(.configuration(id)), let text = ConfigurationText(reply),
            let sources = ConfigurationSources(keptText: text.text)
        else { return nil }
        return Settings.read(sources).settings
    }
}
