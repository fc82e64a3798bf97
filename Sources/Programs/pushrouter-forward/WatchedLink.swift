import LinuxSystem
import PushModel
import PushSettings

/// The link to the daemon on the event loop: watches the socket, and a timer while the connection is down.
final class WatchedLink {
    private let loop: EventLoop
    private let link: DaemonLink
    private var source: IOSource?
    private var timer: TimerSource?

    /// A claim's reply has at most one mebibyte of data, or one entry, and the JSON around it; escapes may double it.
    private static let longestReply = 8 << 20

    /// - Parameters:
    ///   - loop: the event loop.
    ///   - path: the path of the daemon's socket.
    ///   - news: called with each event of the link.
    init(loop: EventLoop, path: String, news: @escaping (DaemonLink.News) -> Void) throws(SystemError) {
        self.loop = loop
        link = DaemonLink(path: path, maximumLineLength: Self.longestReply)
        timer = try TimerSource(loop: loop) { [unowned self] in connect() }
        link.news = { [unowned self] in
            switch $0 {
            case .connected:
                watch()
                guard link.descriptor != nil else { return }
            case .disconnected:
                source = nil
                guard let delay = link.retryDelay else { break }
                timer?.arm(at: EventLoop.nowNanoseconds + delay.nanoseconds)
            case .answered: break
            }
            news($0)
        }
    }

    /// Connects, and reconnects whenever the connection ends.
    func connect() { link.connect() }

    /// Queues a request; to be called while connected.
    func send(_ operation: ControlRequest.Operation) { link.send(operation) }

    /// Drops the connection, and reconnects.
    func fail(_ reason: String) { link.fail(reason) }

    /// Sends queued requests; at the end of each turn.
    func flush() {
        link.flush()
        watch()
    }

    private func watch() {
        guard let descriptor = link.descriptor else { return }
        let interest: IOEvents = link.wants == .readingAndWriting ? [.read, .write] : .read
        guard source == nil else {
            source?.interest = interest
            return
        }
        do throws(SystemError) {
            source = try IOSource(loop: loop, descriptor: descriptor, interest: interest) { [unowned self] _ in
                link.serve()
            }
        } catch {
            link.fail("\(error)")
        }
    }
}
