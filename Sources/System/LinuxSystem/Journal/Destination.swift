import Glibc

extension JournalWriter {
    /// The destination of entries.
    public enum Destination: Equatable, Sendable {
        /// The journal, by its native protocol; if it is away, standard error as logfmt.
        case journal
        /// A borrowed descriptor, as logfmt.
        case logfmt(descriptor: Int32)

        /// Returns the journal if standard error is connected to it (`JOURNAL_STREAM`, systemd.exec(5)), otherwise
        /// standard error: a user who runs the daemon in a terminal, or redirects its standard error, sees the entries
        /// there.
        public static func detect() -> Destination {
            isJournal(STDERR_FILENO, stream: getenv("JOURNAL_STREAM").map { String(cString: $0) })
                ? .journal : .logfmt(descriptor: STDERR_FILENO)
        }

        /// - Parameter stream: `JOURNAL_STREAM`: device and inode of the stream to the journal, separated by a colon.
        static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
            var facts = stat()
            guard let stream, fstat(descriptor, &facts) == 0 else { return false }
            return stream == "\(facts.st_dev):\(facts.st_ino)"
        }
    }
}
