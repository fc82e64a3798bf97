import PushModel

/// The last sign of a node's process. A process that runs gives one each second, with a connection to the database.
struct NodeSign {
    var shard: Int64
    var process: NodeIncarnation
    /// The number of its signs.
    var count: Int64
    var age: Duration

    /// Reads the last sign of each node; none in a database of an older program.
    static func all(_ session: inout Session, until deadline: Deadline) throws(EngineProblem) -> [NodeSign] {
        guard try rows(Statements.hasNodes(), &session, deadline).first?.bool(0) == true else { return [] }
        var signs: [NodeSign] = []
        for row in try rows(FleetStatements.signs(), &session, deadline) {
            signs.append(
                NodeSign(
                    shard: try row.integer(0), process: NodeIncarnation(node: try row.text(1), id: try row.uuid(2)),
                    count: try row.integer(3), age: .microseconds(try row.integer(4))))
        }
        return signs
    }

    private static func rows(
        _ call: Call, _ session: inout Session, _ deadline: Deadline
    ) throws(EngineProblem) -> [Row] {
        let (answers, problem) = session.run([[call]], until: deadline)
        if let problem { throw problem }
        return answers[0].rows[0]
    }
}
