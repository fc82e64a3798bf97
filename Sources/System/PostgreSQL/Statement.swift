import PushModel

/// A statement, declared once: its name as a prepared statement, its text, and the types of its parameters.
struct Statement: Sendable {
    let name: String
    let text: String
    let parameters: [ValueType]

    init(_ name: String, _ parameters: [ValueType], _ text: String) {
        (self.name, self.parameters, self.text) = (name, parameters, text)
    }

    init(_ name: String, _ text: String) { self.init(name, [], text) }

    /// Binds values to the parameters.
    func callAsFunction(_ values: Value...) -> Call {
        precondition(values.count == parameters.count, "\(name) has \(parameters.count) parameters")
        return Call(statement: self, values: values)
    }
}

/// The parameter types of these statements, by their object ids, which PostgreSQL never changes (pg_type.dat).
enum ValueType: UInt32 {
    case bytes = 17
    case int8 = 20
    case int4 = 23
    case text = 25
    case uuid = 2950
}

/// The value of a parameter.
enum Value {
    case integer(Int64)
    case uuid(UUID128)
    case text(String)
    case bytes([UInt8])
    case null

    static func number(_ value: some BinaryInteger) -> Value { .integer(Int64(value)) }
    static func optional(_ value: Int64?) -> Value { value.map(Value.integer) ?? .null }
    static func optional(_ value: String?) -> Value { value.map(Value.text) ?? .null }
    static func optional(_ value: UUID128?) -> Value { value.map(Value.uuid) ?? .null }

    /// Appends its binary form to a buffer.
    ///
    /// - Returns: whether there is one; NULL has none.
    func write(as type: ValueType, to buffer: inout [UInt8]) -> Bool {
        switch (self, type) {
        case (.integer(let value), .int8): Self.add(UInt64(bitPattern: value), to: &buffer)
        case (.integer(let value), .int4): Self.add(UInt32(bitPattern: Int32(value)), to: &buffer)
        case (.uuid(let value), .uuid):
            Self.add(value.high, to: &buffer)
            Self.add(value.low, to: &buffer)
        case (.text(let value), .text): buffer += value.utf8
        case (.bytes(let value), .bytes): buffer += value
        case (.null, _): return false
        default: preconditionFailure("the value is not of the parameter's type, \(type)")
        }
        return true
    }

    private static func add<Number: FixedWidthInteger>(_ number: Number, to buffer: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { buffer += $0 }
    }
}

/// A statement to run, with the values of its parameters.
struct Call {
    let statement: Statement
    let values: [Value]
}

/// A row of an answer, in binary form.
struct Row: Sendable {
    /// The columns; `nil` for NULL.
    let columns: [[UInt8]?]

    /// Returns a column that must exist and have a value; otherwise the database has other tables than this program's.
    func bytes(_ index: Int) throws(EngineProblem) -> [UInt8] {
        guard index < columns.count, let column = columns[index] else { throw Self.foreign }
        return column
    }

    func integer(_ index: Int) throws(EngineProblem) -> Int64 {
        let bytes = try bytes(index)
        switch bytes.count {
        case 8: return Int64(truncatingIfNeeded: Self.number(bytes[...]))
        case 4: return Int64(Int32(truncatingIfNeeded: Self.number(bytes[...])))
        default: throw Self.foreign
        }
    }

    func uuid(_ index: Int) throws(EngineProblem) -> UUID128 {
        let bytes = try bytes(index)
        guard bytes.count == 16 else { throw Self.foreign }
        return UUID128(high: Self.number(bytes[..<8]), low: Self.number(bytes[8...]))
    }

    func text(_ index: Int) throws(EngineProblem) -> String { String(decoding: try bytes(index), as: UTF8.self) }

    func bool(_ index: Int) throws(EngineProblem) -> Bool { try bytes(index) == [1] }

    func optionalText(_ index: Int) throws(EngineProblem) -> String? { isNull(index) ? nil : try text(index) }

    func optionalInteger(_ index: Int) throws(EngineProblem) -> Int64? { isNull(index) ? nil : try integer(index) }

    func isNull(_ index: Int) -> Bool { index >= columns.count || columns[index] == nil }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static let foreign = EngineProblem(
        .lacking, message: "the tables in the database have other columns than this program's")
}

/// The meaning of PostgreSQL's errors, by their SQLSTATE (Appendix A of its manual). No code means "not written".
enum StateCodes {
    /// Returns the kind of a code: that of the code itself, or of its class.
    static func kind(of code: String) -> EngineProblem.Kind {
        // No code: libpq lost the connection, or never had one.
        guard !code.isEmpty else { return .unreachable }
        return table[code] ?? table[String(code.prefix(2))] ?? .failing
    }

    /// Returns the remedy, or a cause that PostgreSQL's message does not name; `nil` for most codes.
    static func hint(of code: String) -> String? {
        switch code {
        case "3D000", "57P04": "make or restore the database, or correct Log="
        case "42501":
            "give the role of Log= its rights back: GRANT ALL ON ALL TABLES IN SCHEMA public TO the role, with the schema "
                + "of the tables"
        case "42P01":
            "the role of Log= finds no tables of a pair: end the work on the database, or correct Log= or the role's "
                + "search_path; in a new database run \"pushctl store init\" once"
        case "42703", "42704", "42883":
            "the tables are not those of this program: end the work on the database, or undo the change"
        default: nil
        }
    }

    /// Codes, and classes of codes by their first two characters.
    static let table: [String: EngineProblem.Kind] = [
        "00": .failing, "01": .failing, "02": .failing, "03": .failing,
        "08": .unreachable,
        "09": .failing,
        // 0A000: the tables of a prepared statement have changed. A new connection prepares the statement again.
        "0A": .unreachable,
        "0B": .failing, "0F": .failing, "0L": .failing, "0P": .failing, "0Z": .failing,
        "20": .failing, "21": .failing, "22": .failing, "23": .failing, "24": .failing,
        "25": .failing,
        // read_only_sql_transaction: a former primary.
        "25006": .unreachable,
        // idle_in_transaction_session_timeout
        "25P03": .unreachable,
        // A pooler has moved the session to another server.
        "26": .unreachable,
        "27": .failing,
        // The password is wrong, or is being changed.
        "28": .unreachable,
        "2B": .failing, "2D": .failing, "2F": .failing, "34": .failing, "38": .failing, "39": .failing, "3B": .failing,
        // The database or the schema does not exist.
        "3D": .lacking, "3F": .lacking,
        "40": .unreachable,
        "42": .failing,
        // insufficient_privilege, undefined_table, undefined_column, undefined_object, undefined_function
        "42501": .lacking, "42P01": .lacking, "42703": .lacking, "42704": .lacking, "42883": .lacking,
        "44": .failing,
        "53": .failing,
        // too_many_connections
        "53300": .unreachable,
        "54": .failing,
        "55": .unreachable,
        "57": .unreachable,
        // database_dropped
        "57P04": .lacking,
        "58": .failing, "72": .unreachable, "F0": .failing, "HV": .failing, "P0": .failing, "XX": .failing,
    ]
}
