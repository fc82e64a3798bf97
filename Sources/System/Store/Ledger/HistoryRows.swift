import PushModel

/// Applies the rows that tell how handlers answered and what became dead letters. For one thread.
final class HistoryRows {
    private static let attemptCount: Int32 = 14

    private var insertAttempt: Statement
    private var updateOutput: Statement
    private var insertDeadLetter: Statement
    private var deleteDeadLetters: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        insertAttempt = try database.prepare(
            "INSERT INTO attempts VALUES (NULL, \(parameters(Self.attemptCount)))")
        updateOutput = try database.prepare(
            """
            UPDATE attempts SET errors = ?3, errors_cut = ?4
            WHERE number = (SELECT max(number) FROM attempts WHERE seq = ?1 AND n = ?2)
            """)
        insertDeadLetter = try database.prepare("INSERT OR REPLACE INTO dead_letters VALUES (\(parameters(4)))")
        deleteDeadLetters = try database.prepare("DELETE FROM dead_letters WHERE seq = ?1")
    }

    func apply(_ kind: RowKind, _ values: RowValues) throws(StoreError) {
        switch kind {
        case .attempt: try insertAttempt.run(values, count: Self.attemptCount)
        case .output: try updateOutput.run(values, count: 4)
        case .deadLetter: try insertDeadLetter.run(values, count: 4)
        case .noDeadLetters: try deleteDeadLetters.run(values, count: 1)
        default: preconditionFailure("a row of the kind \(kind) is no row of attempts or dead letters")
        }
    }
}
