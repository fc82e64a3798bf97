import Glibc
import LinuxSystem
import PushGateway
import PushModel
import PushSettings
import TLS

/// The authority in the state directory, and the server's certificate that the authority signed.
///
/// `ca.key` has the authority's key and certificates in one file, so that one rename(2) changes both; `ca-next.key` has
/// those of the next one. `ca.pem` has the certificates of both, which clients must trust. `bundle.pem` is the same
/// behind the system's certificates.
final class CertificateStore {
    /// A reference type for an authority, which cannot be an optional itself.
    private final class AuthorityBox {
        let authority: CertificateAuthority
        init(_ authority: consuming CertificateAuthority) { self.authority = authority }
        var ends: Int64 { authority.ends }
        var pem: [UInt8] { authority.pem }
    }

    private let directory: String
    private let names: [String]
    private let log: (String) -> Void
    /// The end of the server's certificate, in seconds since 1970; `nil` before the first.
    private(set) var leafEnds: Int64?
    /// The end of the present authority, in seconds since 1970: by its certificate, or earlier by an order.
    private(set) var ends: Int64 = 0
    /// The end by its certificate.
    private var ownEnds: Int64 = 0
    /// The end of the next authority; `nil`: there is none.
    private(set) var nextEnds: Int64?
    /// The certificates that clients must trust, in PEM.
    private(set) var trusted: [UInt8] = []

    /// - Parameters:
    ///   - directory: the state directory, which is created if it is missing.
    ///   - names: the names in `Names=`.
    ///   - log: logs the events that an operator must know.
    init(directory: String, names: [String], log: @escaping (String) -> Void) throws(StartFailure) {
        self.directory = directory
        self.names = names
        self.log = log
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
            throw .system("make the state directory \(directory)")
        }
    }

    private var present: String { "\(directory)/ca.key" }
    private var next: String { "\(directory)/ca-next.key" }
    private var trustedPath: String { "\(directory)/ca.pem" }
    /// The order of a person to end the authority.
    private var order: String { "\(directory)/\(AuthorityRotation.file)" }
    /// The names that the authority was made for.
    private var namesPath: String { "\(directory)/ca.names" }
    /// The system's authorities on Debian.
    private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// Makes a context with a new certificate; `nil`: the present one is still good.
    ///
    /// - Parameter now: seconds since 1970.
    func renew(at now: Int64) throws -> TLSContext? {
        if leafEnds != nil { ends = try end(of: ownEnds) }
        if let leafEnds, !AuthorityPlan.needsLeaf(ends: leafEnds, now: now),
            AuthorityPlan.step(present: ends, next: nextEnds, now: now) == .keep
        {
            return nil
        }
        let kept = try renewAuthority(at: now)
        let leaf = try kept.authority.leaf(
            names: AuthorityPlan.leafNames(names), now: now, days: AuthorityPlan.leafDays)
        leafEnds = leaf.ends
        return try TLSContext(chain: leaf.chain, key: leaf.key)
    }

    /// Does the steps that are due, and writes the certificates that clients must trust after them.
    private func renewAuthority(at now: Int64) throws -> AuthorityBox {
        try forgetOtherNames()
        var present = try read(self.present)
        var next = try read(self.next)
        while true {
            var presentEnds: Int64?
            if let present { presentEnds = try end(of: present.ends) }
            switch AuthorityPlan.step(present: presentEnds, next: next?.ends, now: now) {
            case .start:
                if present != nil { log("the authority ended: clients must take the new \(trustedPath)") }
                present = try make(self.present, at: now)
                unlink(order)
            case .announce: next = try make(self.next, at: now)
            case .change:
                guard rename(self.next, self.present) == 0 else { throw StartFailure.system("rename \(self.next)") }
                // It was for the authority that is gone, which may have ended in the same second as this one.
                unlink(order)
                log("the next authority signs from now on; clients that did not take it refuse the gateway")
                (present, next) = (next, nil)
            case .keep:
                guard let present else { preconditionFailure("nothing is kept without an authority") }
                try handOut(present, next)
                return present
            }
        }
    }

    /// Returns when an authority ends: by its certificate, or earlier by an order of `pushctl gateway rotate`, which
    /// counts for the authority that the gateway had when it saw the order.
    private func end(of authority: Int64) throws(StartFailure) -> Int64 {
        let path = order
        guard let bytes = try SmallFile.read(path) else { return authority }
        guard var rotation = AuthorityRotation(bytes) else {
            log("\(path) is no order of \"pushctl gateway rotate\", and is removed")
            unlink(path)
            return authority
        }
        if rotation.authority == nil {
            rotation.authority = authority
            try SmallFile.replace(path, with: rotation.bytes, mode: 0o644)
            log("the authority ends on \(WallTime(milliseconds: rotation.ends * 1000).rfc3339), as was ordered")
        }
        guard rotation.authority == authority else {
            // Its authority is gone.
            unlink(path)
            return authority
        }
        return min(authority, rotation.ends)
    }

    private func handOut(_ present: AuthorityBox, _ next: AuthorityBox?) throws {
        (ends, ownEnds, nextEnds) = (try end(of: present.ends), present.ends, next?.ends)
        trusted = present.pem + (next?.pem ?? [])
        // The bundle first: it is there when ca.pem is.
        if let system = try SmallFile.read(Self.systemAuthorities) {
            try replace("\(directory)/bundle.pem", with: system + trusted)
        }
        try replace(trustedPath, with: trusted)
        if next != nil {
            log(
                "the authority ends soon: clients must take \(trustedPath) again, which has the next one too "
                    + "(pushctl gateway ca)")
        }
    }

    /// Writes a file, unless its contents are right already.
    private func replace(_ path: String, with bytes: [UInt8]) throws(StartFailure) {
        guard try SmallFile.read(path) != bytes else { return }
        try SmallFile.replace(path, with: bytes, mode: 0o644)
    }

    /// Removes authorities that were made for other names: these must not sign for the present names.
    private func forgetOtherNames() throws {
        let wanted = Array(names.sorted().joined(separator: "\n").utf8)
        guard try SmallFile.read(namesPath) ?? [] != wanted else { return }
        if access(present, F_OK) == 0 {
            log("the names of Names= changed: clients must take the new \(trustedPath)")
        }
        // The file of names comes last: after a crash before it, the next start repeats the steps.
        for path in [next, present] where unlink(path) != 0 && errno != ENOENT {
            throw StartFailure.system("remove \(path)")
        }
        try SmallFile.replace(namesPath, with: wanted, mode: 0o644)
    }

    private func read(_ path: String) throws -> AuthorityBox? {
        guard let bytes = try SmallFile.read(path) else { return nil }
        do throws(TLSError) {
            let authority = try CertificateAuthority(stored: bytes)
            return AuthorityBox(authority)
        } catch {
            // It may be a wrong copy, and a person may have the right one.
            guard rename(path, "\(path).unreadable") == 0 else { throw StartFailure.system("rename \(path)") }
            log(
                "\(path) is no authority, and is \(path).unreadable now; a new one takes its place, and clients must take "
                    + "\(trustedPath): \(error)")
            return nil
        }
    }

    private func make(_ path: String, at now: Int64) throws -> AuthorityBox {
        let made = try CertificateAuthority.make(
            name: "pushrouter-gateway", domains: AuthorityPlan.domains(names), now: now,
            days: AuthorityPlan.authorityDays)
        try SmallFile.replace(path, with: try made.stored(), mode: 0o600)
        return AuthorityBox(made)
    }
}
