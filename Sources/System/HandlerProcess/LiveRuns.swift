import Synchronization

/// The runs of this process that have not ended, and the children that have not been reaped.
///
/// One for the whole process, as the kernel's list of children is; any thread. A mark is here before the child exists, so
/// that a helper which the child orphans at once is never taken for an escaped one.
enum LiveRuns {
    private struct State {
        /// How many runs have the mark; more than one only if the caller gives a mark twice.
        var runs: [String: Int] = [:]
        var unreaped: [Int32: String] = [:]
    }

    private static let state = Mutex(State())

    static func begin(_ mark: String) {
        state.withLock { $0.runs[mark, default: 0] += 1 }
    }

    static func end(_ mark: String) {
        state.withLock { state in
            guard let count = state.runs[mark] else { preconditionFailure("run \(mark) has not begun") }
            state.runs[mark] = count == 1 ? nil : count - 1
        }
    }

    static func addChild(_ process: Int32, mark: String) {
        state.withLock { $0.unreaped[process] = mark }
    }

    static func removeChild(_ process: Int32) {
        state.withLock { $0.unreaped[process] = nil }
    }

    /// Whether processes with the mark may live.
    static func isLive(_ mark: String) -> Bool {
        state.withLock { $0.runs[mark] != nil }
    }

    /// Whether we started the process ourselves.
    static func hasChild(_ process: Int32) -> Bool {
        state.withLock { $0.unreaped[process] != nil }
    }

    /// Whether the process group is that of a run that may live.
    static func isLiveGroup(_ group: Int32) -> Bool {
        state.withLock { state in
            guard let mark = state.unreaped[group] else { return false }
            return state.runs[mark] != nil
        }
    }
}
