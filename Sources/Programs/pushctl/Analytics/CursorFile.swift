import Glibc
import LinuxSystem
import PushModel

/// A file with the cursor of an export and the id of its ledger. It is replaced by rename(2), so that it is always
/// complete.
struct CursorFile {
    let path: String

    /// The cursor; `nil` when there is no such file yet.
    /// - Parameter state: the id of the state directory that the cursor must belong to: cursors are valid in one ledger
    ///   only.
    func read(of state: UUID128) throws(Failure) -> Int64? {
        guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        let bytes = try InputFile(path).rest()
        guard let root = (try? JSONDocument(scanning: bytes))?.root, let cursor = root["cursor"]?.int64, cursor >= 0,
            let name = root["state"]?.string
        else {
            throw Failure(
                .badData,
                "\(path): the file has no cursor of \"pushctl export\"; remove the file to export from the first event")
        }
        guard name == state.description else {
            throw Failure(
                .badData,
                "\(path): the cursor belongs to the ledger of another state directory; remove the file to export "
                    + "from the first event"
            )
        }
        return cursor
    }

    /// Writes a cursor. It is on disk when this returns.
    func write(_ cursor: Int64, of state: UUID128) throws(Failure) {
        var writer = JSONWriter()
        writer.object {
            $0.member("state", state.description)
            $0.member("cursor", cursor)
        }
        let new = path + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw failure(new) }
        defer { close(file) }
        let line = writer.line()
        let count = line.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard count == line.count, fsync(file) == 0, rename(new, path) == 0 else { throw failure(new) }
    }

    private func failure(_ path: String) -> Failure {
        Failure(.inputOutput, "\(path): cannot write the cursor: \(errorText(errno))")
    }
}
