import JournalLog
import PushModel
import PushRouting

/// Something that is done once the records before it are durable.
enum FollowUp {
    /// Tell a client.
    case reply(ClientSession, place: Int, ClientReply)
    /// Tell a client, who has its reply now, the outcomes that it waits for.
    case releaseOutcomes(OutcomeWait)
    /// Run a handler.
    case start(HandlerRun)
    /// Tell the journal and whoever waits how an invocation ended.
    case decided(InvocationEnd)
    /// Hand entries of custom data to the forwarder.
    case handOver(ClaimedEntries)
    /// Tell the journal.
    case note(JournalEntry)
}
