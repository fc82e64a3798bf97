public import PushModel

/// The question for the state of a gateway, by its Unix socket.
public enum GatewayStatusQuestion {
    /// How many bytes of the answer are read at most.
    private static let longest = 1 << 20

    /// Asks with `GET /status`.
    ///
    /// - Parameters:
    ///   - path: the gateway's Unix socket.
    ///   - timeoutMilliseconds: how long the connection, and each line of the answer, may take.
    /// - Throws: why the gateway gave no status, for people.
    public static func ask(_ path: String, timeoutMilliseconds: Int) throws -> JSONNode {
        let client = try Client(path: path, timeoutMilliseconds: timeoutMilliseconds)
        try client.send(Array("GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".utf8))
        var length = 0
        while length < longest, let line = try client.receiveLine(timeoutMilliseconds: timeoutMilliseconds) {
            length += line.count
            guard line.first == UInt8(ascii: "{") else { continue }
            return try JSONDocument(scanning: line).root
        }
        throw NoStatus(path: path)
    }

    private struct NoStatus: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) gives no status: it is not the socket of pushrouter-gateway" }
    }
}
