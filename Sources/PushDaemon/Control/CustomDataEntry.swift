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
            self.init(.notice, "sending of custom data waits\(reason)", messageID: .sendingWaits)
        case .stopped:
            self.init(
                .error, "sending of custom data has stopped\(reason); all entries are kept", messageID: .sendingStopped)
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
                .warning, "the endpoint rejected custom data: entry \(entries); pushctl pending --rejected shows why",
                messageID: .entriesRejected)
        case .unknown:
            self.init(
                .warning,
                "custom data may or may not have reached the endpoint: entry \(entries); see pushctl pending "
                    + "--unknown", messageID: .entriesUnknown)
        case .pending, .queued, .claimed, .flushed, .sent, .discarded: return nil
        }
    }

    /// The journal's entry for entries of custom data that a session flushed and that could not be sent as well.
    init(flushedUnsent count: Int, by cause: String) {
        let entries = counted(count, "entry was", "entries were")
        self.init(
            .warning,
            "\(entries) flushed and not sent to the endpoint, though SendFlushed=yes: \(cause) has no user; name it "
                + "with external_id")
    }
}
