public import PushModel

/// The single declaration of a member of a JSON document: it gives the JSON, the schema of a report, and the manual.
struct ReportMember<Source>: Sendable {
    let name: String
    /// The type in the notation of ``JSONSchema``.
    let type: String
    /// The description for people; empty: the description of the member before covers both.
    let meaning: String
    /// Whether a source has it.
    private(set) var isPresent: @Sendable (Source) -> Bool = { _ in true }
    let write: @Sendable (Source, inout JSONWriter) -> Void

    init(
        _ name: String, _ type: String, _ meaning: String,
        write: @escaping @Sendable (Source, inout JSONWriter) -> Void
    ) {
        self.name = name
        self.type = type
        self.meaning = meaning
        self.write = write
    }

    /// A member of a document without a schema.
    init(
        _ name: String, _ meaning: String, isPresent: @escaping @Sendable (Source) -> Bool = { _ in true },
        write: @escaping @Sendable (Source, inout JSONWriter) -> Void
    ) {
        self.init(name, "", meaning, write: write)
        self.isPresent = isPresent
    }

    /// A member of a document without a schema, with an integer.
    init(_ name: String, _ meaning: String, value: @escaping @Sendable (Source) -> Int) {
        self.init(name, "", meaning) { $1.int(value($0)) }
    }

    /// A member with an integer or `null`.
    init(_ name: String, _ type: String, _ meaning: String, value: @escaping @Sendable (Source) -> Int?) {
        self.init(name, type, meaning) { source, writer in
            if let number = value(source) { writer.int(number) } else { writer.null() }
        }
    }
}

extension JSONWriter {
    mutating func members<Source>(_ members: [ReportMember<Source>], of source: Source) {
        for member in members where member.isPresent(source) {
            key(member.name)
            member.write(source, &self)
        }
    }

    mutating func text(_ text: String?) { if let text { string(text) } else { null() } }
}

/// The members of `report --json`.
public enum ReportMembers {
    /// Names and descriptions in order; members that share a description are in one row.
    public static var described: [(name: String, meaning: String)] {
        described(all.map { ($0.name, $0.meaning) }) + [CopyMember.described]
    }

    /// Names and meanings in order; a name without a meaning is in the row before.
    public static func described(_ members: [(name: String, meaning: String)]) -> [(name: String, meaning: String)] {
        members.reduce(into: []) { rows, member in
            if member.meaning.isEmpty, !rows.isEmpty {
                rows[rows.count - 1].name += ", \(member.name)"
            } else {
                rows.append(member)
            }
        }
    }

    /// `packaging/report.schema.json`, on one line.
    public static var schema: [UInt8] {
        let copy = (CopyMember.name, CopyMember.type, CopyMember.described.meaning)
        return schema(
            of: "pushctl report --json",
            "The deadline compliance report. pushctl-report(1), REPORT AS JSON, explains each member.", all,
            optional: [copy], definitions: definitions)
    }

    /// Returns the schema of an object: its members with the types in the notation of ``JSONSchema``, and definitions.
    static func schema(
        of title: String, _ description: String, _ members: [(name: String, type: String, meaning: String)],
        optional: [(name: String, type: String, meaning: String)] = [], definitions: [(String, String)] = []
    ) -> [UInt8] {
        var writer = JSONWriter(reserving: 1 << 14)
        writer.object {
            $0.member("$schema", "https://json-schema.org/draft/2020-12/schema")
            $0.member("title", title)
            $0.member("description", description)
            $0.member("type", "object")
            $0.member(
                "properties",
                object: { properties in
                    for (name, type, meaning) in members + optional {
                        properties.member(
                            name,
                            object: {
                                if !meaning.isEmpty { $0.member("description", meaning) }
                                JSONSchema(type).writeMembers(to: &$0)
                            })
                    }
                })
            $0.member("required", array: { list in members.forEach { list.string($0.name) } })
            $0.member("additionalProperties", false)
            guard !definitions.isEmpty else { return }
            $0.member(
                "$defs",
                object: { writer in
                    for (name, type) in definitions {
                        writer.member(name, object: { JSONSchema(type).writeMembers(to: &$0) })
                    }
                })
        }
        return writer.bytes
    }

    private static var all: [(name: String, type: String, meaning: String)] {
        ComplianceReport.members.map { ($0.name, $0.type, $0.meaning) }
            + ReportDocument.members.map { ($0.name, $0.type, $0.meaning) }
    }

    private static let definitions = [
        ("quantiles", "{p50_ms: number?, p90_ms: number?, p99_ms: number?, p999_ms: number?, max_ms: number?}"),
        (
            "figures",
            """
            {count: integer, due: integer, missed: integer, handled: integer, failed: integer, \
            misses_by_reason?: {*: positive}, declined?: positive, retries?: positive, queue: quantiles, exec: quantiles, total: quantiles}
            """
        ),
        ("waited_for", "{seq: integer, n: integer, handler: string?, took_ms: amount?}"),
        (
            "slow",
            """
            {seq: integer, n: integer, callback: string, provider: string?, handler: string?, outcome: string?, \
            exec_ms: number?, total_ms: number?, ahead?: integer?, waited_for?: waited_for}
            """
        ),
        ("histograms", "{queue: [(integer, positive)], exec: [(integer, positive)], total: [(integer, positive)]}"),
        ("outcomes", "{\(Outcome.allCases.map { "\($0.rawValue): integer" }.joined(separator: ", "))}"),
        ("kept", "{due: integer, missed: integer, compliance: share?}"),
    ]
}

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
