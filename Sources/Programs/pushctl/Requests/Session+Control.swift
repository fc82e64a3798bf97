import PushModel
import PushSettings

extension Session {
    /// Asks the daemon over control.sock, and gives its answer.
    ///
    /// - Throws: why it refused, with the status "no", or why it did not answer.
    func control(
        _ operation: String, _ members: (inout JSONWriter) -> Void = { _ in }
    ) throws(Failure) -> JSONNode {
        var writer = JSONWriter()
        writer.object {
            $0.member("op", operation)
            members(&$0)
        }
        let path = directories.controlSocket
        let connection = try DaemonConnection(path)
        try connection.send(writer.bytes + [UInt8(ascii: "\n")])
        guard let line = try connection.receiveLine() else {
            throw Failure(.unavailable, "\(path): the daemon closed the connection without an answer")
        }
        guard let reply = (try? JSONDocument(scanning: line))?.root, let isDone = reply["ok"]?.bool else {
            throw Failure(
                .unavailable, "\(path): not an answer to \(operation): \(String(decoding: line, as: UTF8.self))")
        }
        guard isDone else { throw Failure(.no, "\(operation): refused: \(reply.refusal)") }
        return reply
    }
}
