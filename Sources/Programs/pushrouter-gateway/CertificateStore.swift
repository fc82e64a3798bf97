import Glibc
import PushGateway
import PushHosts
import SettingsFiles
import TLS

/// The authority in the state directory, and the server's certificate that it signed.
final class CertificateStore {
    private let directory: String
    private let names: [String]
    private let log: (String) -> Void
    private var leafEnds: Int64 = 0

    /// - Parameters:
    ///   - directory: the state directory, which is made where it is missing.
    ///   - names: the names of `Names=`.
    ///   - log: takes what an operator must know.
    init(directory: String, names: [String], log: @escaping (String) -> Void) throws(StartFailure) {
        self.directory = directory
        self.names = names
        self.log = log
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
            throw .system("make the state directory \(directory)")
        }
    }

    private var present: String { "\(directory)/ca" }
    private var next: String { "\(directory)/ca-next" }
    /// The names that the authority was made for.
    private var namesPath: String { "\(directory)/ca.names" }

    /// A context with a new certificate; `nil`: the present one is good for longer.
    ///
    /// - Parameter now: seconds since 1970.
    func renew(at now: Int64) throws -> TLSContext? {
        guard leafEnds == 0 || AuthorityPlan.needsLeaf(ends: leafEnds, now: now) else { return nil }
        var authority = try self.authority(at: now)
        if AuthorityPlan.needsNext(ends: authority.ends, now: now) {
            let successor = try read(next) ?? make(next, at: now)
            if AuthorityPlan.isTimeToChange(ends: authority.ends, now: now) {
                for suffix in [".key", ".pem"] {
                    guard rename(next + suffix, present + suffix) == 0 else {
                        throw StartFailure.system("rename \(next)\(suffix)")
                    }
                }
                log("the next authority signs from now on: \(present).pem")
                authority = successor
            } else {
                log(
                    "the authority ends soon: give clients the next one too, \(next).pem; \"pushctl gateway ca\" prints both"
                )
            }
        }
        let leaf = try authority.leaf(
            names: AuthorityPlan.leafNames(names), now: now, days: AuthorityPlan.leafDays)
        leafEnds = leaf.ends
        return try TLSContext(chain: leaf.chain, key: leaf.key)
    }

    private func authority(at now: Int64) throws -> CertificateAuthority {
        let wanted = Array(names.sorted().joined(separator: "\n").utf8)
        if let known = try read(present) {
            if known.ends > now, try SmallFile.read(namesPath) ?? [] == wanted { return known }
            log("the names of Names= changed, or the authority ended: clients must take the new \(present).pem")
        }
        let made = try make(present, at: now)
        try SmallFile.replace(namesPath, with: wanted, mode: 0o644)
        return made
    }

    private func read(_ path: String) throws -> CertificateAuthority? {
        guard let pem = try SmallFile.read("\(path).pem"), let key = try SmallFile.read("\(path).key") else {
            return nil
        }
        return try CertificateAuthority(certificate: pem, key: key)
    }

    private func make(_ path: String, at now: Int64) throws -> CertificateAuthority {
        let made = try CertificateAuthority.make(
            name: "pushrouter-gateway", domains: AuthorityPlan.domains(names), now: now,
            days: AuthorityPlan.authorityDays)
        // The key first: a certificate without its key would be taken by clients in vain.
        try SmallFile.replace("\(path).key", with: try made.keyPEM(), mode: 0o600)
        try SmallFile.replace("\(path).pem", with: made.pem, mode: 0o644)
        return made
    }
}
