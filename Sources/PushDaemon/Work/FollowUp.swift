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
    indirect case start(HandlerRun)
    /// Run a handler whose payload is to be read again first.
    indirect case load(HandlerRun)
    /// Tell the journal and whoever waits how an invocation ended.
    case decided(InvocationEnd)
    /// Hand entries of custom data to the forwarder.
    indirect case handOver(ClaimedEntries)
    /// Tell the journal.
    indirect case note(JournalEntry)
}
