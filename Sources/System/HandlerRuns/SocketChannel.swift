import EventLoop
import LinuxSystem
import PushModel
import UnixSockets

/// Where the connections of a handler lead.
struct ConnectionSource {
    /// How it is told from others: "at /run/crm.sock"; `nil` where there is one only.
    let place: String?
    /// Whether the other end says with a line that it is up: what is sent before may be sent to nobody.
    let greets: Bool
    /// Connects, now or later, and says once what became of it. What it returns is to be called once, when the connection is
    /// not needed any more.
    let connect: (@escaping (Result<Connection, ConnectionFailure>) -> Void) -> () -> Void

    /// The socket of a service.
    ///
    /// - Parameter greets: whether it says that it is up, as a bridge does.
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

    /// The program of a bridge.
    init(_ program: BridgeProgram) {
        place = nil
        greets = true
        connect = { program.connect($0) }
    }
}

/// Why there is no connection.
struct ConnectionFailure: Error, CustomStringConvertible {
    /// Reads on after what it was to lead to.
    let description: String
}

/// A connection to another service, or to a program of our own.
final class SocketChannel: InstanceChannel {
    private let source: ConnectionSource
    private let isSingleUse: Bool
    private let system: InstanceSystem
    private let report: (ChannelReport) -> Void
    private var stream: LineStream?
    private var isOpen = false
    /// Ends the wait for the line that says that the other end is up.
    private var greetingTimer: TimerSource?
    private var isHeld = false
    private var release: (() -> Void)?

    /// For how long the line that says that the other end is up is waited for.
    private let patience: Duration

    /// - Parameters:
    ///   - source: where it leads.
    ///   - isSingleUse: whether it carries one line, after which the other end gets the end of its input.
    ///   - system: what instances work with.
    ///   - patience: for how long the line that says that the other end is up is waited for.
    ///   - report: takes what happens, until `close`.
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
        // In the call it may have failed, or been closed.
        if isHeld { self.release = release } else { release() }
    }

    private func connected(_ result: Result<Connection, ConnectionFailure>) {
        // Who was closed meanwhile lets the connection go.
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
            letGo()
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
        letGo()
        if isOpen, leavesLast { report(.takesNoMore(leavesLast: true)) }
        report(isOpen ? .closed(reason) : .failedToOpen(reason))
    }

    func send(_ line: [UInt8]) { stream?.send(line) }

    /// The service behind a socket keeps its standard error to itself.
    func handOverErrors(to next: InvocationID?) -> ErrorOutput? { nil }

    func finishInput() {
        // It has a line to answer, or has none and goes by itself.
        if isSingleUse { return stream?.finishSending() ?? () }
        close()
        report(.closed("was closed"))
    }

    func close() {
        stream?.close()
        stream = nil
        greetingTimer = nil
        letGo()
    }

    private func letGo() {
        guard isHeld else { return }
        isHeld = false
        release?()
        release = nil
    }
}
