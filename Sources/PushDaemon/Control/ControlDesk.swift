import PushModel
import PushProtocol
import PushRouting

/// Takes the requests of `control.sock`: tells what the daemon does, and has the router do what people and the forwarder
/// ask for.
final class ControlDesk {
    private let conductor: Conductor
    private let forwarder: ForwarderDesk
    private let status: (_ isForwarderConnected: Bool) -> Status
    private let storeProblem: () -> String?

    /// - Parameters:
    ///   - conductor: carries out what is decided.
    ///   - status: what the daemon does now.
    ///   - storeProblem: why nothing can be written for now; told to whoever wants something changed.
    init(
        conductor: Conductor, status: @escaping (_ isForwarderConnected: Bool) -> Status,
        storeProblem: @escaping () -> String?
    ) {
        self.conductor = conductor
        self.status = status
        self.storeProblem = storeProblem
        forwarder = ForwarderDesk(conductor: conductor)
    }

    /// Takes in a line; its reply comes now or later, in the place that the line takes.
    func take(_ line: [UInt8], from session: ClientSession) {
        let client = ControlClient(session: session, place: session.reserveReply())
        forwarder.endWait(of: session)
        do throws(ProtocolError) {
            try carryOut(try ControlRequest(line: line), for: client)
        } catch {
            session.reply(client.place, Reply.refused(error))
        }
    }

    /// Hands out what came in the turn to whoever waits for it.
    func endTurn() { forwarder.serve() }

    /// The daemon is to end: nobody waits any longer.
    func stop() { forwarder.endWait() }

    private func carryOut(_ request: ControlRequest, for client: ControlClient) throws(ProtocolError) {
        var client = client
        client.id = request.id
        switch request.operation {
        case .status: client.session.reply(client.place, status(forwarder.isConnected).reply(id: request.id))
        // What the forwarder has to say is true whatever the disk does; its reply waits for the disk.
        case .settle(let settle): forwarder.settle(settle, for: client)
        case .sending(let report): try forwarder.report(report, for: client)
        case .peek(let after, let limit): forwarder.peek(after: after, limit: limit, for: client)
        case .claim(let claim):
            try checkStore(request)
            try forwarder.claim(claim, for: client)
        case .flush(let flush):
            try checkStore(request)
            let count = conductor.order { $0.flush(flush.target, suite: flush.suite, at: $1, effects: &$2) }
            conductor.reply(to: client, Reply.counted("flushed", count, id: request.id))
        case .reset(let suite, let app):
            try checkStore(request)
            let count = conductor.order { $0.reset(suite: suite, app: app, at: $1, effects: &$2) }
            conductor.reply(to: client, Reply.counted("discarded", count, id: request.id))
        case .resolve(let resolve):
            try checkStore(request)
            let count = conductor.order { $0.resolve(resolve.entries, resolve.state, at: $1, effects: &$2) }
            conductor.reply(to: client, Reply.counted("resolved", count, id: request.id))
        }
    }

    private func checkStore(_ request: ControlRequest) throws(ProtocolError) {
        guard let problem = storeProblem() else { return }
        throw ProtocolError(.unavailable, message: problem, retryAfter: .seconds(1), id: request.id)
    }
}

/// Who sent a request over `control.sock`, and where its reply goes.
struct ControlClient {
    var session: ClientSession
    var place: Int
    /// The request's id.
    var id: String?
}
