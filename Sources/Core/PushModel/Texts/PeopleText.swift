/// A Linux signal for people: its number, its name, and its usual cause for a program in a service.
///
/// - Parameter number: the signal number of `wait` and `kill`.
public func signalText(_ number: Int) -> String {
    let names = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
        9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
        24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
    ]
    let hints = [
        5: "often MemoryDenyWriteExecute=", 9: "often out of memory: MemoryMax=",
        31: "often SystemCallFilter=",
    ]
    guard let name = names[number] else { return "signal \(number)" }
    return "signal \(number) (\(name)" + (hints[number].map { ": \($0)" } ?? "") + ")"
}

/// Returns the text of a program or a server as one line of bounded length, for a sentence. A run of white space and
/// control characters becomes one space; a format character, which can turn or hide text, becomes U+FFFD; a long text
/// keeps its beginning and its end.
///
/// - Parameters:
///   - bytes: the text, in UTF-8; U+FFFD replaces anything else.
///   - isCut: whether more text followed these bytes.
/// - Returns: `nil` if nothing is left.
public func excerpt(of bytes: [UInt8], isCut: Bool = false) -> String? {
    let (head, tail) = (100, 200)
    // A character has at most 4 bytes: reads no more of a long text than these.
    let isLong = bytes.count > 4 * (head + tail)
    let first = plainLine(isLong ? bytes.prefix(4 * head) : bytes[...])
    guard isLong || isCut || first.count > head + tail else { return first.isEmpty ? nil : first }
    let last = isLong ? plainLine(bytes.suffix(4 * tail)) : first
    guard isLong || first.count > head + tail else { return first + " ..." }
    return "\(first.prefix(head)) ... \(last.suffix(tail))" + (isCut ? " ..." : "")
}

private func plainLine(_ bytes: ArraySlice<UInt8>) -> String {
    var line = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            if let last = line.last, last != " " { line.append(" ") }
        case .format: line.append("\u{FFFD}")
        default: line.append(scalar)
        }
    }
    if line.last == " " { line.removeLast() }
    return String(line)
}
