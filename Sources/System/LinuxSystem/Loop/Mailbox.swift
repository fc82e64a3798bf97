import Synchronization

/// Carries messages from any thread to the loop, in the order of posting.
public final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Mutex<[Message]>([])
    private let wakeup: EventDescriptor

    /// Creates an empty mailbox.
    ///
    /// - Throws: if there is no descriptor left.
    public init() throws(SystemError) { wakeup = try EventDescriptor() }

    /// Adds a message; on any thread, without waiting. Only the first message since the last take wakes the loop.
    public func post(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if wasEmpty { wakeup.signal() }
    }

    /// Delivers new messages to `handler` on the calling thread's loop, at least one in each call.
    ///
    /// - Parameters:
    ///   - loop: the loop of the calling thread; one loop at a time receives.
    ///   - priority: the priority among the loop's sources.
    ///   - handler: called on the loop's thread.
    /// - Returns: the source, which delivers messages as long as it lives.
    /// - Throws: if the kernel cannot watch the mailbox.
    public func receive(
        on loop: EventLoop, priority: EventLoop.Priority = .normal, handler: @escaping ([Message]) -> Void
    ) throws(SystemError) -> IOSource {
        try IOSource(loop: loop, descriptor: wakeup.descriptor, interest: .read, priority: priority) { _ in
            // clear() comes first: a message posted in between signals again, and is not missed.
            self.wakeup.clear()
            let batch = self.takeAll()
            if !batch.isEmpty { handler(batch) }
        }
    }

    /// Removes and returns all messages, for a loop that takes no further turn; on the loop's thread.
    public func takeAll() -> [Message] { messages.withLock { messages in exchange(&messages, with: []) } }
}
