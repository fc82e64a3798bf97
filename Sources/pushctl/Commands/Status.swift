import PushModel
import PushSettings

extension Command {
    static let status = Command(
        name: "status", summary: "say what the daemon is doing now",
        description: [
            """
            Asks the running daemon over control.sock. Times end in their unit: _ms, _us. A problem is null, for people -, \
            when there is none. pushctl(1) says what each field is.
            """
        ],
        operands: .none,
        options: [.json],
        examples: [
            Example(line: "pushctl status", meaning: "for people"),
            Example(line: "pushctl status --json", meaning: "the same facts as one JSON object"),
        ]
    ) { arguments, session throws(Failure) in
        let path = session.directories.controlSocket
        let connection = try DaemonConnection(path)
        try connection.send(Array(#"{"op":"status"}"#.utf8) + [UInt8(ascii: "\n")])
        guard let line = try connection.receiveLine() else {
            throw Failure(.unavailable, "\(path): the daemon closed the connection without an answer")
        }
        guard let reply = (try? JSONDocument(scanning: line))?.root, let status = reply["status"] else {
            throw Failure(.unavailable, "\(path): not an answer to status: \(String(decoding: line, as: UTF8.self))")
        }
        if arguments.has(.json) {
            session.output.write(line: status.rawBytes)
        } else {
            session.output.print(Text.columns(status.members.map { [$0.key, $0.value.forPeople] }))
        }
        return .done
    }
}

extension JSONNode {
    /// A value for people: a text without its quotes, `-` for none, anything else as it is.
    fileprivate var forPeople: String {
        kind == .null ? "-" : string ?? String(decoding: rawBytes, as: UTF8.self)
    }
}
