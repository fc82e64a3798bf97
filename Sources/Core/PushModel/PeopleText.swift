/// A signal of Linux for people: its number, its name, and what it often means for a program in a service.
///
/// - Parameter number: as `wait` and `kill` have it.
public func signalText(_ number: Int) -> String {
    let names = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
        9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
        24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
    ]
    let hints = [
        5: "often MemoryDenyWriteExecute=", 9: "often the end of the memory: MemoryMax=",
        31: "often SystemCallFilter=",
    ]
    guard let name = names[number] else { return "signal \(number)" }
    return "signal \(number) (\(name)" + (hints[number].map { ": \($0)" } ?? "") + ")"
}

/// The text of a program or a server as one line of bounded length, for a sentence: white space and control characters
/// are one space each, marks that turn or hide text are a replacement character, and of a long text the beginning and the
/// end are kept.
///
/// - Parameters:
///   - bytes: what was written; UTF-8, or what is not shown.
///   - isCut: whether more was written after them.
/// - Returns: `nil` where nothing is left.
public func excerpt(of bytes: [UInt8], isCut: Bool = false) -> String? {
    let (head, tail) = (100, 200)
    // A character has a few bytes; no more of a long text is looked at.
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
