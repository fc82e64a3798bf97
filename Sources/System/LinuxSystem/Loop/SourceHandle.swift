import CSystemd

/// Owns one `sd_event_source`. Its owner is the object that the callback points at, so it is freed before that object.
struct SourceHandle: ~Copyable {
    private let source: OpaquePointer

    /// Takes over the reference that an `sd_event_add_...` call returned.
    ///
    /// - Throws: the error of that call.
    init(
        _ priority: EventLoop.Priority, _ operation: @autoclosure () -> String,
        add: (UnsafeMutablePointer<OpaquePointer?>) -> Int32
    ) throws(SystemError) {
        var added: OpaquePointer?
        let result = add(&added)
        guard result >= 0, let added else { throw SystemError(operation: operation(), errno: -result) }
        let prioritized = sd_event_source_set_priority(added, priority.rawValue)
        guard prioritized >= 0 else {
            sd_event_source_disable_unref(added)
            throw SystemError(operation: operation(), errno: -prioritized)
        }
        source = added
    }

    deinit { sd_event_source_disable_unref(source) }

    /// `SD_EVENT_OFF`, `SD_EVENT_ON` or `SD_EVENT_ONESHOT`.
    func setEnabled(_ state: Int) throws(SystemError) {
        try SystemError.check(sd_event_source_set_enabled(source, Int32(state)), "enable or disable an event source")
    }

    func setEvents(_ events: UInt32) throws(SystemError) {
        try SystemError.check(sd_event_source_set_io_events(source, events), "change the events of a descriptor")
    }

    func setTime(microseconds: UInt64) throws(SystemError) {
        try SystemError.check(sd_event_source_set_time(source, microseconds), "set a timer")
    }
}
