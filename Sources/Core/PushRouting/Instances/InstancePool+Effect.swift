public import PushModel

extension InstancePool {
    /// An action for the daemon, carried out in order.
    public enum Effect: Sendable {
        /// Open an instance and report `opened` or `failedToOpen`; report `closed` when it ends by itself.
        case open(InstanceID)
        /// Send the line of a run to the instance, with this id.
        indirect case send(HandlerRun, line: Int64, to: InstanceID)
        /// The instance has not read the line of this invocation, which moves to another instance: later output of this
        /// instance concerns other invocations.
        case reassign(InvocationID, from: InstanceID)
        /// Send the cancellation of this line to the instance.
        case cancel(line: Int64, from: InstanceID)
        /// End the instance's input; it may still answer.
        case finishInput(InstanceID)
        /// Kill the instance with all its processes, or close the connection; the pool ignores any later line.
        case close(InstanceID)
        /// Report to the router.
        case report(RouterEvent)
        /// Handle this line of an instance as a request to the daemon.
        case request([UInt8])
        /// Write one sentence to the journal.
        case note(String)
    }
}
