import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushViews

/// Waits between two reads of the ledger, and detects what ends the wait: a signal, or a reader that is gone.
///
/// The ledger is read five times a second: one read of its index in memory, none from the disk. An inotify watch on its
/// files would report a commit before it can be read, and nothing after the WAL begins anew, so that it would need the
/// same timer.
struct Follower {
    static let interval = Duration.milliseconds(200)
    private var signals = sigset_t()

    /// Blocks SIGINT and SIGTERM: from now on they end the wait and not the program, so that written output is
    /// accounted for first.
    init() {
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        sigprocmask(SIG_BLOCK, &signals, nil)
    }

    /// Waits for less than a second; returns `false` when it is time to end.
    func wait(_ time: Duration = interval) -> Bool {
        var signals = signals
        var interval = timespec(tv_sec: 0, tv_nsec: Int(time.nanoseconds))
        guard sigtimedwait(&signals, nil, &interval) < 0 else { return false }
        // poll(2) reports a pipe or socket without a reader (POLLERR, POLLHUP) even for no events.
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&output, 1, 0) <= 0 || output.revents & Int16(POLLERR | POLLHUP) == 0
    }
}

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

/// The form of a line of the export. The raw values are those of the command line.
enum ExportFormat: String, CaseIterable {
    /// The event as a flat object, with the names of Braze Currents.
    case currents
    /// The envelope of Braze's custom HTTP export.
    case envelope
    /// A row of CSV, with the names of Braze Currents as columns.
    case csv
    /// An administrative act as a JSON object.
    case json
    /// Administrative acts as columns for people.
    case text

    /// The formats of events, and those of administrative acts; the first one is the default.
    static let ofEvents: [ExportFormat] = [.currents, .envelope, .csv]
    static let ofAudit: [ExportFormat] = [.text, .csv, .json]

    /// The line before all events, with its line end; `nil`: there is none.
    func head(hasCursor: Bool) -> String? {
        self == .csv ? CSVReport.eventHeader(hasCursor: hasCursor) : nil
    }

    /// A line of JSON without its line feed.
    /// - Parameters:
    ///   - name: the name of its campaign.
    ///   - cursor: the cursor of the event, as the last member; `nil`: without it.
    private func line(_ event: AnalyticsEvent, name: String?, cursor: Int64?) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.object { writer in
            switch self {
            case .currents, .csv, .json, .text:
                writer.members(of: event)
                if let name { writer.member(CSVReport.campaignName, name) }
            case .envelope: Self.write(event, name: name, to: &writer)
            }
            if let cursor { writer.member("cursor", cursor) }
        }
        return writer.bytes
    }

    /// Writes the members of the envelope, with the name of the campaign among the properties.
    private static func write(_ event: AnalyticsEvent, name: String?, to writer: inout JSONWriter) {
        guard let name else { return writer.envelopeMembers(of: event) }
        var plain = JSONWriter(reserving: 384)
        plain.object { $0.envelopeMembers(of: event) }
        for (key, value) in (try? JSONDocument(scanning: plain.bytes))?.root.members ?? [] {
            guard key == "properties" else {
                writer.member(key, raw: value.rawBytes)
                continue
            }
            writer.member(
                key,
                object: { properties in
                    for (key, value) in value.members { properties.member(key, raw: value.rawBytes) }
                    properties.member(CSVReport.campaignName, name)
                })
        }
    }

    /// Writes an event.
    /// - Parameters:
    ///   - names: the names of campaigns by their ids.
    ///   - cursor: its cursor, behind the event; `nil`: without it.
    func write(_ event: AnalyticsEvent, names: [String: String], cursor: Int64?, to output: Output) {
        let name = event.push?.campaignID.flatMap { names[$0] }
        switch self {
        case .currents, .envelope, .json, .text: output.write(line: line(event, name: name, cursor: cursor))
        case .csv: output.write(CSVReport.line(of: event, names: names, cursor: cursor).utf8)
        }
    }
}
