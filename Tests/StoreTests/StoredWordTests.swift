import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// The number of a word must never change: existing ledgers store it.
@Suite("Words that rows store as numbers", .timeLimit(.minutes(30)))
struct StoredWordTests {
    @Test("words that rows store as numbers keep their numbers")
    func numbers() {
        #expect(
            WordSet(Operation.self).texts == [
                "deliver", "interact", "session", "token", "log", "topic", "publish", "device",
            ])
        #expect(WordSet(DispatchMode.self).texts == ["device", "relay"])
        #expect(WordSet(Platform.self).texts == ["android", "ios", "web"])
        #expect(WordSet(Transport.self).texts == ["fcm", "apns", "web_push", "adm", "hms"])
        #expect(WordSet(MessagePriority.self).texts == ["high", "normal"])
        #expect(
            WordSet(AppState.self).texts == ["background", "foreground", "terminated", "force_quit", "force_stopped"])
        #expect(
            WordSet(Callback.self).texts == [
                "onMessageReceived", "didReceiveRemoteNotification", "none", "didReceiveResponse", "willPresent",
                "serviceExtension", "push", "notificationclick", "notificationclose", "onNewToken", "onRegistered",
                "onUnregistered", "didRegister", "onDeletedMessages", "onMessageSent", "onSendError",
            ])
        #expect(
            WordSet(Outcome.self).texts == [
                "handled", "handed_to_tracker", "failed", "timed_out", "expired", "unrouted", "duplicate",
                "shown_by_system", "not_woken", "swallowed", "own_receiver", "sdk_not_ready",
            ])
        #expect(WordSet(Completion.Caller.self).texts == ["handler", "tracker", "default"])
        #expect(WordSet(FetchResult.self).texts == ["noData", "newData", "failed"])
        #expect(
            WordSet(AnalyticsEvent.Kind.self).texts == [
                "local.pushnotification.Received", "users.messages.pushnotification.Open",
                "users.messages.pushnotification.InfluencedOpen", "users.messages.pushnotification.IosForeground",
                "users.behaviors.app.SessionStart", "users.behaviors.app.SessionEnd",
                "users.behaviors.pushnotification.TokenStateChange", "users.behaviors.Uninstall",
                "users.behaviors.CustomEvent",
            ])
        #expect(WordSet(ButtonAction.self).texts == ["uri", "deep_link", "none", "close"])
        #expect(WordSet(TokenRequest.Kind.self).texts == ["new", "registered", "unregistered"])
    }

    private func expectAll<Word: StoredWord & CaseIterable & Hashable>(_ type: Word.Type) {
        #expect(Set(type.stored) == Set(type.allCases) && type.stored.count == type.allCases.count, "\(type)")
    }

    @Test("include every word of their sets")
    func all() {
        expectAll(Operation.self)
        expectAll(DispatchMode.self)
        expectAll(Platform.self)
        expectAll(Transport.self)
        expectAll(MessagePriority.self)
        expectAll(AppState.self)
        expectAll(Callback.self)
        expectAll(Outcome.self)
        expectAll(FetchResult.self)
        expectAll(AnalyticsEvent.Kind.self)
        expectAll(ButtonAction.self)
        expectAll(TokenRequest.Kind.self)
    }

    /// For each column with words, the texts of its set.
    private static let columns: [(table: String, column: String, texts: [String])] = LedgerTable.all.flatMap { table in
        table.columns.compactMap { column in
            guard case .word(let words) = column.coding else { return nil }
            return (table.name, column.name, words.texts)
        }
    }

    @Test("are read as they were written", arguments: columns.indices)
    func roundTrip(index: Int) throws {
        let (name, column, texts) = Self.columns[index]
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        let table = try #require(LedgerTable.all.first { $0.name == name })
        let place = try #require(table.columns.firstIndex { $0.name == column })
        guard case .word(let words) = table.columns[place].coding else { return }
        let key = table.columns[0].name
        let others = table.columns.filter { $0.name != column && $0.name != key }.map(\.name)
        // Columns that may not be empty get a filler.
        for (number, text) in texts.enumerated() {
            var insert = try writer.database.prepare(
                """
                INSERT INTO \(table.rows) (\(key), \(column), \(others.joined(separator: ", ")))
                VALUES (?1, ?2, \(others.map { Self.filler($0, of: name) }.joined(separator: ", ")))
                """)
            insert.bind(Int64(number + 1), at: 1)
            let stored = Array(text.utf8).withUnsafeBytes { words.number(of: $0) }
            insert.bind(stored, at: 2)
            try insert.run()
        }
        let view = try writer.database.prepare("SELECT \(column) FROM \(name) ORDER BY \(key)")
        var found: [String] = []
        while try view.step() { found.append(view.text(0) ?? "") }
        #expect(found == texts)
    }

    @Test("are an error where a row of the log has another number, and nothing of its batch is stored")
    func unknown() throws {
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        let rows = RowBuffer()
        for record in Fixture.delivery(1) { rows.append(record) }
        var bytes = Array(UnsafeRawBufferPointer(rows.rows))
        let word = Array("android".utf8)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: word) })
        bytes.replaceSubrange(place..<place + word.count, with: Array("unheard".utf8))
        let error = #expect(throws: StoreError.self) {
            try bytes.withUnsafeBytes {
                try writer.apply([$0], through: LogPosition(number: 1, checksum: 0, segment: 0, end: 0))
            }
        }
        #expect(error?.kind == .contradiction && error?.message.hasSuffix("is not one of its words") == true)
        #expect(try writer.database.integer("SELECT count(*) FROM requests") == 0)
    }

    /// A value for a column that may not be empty, and `NULL` for texts.
    private static func filler(_ column: String, of table: String) -> String {
        switch column {
        case "body": "x''"
        case "id" where table == "events": "x''"
        case "id", "device", "external_id", "message_id", "duplicate_id", "external_user_id", "device_id",
            "button_string", "push_token", "name", "properties", "reason":
            "NULL"
        default: "0"
        }
    }
}
