/// The first bytes of a program file, by which `execve(2)` chooses how to start it.
public enum ProgramStart: Hashable, Sendable {
    /// An ELF binary.
    case binary
    /// A script, with the interpreter in its first line and the argument of the interpreter.
    case script(interpreter: String, argument: String?)
    /// Neither: `execve(2)` fails.
    case unknown

    /// The number of bytes that the kernel reads.
    public static let length = 256

    /// - Parameter bytes: the first ``length`` bytes of the file, or all of a shorter file.
    public init(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x7F] + "ELF".utf8) {
            self = .binary
            return
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        let line = bytes[..<(end ?? bytes.count)]
        guard line.starts(with: "#!".utf8) else {
            self = .unknown
            return
        }
        // The kernel does not use an interpreter whose name is cut off by the limit.
        let isCut = end == nil && bytes.count >= Self.length
        let words = line.dropFirst(2).split(maxSplits: 1) { " \t\0".utf8.contains($0) }
        guard let interpreter = words.first, !(isCut && words.count == 1) else {
            self = .unknown
            return
        }
        let argument = words.dropFirst().first.map { rest in
            String(decoding: rest.drop { " \t".utf8.contains($0) }, as: UTF8.self)
        }
        self = .script(
            interpreter: String(decoding: interpreter, as: UTF8.self),
            argument: isCut || argument?.isEmpty == true ? nil : argument)
    }

    /// Whether the first line ends with a carriage return, which the kernel takes as part of the last word.
    var hasCarriageReturn: Bool {
        guard case .script(let interpreter, let argument) = self else { return false }
        return (argument ?? interpreter).utf8.last == UInt8(ascii: "\r")
    }

    /// The program that `env` searches in PATH; `nil`: the script does not use `env` that way.
    public var searchedProgram: String? {
        guard case .script(let interpreter, let argument?) = self, interpreter.hasSuffix("/env") else { return nil }
        let isName = !argument.contains { $0 == " " || $0 == "\t" || $0 == "=" || $0 == "/" }
        return isName && !argument.hasPrefix("-") ? argument : nil
    }
}

extension HealthFacts {
    /// Returns the finding about the start of a handler's program.
    func startFinding(_ handler: Handler) -> HealthFinding? {
        guard let program = handler.program?.path, let start = handler.start else { return nil }
        let place = "handler \(handler.name): \(program)"
        guard case .script(let interpreter, _) = start else {
            return start == .binary
                ? nil
                : .error(
                    .handlers, "\(place) is neither a binary nor a script that begins with #!",
                    do: "write the interpreter into its first line, such as #!/bin/sh")
        }
        if start.hasCarriageReturn {
            return .error(
                .handlers,
                "\(place): a carriage return ends its first line, so the kernel looks for an interpreter whose name ends in it",
                do: "take the carriage returns out: sed -i 's/\\r$//' \(program)")
        }
        let remedy = "install the interpreter, or change the first line of \(program)"
        if let file = handler.interpreter, let finding = interpreterFinding(file, place, remedy) { return finding }
        guard let name = start.searchedProgram, handler.isSearchedProgramFound == false else { return nil }
        return .error(.handlers, "\(place): \(interpreter) finds no \(name), its interpreter, in PATH", do: remedy)
    }

    private func interpreterFinding(_ file: FileFacts, _ place: String, _ remedy: String) -> HealthFinding? {
        guard let attributes = file.attributes else {
            return absence(
                .handlers, FileFacts("\(place): its interpreter \(file.path)", file.condition), remedy)
        }
        guard attributes.kind != .file || attributes.mode & 0o111 == 0 else { return nil }
        return .error(.handlers, "\(place): its interpreter \(file.path) is not an executable file", do: remedy)
    }
}
