import LinuxSystem
import PushModel

extension JournalEntry {
    /// The entry for a change of the sending state; `nil` if a person need not know of it.
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

    /// The entry for custom data that needs a person: the numbers of the entries, never their contents.
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

    /// The entry for custom data that a session flushed and that could not be sent as well.
    init(flushedUnsent count: Int, by cause: String) {
        let entries = counted(count, "entry was", "entries were")
        self.init(
            .warning,
            "\(entries) flushed and not sent to the endpoint, though SendFlushed=yes: \(cause) has no user; name the "
                + "user with external_id")
    }
}
