import LinuxSystem
import PushModel

/// The destination of a handler's connections.
struct ConnectionSource {
    /// The place for messages: "at /run/crm.sock"; `nil` if there is only one.
    let place: String?
    /// Whether the other end sends a line when it is up: lines sent before might be lost.
    let greets: Bool
    /// Connects, during the call or later, and passes the result to the closure once. The closure that it returns is to
    /// be called once, when the connection is no longer needed.
    let connect: (@escaping (Result<Connection, ConnectionFailure>) -> Void) -> () -> Void

    /// Makes the source of connections to a service's socket.
    ///
    /// - Parameter greets: whether the service sends a line when it is up, as a bridge does.
    init(path: String, greets: Bool) {
        place = "at \(path)"
        self.greets = greets
        connect = { take in
            do throws(ClientError) {
                take(.success(try Connection(connectingTo: path)))
            } catch {
                take(.failure(ConnectionFailure(description: "cannot be connected to: \(error)")))
            }
            return {}
        }
    }

    /// Makes the source of connections to the program of a bridge.
    init(_ program: BridgeProgram) {
        place = nil
        greets = true
        connect = { program.connect($0) }
    }
}

/// The reason why there is no connection.
struct ConnectionFailure: Error, CustomStringConvertible {
    /// A clause that continues the name of the destination.
    let description: String
}

/// A connection to another service, or to a bridge's program.
final class SocketChannel: InstanceChannel {
    private let source: ConnectionSource
    private let isSingleUse: Bool
    private let system: InstanceSystem
    private let report: (ChannelReport) -> Void
    private var stream: LineStream?
    private var isOpen = false
    /// Limits the wait for the line that says that the other end is up.
    private var greetingTimer: TimerSource?
    private var isHeld = false
    private var release: (() -> Void)?

    /// The longest wait for the line that says that the other end is up.
    private let patience: Duration

    /// - Parameters:
    ///   - source: the destination.
    ///   - isSingleUse: whether it carries one line, after which its output is closed.
    ///   - system: the services for instances.
    ///   - patience: the longest wait for the line that says that the other end is up.
    ///   - report: takes reports, until `close`.
    init(
        _ source: ConnectionSource, isSingleUse: Bool, system: InstanceSystem, patience: Duration = .seconds(3),
        report: @escaping (ChannelReport) -> Void
    ) {
        self.source = source
        self.patience = patience
        self.isSingleUse = isSingleUse
        self.system = system
        self.report = report
    }

    func open() {
        isHeld = true
        let release = source.connect { [weak self] in self?.connected($0) }
        // The call may have failed or closed the channel already.
        if isHeld { self.release = release } else { release() }
    }

    private func connected(_ result: Result<Connection, ConnectionFailure>) {
        // After close(), the connection is dropped.
        guard isHeld else { return }
        do {
            stream = try LineStream(try result.get(), buffer: system.buffer, loop: system.loop) { [unowned self] in
                switch $0 {
                case .line(let line): wrote(line)
                case .end: ended(isOpen ? "closed the connection" : "closed the connection before it was up")
                case .fault(let reason): ended(reason)
                }
            }
            guard source.greets else { return opened() }
            greetingTimer = try TimerSource(loop: system.loop) { [unowned self] in
                stream?.close()
                ended("did not say within \(patience.milliseconds) ms that it is up")
            }
            greetingTimer?.arm(at: (Instant(nanoseconds: EventLoop.nowNanoseconds) + patience).nanoseconds)
        } catch {
            stream?.close()
            stream = nil
            releaseSocket()
            report(.failedToOpen("\(error)"))
        }
    }

    private func opened() {
        isOpen = true
        greetingTimer = nil
        report(.opened)
    }

    private func wrote(_ line: [UInt8]) {
        if isOpen { return report(.line(line)) }
        opened()
    }

    private func ended(_ reason: String) {
        let reason = source.place.map { "\($0) \(reason)" } ?? reason
        let leavesLast = stream?.hasUnreadLine == true
        stream = nil
        greetingTimer = nil
        releaseSocket()
        if isOpen, leavesLast { report(.acceptsNoLines(leavesLast: true)) }
        report(isOpen ? .closed(reason) : .failedToOpen(reason))
    }

    func send(_ line: [UInt8]) { stream?.send(line) }

    /// Returns nil: this process does not have the standard error of the service behind a socket.
    func handOverErrors(to next: InvocationID?) -> ErrorOutput? { nil }

    func finishInput() {
        // A connection of a single use gets the end of its input after its line. Without a line the other end closes
        // it.
        if isSingleUse { return stream?.finishSending() ?? () }
        close()
        report(.closed("was closed"))
    }

    func close() {
        stream?.close()
        stream = nil
        greetingTimer = nil
        releaseSocket()
    }

    private func releaseSocket() {
        guard isHeld else { return }
        isHeld = false
        release?()
        release = nil
    }
}
