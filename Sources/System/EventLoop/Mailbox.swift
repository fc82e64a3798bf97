public import LinuxSystem
import Synchronization

/// Carries messages from any thread to the loop, in the order of posting.
public final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Mutex<[Message]>([])
    private let wakeup: EventDescriptor

    /// An empty mailbox.
    ///
    /// - Throws: when there is no descriptor left.
    public init() throws(SystemError) { wakeup = try EventDescriptor() }

    /// Adds a message; on any thread, without waiting. Only the first since the loop last looked wakes it.
    public func post(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if wasEmpty { wakeup.signal() }
    }

    /// Makes the calling thread's loop hand all messages that have come to `handler`, never none.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread; one loop at a time receives.
    ///   - priority: before or after which other sources.
    ///   - handler: called on the loop's thread.
    /// - Returns: the source; messages are received as long as it lives.
    /// - Throws: when the kernel cannot watch the mailbox.
    public func receive(
        on loop: EventLoop, priority: EventLoop.Priority = .normal, handler: @escaping ([Message]) -> Void
    ) throws(SystemError) -> IOSource {
        try IOSource(loop: loop, descriptor: wakeup.descriptor, interest: .read, priority: priority) { _ in
            // Cleared before the messages are taken: one posted in between signals again and is not forgotten.
            self.wakeup.clear()
            let batch = self.takeAll()
            if !batch.isEmpty { handler(batch) }
        }
    }

    /// Takes out all messages that have come, for a loop that takes no further turn; on the loop's thread.
    public func takeAll() -> [Message] { messages.withLock { messages in exchange(&messages, with: []) } }
}
