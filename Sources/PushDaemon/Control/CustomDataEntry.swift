import JournalLog
import PushModel

extension JournalEntry {
    /// The journal's entry for a change of how sending goes; `nil` where nothing changed that a person should know of.
    init?(_ state: SendingState, after last: SendingState.Phase?) {
        guard state.phase != last else { return nil }
        let reason = state.reason.map { ": \($0)" } ?? ""
        switch state.phase {
        case .sending:
            guard last != nil else { return nil }
            self.init(.notice, "custom data is sent again", messageID: .sendingResumed)
        case .waiting:
            self.init(.notice, "sending custom data waits\(reason)", messageID: .sendingWaits)
        case .stopped:
            self.init(
                .error, "sending custom data has stopped\(reason); everything is kept", messageID: .sendingStopped)
        }
    }

    /// The journal's entry for entries of custom data that need a person: numbers, never what they say.
    init?(_ numbers: [EntryNumber], became state: EntryState) {
        guard !numbers.isEmpty else { return nil }
        let shown = numbers.prefix(20).map(\.description).joined(separator: ", ")
        let entries = numbers.count > 20 ? "\(shown) and \(numbers.count - 20) more" : shown
        switch state {
        case .rejected:
            self.init(
                .warning, "the endpoint refuses custom data: entry \(entries); pushctl pending --rejected says why",
                messageID: .entriesRejected)
        case .unknown:
            self.init(
                .warning,
                "custom data may have been sent, and nobody knows whether it was accepted: entry \(entries); see pushctl pending "
                    + "--unknown", messageID: .entriesUnknown)
        case .pending, .queued, .claimed, .flushed, .sent, .discarded: return nil
        }
    }
}
