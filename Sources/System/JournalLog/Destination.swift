import Glibc

extension JournalWriter {
    /// Where entries go.
    public enum Destination: Equatable, Sendable {
        /// The journal, by its native protocol; and where it is gone, standard error as logfmt.
        case journal
        /// A descriptor, as logfmt. It is borrowed.
        case logfmt(descriptor: Int32)

        /// The journal where standard error is the journal's (`JOURNAL_STREAM`, systemd.exec(5)), else standard error:
        /// who runs the daemon in a terminal, or sends its standard error elsewhere, sees the entries there.
        public static func detect() -> Destination {
            isJournal(STDERR_FILENO, stream: getenv("JOURNAL_STREAM").map { String(cString: $0) })
                ? .journal : .logfmt(descriptor: STDERR_FILENO)
        }

        /// - Parameter stream: device and inode of the service manager's stream to the journal, with a colon between them.
        static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
            var facts = stat()
            guard let stream, fstat(descriptor, &facts) == 0 else { return false }
            return stream == "\(facts.st_dev):\(facts.st_ino)"
        }
    }
}
