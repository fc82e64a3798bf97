import EventLoop
import LinuxSystem
import UnixSockets

/// A connection to the socket of another service.
final class SocketChannel: InstanceChannel {
    private let path: String
    private let isSingleUse: Bool
    private let system: InstanceSystem
    private let report: (ChannelReport) -> Void
    private var stream: LineStream?

    /// - Parameters:
    ///   - path: of the socket.
    ///   - isSingleUse: whether it carries one line, after which the other end gets the end of its input.
    ///   - system: what instances work with.
    ///   - report: takes what happens, until `close`.
    init(
        path: String, isSingleUse: Bool, system: InstanceSystem, report: @escaping (ChannelReport) -> Void
    ) {
        self.path = path
        self.isSingleUse = isSingleUse
        self.system = system
        self.report = report
    }

    func open() {
        do {
            stream = try LineStream(try Connection(connectingTo: path), buffer: system.buffer, loop: system.loop) {
                [unowned self] in
                switch $0 {
                case .line(let line): report(.line(line))
                case .end: ended("closed the connection")
                case .fault(let reason): ended(reason)
                }
            }
            report(.opened)
        } catch {
            report(.failedToOpen("cannot be connected to: \(error)"))
        }
    }

    private func ended(_ reason: String) {
        stream = nil
        report(.closed("at \(path) \(reason)"))
    }

    func send(_ line: [UInt8]) { stream?.send(line) }

    func finishInput() {
        // It has a line to answer, or has none and goes by itself.
        if isSingleUse { return stream?.finishSending() ?? () }
        close()
        report(.closed("was closed"))
    }

    func close() {
        stream?.close()
        stream = nil
    }
}
