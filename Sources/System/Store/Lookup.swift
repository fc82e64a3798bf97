import Glibc
import LinuxSystem
public import PushModel

/// A thread that reads requests from the ledger, by the producers' ids and by the references of interactions, so that
/// the loop never waits for the disk.
///
/// The thread and its SQLite connection start with the first question, so an idle daemon pays for neither. The thread
/// sees only what is in the ledger; requests that are accepted and not yet applied are known to the loop alone.
public final class Lookup: Sendable {
    /// The identity of a request: its producer's account and the producer's id for it.
    public struct Key: Hashable, Sendable {
        /// The account of the producer.
        public var account: Account
        /// The producer's own id.
        public var id: String

        public init(account: Account, id: String) {
            (self.account, self.id) = (account, id)
        }

        /// Compares bytes, as the ledger does: `String` treats two encodings of one letter as equal.
        public static func == (left: Key, right: Key) -> Bool {
            left.account == right.account && left.id.utf8.elementsEqual(right.id.utf8)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(account)
            var id = id
            id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }

        /// A hash of account and id, the same on every thread; the value differs between processes.
        public var hash: UInt64 {
            var hasher = Hasher()
            hash(into: &hasher)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    /// A question to the ledger; each kind has one type of answer.
    public struct Question<Answer: Sendable>: Sendable {
        fileprivate let byteCount: @Sendable (Answer) -> Int
        fileprivate let read: @Sendable (LedgerReader) throws(StoreError) -> Answer

        fileprivate init(
            byteCount: @escaping @Sendable (Answer) -> Int = { _ in 0 },
            _ read: @escaping @Sendable (LedgerReader) throws(StoreError) -> Answer
        ) {
            (self.byteCount, self.read) = (byteCount, read)
        }
    }

    /// The pauses before another try after a failed read of the ledger, in microseconds: a passing failure must not end
    /// a run, and the caller must not wait long for its answer.
    private static let pauses: [UInt32] = [10_000, 50_000, 250_000]

    private let thread: JobThread<@Sendable (inout LedgerReader?) -> Void>
    private let directory: String

    /// - Parameter directory: the state directory; its ledger must exist when the first question comes.
    public init(directory: String) {
        self.directory = directory
        thread = JobThread("lookup") {
            var reader: LedgerReader?
            return { job in job(&reader) }
        }
    }

    /// Puts a question into the thread's queue.
    ///
    /// - Parameter onAnswer: gets the answer, and how many bytes of requests it holds, in the order of the questions,
    ///   on the lookup's thread. An error is passed on only after several tries within a third of a second. A failure
    ///   to start the thread is passed on as an error, too.
    public func ask<Answer>(
        _ question: Question<Answer>, onAnswer: @escaping @Sendable (Result<Answer, StoreError>, _ bytes: Int) -> Void
    ) {
        let directory = directory
        do throws(SystemError) {
            try thread.submit { reader in
                var answer = Self.answer(question, &reader, directory)
                for pause in Self.pauses {
                    guard case .failure(let error) = answer, error.kind == .failed || error.kind == .busy else { break }
                    // The retry opens a connection of its own: the cached state of this one may be wrong.
                    reader = nil
                    usleep(pause)
                    answer = Self.answer(question, &reader, directory)
                }
                onAnswer(answer, (try? answer.get()).map(question.byteCount) ?? 0)
            }
        } catch {
            onAnswer(.failure(StoreError(.failed, message: error.description, context: "a look-up")), 0)
        }
    }

    /// Ends the thread; open questions get no answer.
    public func stop() { thread.stop() }

    private static func answer<Answer>(
        _ question: Question<Answer>, _ opened: inout LedgerReader?, _ directory: String
    ) -> Result<Answer, StoreError> {
        Result { () throws(StoreError) in
            if let opened { return try question.read(opened) }
            let reader = try LedgerReader(directory: directory)
            opened = reader
            return try question.read(reader)
        }
    }
}

extension Lookup.Question<RequestStory?> {
    /// Asks for the request with this id of its producer and everything that came of it, from one state of the ledger;
    /// `nil` if the ledger has none.
    public static func request(_ key: Lookup.Key) -> Self {
        Self(byteCount: { $0?.request.body.count ?? 0 }) { (reader) throws(StoreError) in
            try reader.find(uid: key.account.uid, id: key.id)
        }
    }

    /// Asks for the delivery that an interaction names.
    public static func delivery(_ reference: DeliveryReference) -> Self {
        Self(byteCount: { $0?.request.body.count ?? 0 }) { (reader) throws(StoreError) in
            try reader.delivery(reference)
        }
    }
}

extension Lookup.Question<[UInt8]?> {
    /// Asks for the line of the request with this number.
    public static func line(_ seq: SequenceNumber) -> Self {
        Self(byteCount: { $0?.count ?? 0 }) { (reader) throws(StoreError) in try reader.line(of: seq) }
    }
}

extension Lookup.Question<DeadRequest?> {
    /// Asks for the request with this number, with the data to replay it.
    public static func dead(_ seq: SequenceNumber) -> Self {
        Self(byteCount: { $0?.story.request.body.count ?? 0 }) { (reader) throws(StoreError) in
            try reader.deadRequest(seq)
        }
    }
}

extension Lookup.Question<[String]> {
    /// Asks for the devices that the ledger knows to be a user's by requests up to a number.
    public static func devices(of user: String, through last: SequenceNumber) -> Self {
        Self { (reader) throws(StoreError) in try reader.devices(of: user, through: last) }
    }
}

extension Lookup.Question<Lookup.Identifiers> {
    /// Asks for a page of ids after a given one, in the ledger's order, at most 4096.
    public static func identifiers(after last: Lookup.Key?) -> Self {
        Self { (reader) throws(StoreError) in
            let keys = try reader.identifiers(after: last, limit: Lookup.identifiersAtOnce)
            return .init(hashes: keys.map(\.hash), last: keys.count < Lookup.identifiersAtOnce ? nil : keys.last)
        }
    }
}

extension Lookup {
    /// A page of ids.
    public struct Identifiers: Sendable {
        /// The hashes of the ids.
        public let hashes: [UInt64]
        /// The last id of the page; `nil` on the last page.
        public let last: Key?
    }

    fileprivate static let identifiersAtOnce = 4096
}

extension LedgerReader {
    /// Returns producers' ids, in the order of their index.
    ///
    /// - Parameters:
    ///   - last: the id to start after; `nil` starts at the first.
    ///   - limit: the largest number of ids.
    func identifiers(after last: Lookup.Key?, limit: Int) throws(StoreError) -> [Lookup.Key] {
        var statement = try database.prepare(
            """
            SELECT uid, id FROM request_rows INDEXED BY requests_by_id
            WHERE id IS NOT NULL AND (uid, id) > (?1, ?2) ORDER BY uid, id LIMIT ?3
            """)
        statement.bind(last.map { Int64($0.account.uid) } ?? -1, at: 1)
        statement.bind(last?.id ?? "", at: 2)
        statement.bind(Int64(limit), at: 3)
        var keys: [Lookup.Key] = []
        keys.reserveCapacity(limit)
        while try statement.step() {
            keys.append(Lookup.Key(account: Account(uid: try statement.value(0)), id: statement.text(1) ?? ""))
        }
        return keys
    }
}
