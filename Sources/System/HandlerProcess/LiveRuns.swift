import Glibc
import Synchronization

/// The runs of this process that have not ended, and the children that have not been reaped.
///
/// One for the whole process, as the kernel's list of children is; any thread. A mark is here before the child exists, so
/// that a helper which the child orphans at once is never taken for an escaped one.
enum LiveRuns {
    /// A point in the order in which runs began.
    struct Point: Hashable, Comparable {
        fileprivate let value: UInt64

        static func < (left: Point, right: Point) -> Bool { left.value < right.value }
    }

    private struct Run {
        /// How many runs have the mark; more than one only if the caller gives a mark twice.
        var count: Int
        var begin: UInt64
    }

    private struct State {
        var runs: [String: Run] = [:]
        var unreaped: [Int32: String] = [:]
        var lastBegin: UInt64 = 0
        /// What all marks of this process begin with, up to their first colon.
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

    /// Whether processes with the mark may live.
    static func isLive(_ mark: String) -> Bool {
        state.withLock { $0.runs[mark] != nil }
    }

    /// Whether a mark is that of a run of this process, if only of one that has ended: another program that runs handlers
    /// marks its own.
    static func isOurs(_ mark: String) -> Bool {
        state.withLock { $0.prefix == mark.prefix { $0 != ":" } }
    }

    /// Whether all children that are not reaped are dead.
    static var areDead: Bool {
        let unreaped = state.withLock { Array($0.unreaped.keys) }
        return unreaped.allSatisfy { ExitStatus.wait(P_PID, id_t($0), WNOHANG | Int32(WNOWAIT)) != nil }
    }

    /// Whether we started the process ourselves.
    static func hasChild(_ process: Int32) -> Bool {
        state.withLock { $0.unreaped[process] != nil }
    }

    /// The mark of the run whose process group this is; `nil` if it is that of none that may live.
    static func mark(ofGroup group: Int32) -> String? {
        state.withLock { state in
            guard let mark = state.unreaped[group], state.runs[mark] != nil else { return nil }
            return mark
        }
    }

    /// Now, in the order in which runs began.
    static var now: Point { state.withLock { Point(value: $0.lastBegin) } }

    /// When the oldest run began that has not ended, programs that stay included: all runs that began before have ended.
    static var oldest: Point {
        state.withLock { state in Point(value: state.runs.values.lazy.map(\.begin).min() ?? .max) }
    }
}
