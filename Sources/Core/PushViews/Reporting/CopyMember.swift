public import PushModel

/// The member `copy` of a JSON document that was read from the copy of a machine that follows another one: the one
/// declaration of it. A document that was read elsewhere has no such member.
public enum CopyMember {
    static let name = "copy"
    /// In the notation of ``JSONSchema``.
    static let type = "{node: string, leader: string?, batches_behind: integer, behind_ms: integer}"

    /// The name of the member `copy` and the description of its members, as the manual page and the schema have them.
    public static let described = (
        name: name,
        meaning: """
        only where the machine follows another one: node, its name; leader, the machine that leads, null where none \
        does; batches_behind, the number of batches that its copy lacked; behind_ms, the time since the copy had every \
        batch
        """
    )

    /// The document with the member, as its last one.
    ///
    /// - Parameters:
    ///   - document: an object, on one line without its line feed; anything else stays as it is.
    ///   - synced: how far the copy was; one of no follower's adds nothing.
    public static func add(_ synced: Synced, to document: [UInt8]) -> [UInt8] {
        guard let follower = synced.follower, document.first == UInt8(ascii: "{"),
            document.last == UInt8(ascii: "}")
        else { return document }
        var writer = JSONWriter()
        writer.object {
            $0.member(
                name,
                object: {
                    $0.member("node", follower.node)
                    $0.member("leader", follower.leader)
                    $0.member("batches_behind", synced.batchesBehind)
                    $0.member("behind_ms", follower.behind.milliseconds)
                })
        }
        let separator = document.count > 2 ? [UInt8(ascii: ",")] : []
        return Array(document.dropLast()) + separator + writer.bytes.dropFirst()
    }
}
