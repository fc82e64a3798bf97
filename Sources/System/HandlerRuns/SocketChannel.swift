import EventLoop
import LinuxSystem
import PushModel
import UnixSockets

/// A connection to the socket of another service.
final class SocketChannel: InstanceChannel {
    private let path: String
    private let system: InstanceSystem
    private let report: (ChannelReport) -> Void
    private var stream: LineStream?

    /// - Parameters:
    ///   - path: of the socket.
    ///   - system: what instances work with.
    ///   - report: takes what happens, until `close`.
    init(path: String, system: InstanceSystem, report: @escaping (ChannelReport) -> Void) {
        self.path = path
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

    /// The service behind a socket keeps its standard error to itself.
    func handOverErrors(to next: InvocationID?) -> ErrorOutput? { nil }

    func finishInput() {
        close()
        report(.closed("was closed"))
    }

    func close() {
        stream?.close()
        stream = nil
    }
}
