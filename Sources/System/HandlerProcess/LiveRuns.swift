import Glibc
import Synchronization

/// The runs of this process that have not ended, and its children that are not reaped.
///
/// One set for the whole process, like the kernel's list of children; for any thread. A mark is added before its child
/// exists, so that a helper that the child orphans at once is never taken for a leftover.
enum LiveRuns {
    /// A point in the order in which runs began.
    struct Point: Hashable, Comparable {
        fileprivate let value: UInt64

        static func < (left: Point, right: Point) -> Bool { left.value < right.value }
    }

    private struct Run {
        /// The number of runs with this mark; more than one only if the caller uses a mark twice.
        var count: Int
        var begin: UInt64
    }

    private struct State {
        var runs: [String: Run] = [:]
        var unreaped: [Int32: String] = [:]
        var lastBegin: UInt64 = 0
        /// The common prefix of all marks of this process, up to their first colon.
        var prefix: Substring?
    }

    private static let state = Mutex(State())

    static func begin(_ mark: String) {
        state.withLock { state in
            if state.prefix == nil { state.prefix = mark.prefix { $0 != ":" } }
            state.lastBegin += 1
            state.runs[mark, default: Run(count: 0, begin: state.lastBegin)].count += 1
        }
    }

    static func end(_ mark: String) {
        state.withLock { state in
            guard var run = state.runs[mark] else { preconditionFailure("run \(mark) has not begun") }
            run.count -= 1
            state.runs[mark] = run.count == 0 ? nil : run
        }
    }

    static func addChild(_ process: Int32, mark: String) {
        state.withLock { $0.unreaped[process] = mark }
    }

    static func removeChild(_ process: Int32) {
        state.withLock { $0.unreaped[process] = nil }
    }

    /// Returns whether a run with the mark is live.
    static func isLive(_ mark: String) -> Bool {
        state.withLock { $0.runs[mark] != nil }
    }

    /// Returns whether a mark is that of a live or ended run of this process; another program that runs handlers uses
    /// other marks.
    static func isOurs(_ mark: String) -> Bool {
        state.withLock { $0.prefix == mark.prefix { $0 != ":" } }
    }

    /// Whether all unreaped children have exited.
    static var areDead: Bool {
        let unreaped = state.withLock { Array($0.unreaped.keys) }
        return unreaped.allSatisfy { ExitStatus.wait(P_PID, id_t($0), WNOHANG | Int32(WNOWAIT)) != nil }
    }

    /// Returns whether this process started the process itself.
    static func hasChild(_ process: Int32) -> Bool {
        state.withLock { $0.unreaped[process] != nil }
    }

    /// Returns the mark of the live run with this process group; `nil` if there is none.
    static func mark(ofGroup group: Int32) -> String? {
        state.withLock { state in
            guard let mark = state.unreaped[group], state.runs[mark] != nil else { return nil }
            return mark
        }
    }

    /// The present point in the order of runs.
    static var now: Point { state.withLock { Point(value: $0.lastBegin) } }

    /// The point at which the oldest live run began, including programs that stay; every run that began before it has
    /// ended.
    static var oldest: Point {
        state.withLock { state in Point(value: state.runs.values.lazy.map(\.begin).min() ?? .max) }
    }
}
