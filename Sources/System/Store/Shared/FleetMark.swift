import Glibc
import LinuxSystem
public import PushModel

/// The fleet that the ledger of a state directory is a copy of: the file `fleet`.
///
/// A copy that led alone keeps the mark as `fleet.left`: no chain has the requests that it accepted since.
public struct FleetMark: Hashable, Sendable {
    /// The fleet.
    public var fleet: UUID128
    /// The database with the fleet, as far as it is known.
    public var place: DatabasePlace

    init(fleet: UUID128, place: DatabasePlace = DatabasePlace()) { (self.fleet, self.place) = (fleet, place) }

    private static let name = "fleet"
    private static let leftName = "fleet.left"

    /// Returns the mark of a directory; `nil` if its ledger is no copy of a fleet's.
    public static func read(in directory: String) throws(StoreError) -> FleetMark? {
        try read("\(directory)/\(name)")
    }

    private static func read(_ path: String) throws(StoreError) -> FleetMark? {
        guard access(path, F_OK) == 0 else {
            if errno == ENOENT { return nil }
            throw StoreError.system("open", path, errno: errno)
        }
        let text = String(decoding: SetAside.start(of: path, count: 200) ?? [], as: UTF8.self)
        var values: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        guard let fleet = values["fleet"].flatMap({ UUID128(String($0)) }) else {
            throw StoreError(.corrupt, message: "the file names no fleet", context: path)
        }
        func number(_ name: Substring) -> Int64? { values[name].flatMap { Int64($0) } }
        return FleetMark(
            fleet: fleet, place: DatabasePlace(cluster: number("cluster"), database: number("database")))
    }

    /// Writes the mark; it is on the disk when this returns.
    func write(in directory: String) throws(StoreError) {
        let path = "\(directory)/\(Self.name)"
        let draft = path + ".new"
        unlink(draft)
        guard let file = FileDescriptor(open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        var text = "fleet=\(fleet)\n"
        if let cluster = place.cluster { text += "cluster=\(cluster)\n" }
        if let database = place.database { text += "database=\(database)\n" }
        let problem = Array(text.utf8).withUnsafeBytes { file.writeAll($0, at: 0) }
        guard problem == 0 else { throw StoreError.system("write", draft, errno: problem) }
        guard fsync(file.rawValue) == 0 else { throw StoreError.sync(draft, errno: errno) }
        guard rename(draft, path) == 0 else { throw StoreError.system("rename", draft, errno: errno) }
        unlink("\(directory)/\(Self.leftName)")
        try LogDirectory.sync(directory)
    }

    /// Turns the ledger of a directory into that of one machine.
    ///
    /// - Returns: the fleet that it was a copy of; `nil` if there was none.
    public static func leave(_ directory: String) throws(StoreError) -> FleetMark? {
        guard let mark = try read(in: directory) else { return nil }
        let path = "\(directory)/\(name)"
        guard rename(path, "\(directory)/\(leftName)") == 0 else {
            throw StoreError.system("rename", path, errno: errno)
        }
        try LogDirectory.sync(directory)
        return mark
    }

    /// Compares the mark of a directory with the chain in a database, and makes the mark if it is missing.
    ///
    /// - Throws: `otherFleet` if the directory's ledger is no copy of the chain, or led alone since.
    public static func join(_ identity: ShardIdentity, in directory: String) throws(StoreError) {
        if let left = try read("\(directory)/\(leftName)") {
            throw StoreError(
                .otherFleet(led: true),
                message:
                    "the ledger was a copy of fleet \(left.fleet), and led alone since: the database lacks the "
                    + "requests that it accepted", context: directory)
        }
        guard var mark = try read(in: directory) else {
            return try FleetMark(fleet: identity.fleet, place: identity.place).write(in: directory)
        }
        guard mark.fleet == identity.fleet else {
            throw StoreError(
                .otherFleet(led: false),
                message: "the ledger is a copy of fleet \(mark.fleet), and the database has fleet \(identity.fleet)",
                context: directory)
        }
        guard mark.place.admits(identity.place) else {
            throw StoreError(
                .otherFleet(led: false),
                message:
                    "the database has fleet \(identity.fleet), but is a clone or a restored copy of the former one",
                context: directory)
        }
        let known = DatabasePlace(
            cluster: mark.place.cluster ?? identity.place.cluster,
            database: mark.place.database ?? identity.place.database)
        guard known != mark.place else { return }
        mark.place = known
        try mark.write(in: directory)
    }
}
