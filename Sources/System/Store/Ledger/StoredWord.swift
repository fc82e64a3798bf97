import Glibc
import PushModel

/// A word of a closed set, which rows of the ledger hold as a number.
///
/// This file is the one place that says which: who writes rows, who reads them and the views of ``LedgerTable`` go by it.
/// 0 and 1 take no byte beside a row's header, so the most frequent words come first.
protocol StoredWord: RawRepresentable<String>, Sendable {
    /// The words by their numbers: 0, 1, and so on. The numbers are on disk, so a new word comes last, and none ever goes.
    static var stored: [Self] { get }
}

extension Operation: StoredWord {
    static let stored: [Operation] = [.deliver, .interact, .session, .token, .log]
}

extension DispatchMode: StoredWord {
    static let stored: [DispatchMode] = [.device, .relay]
}

extension Platform: StoredWord {
    static let stored: [Platform] = [.android, .ios, .web]
}

extension Transport: StoredWord {
    static let stored: [Transport] = [.fcm, .apns, .webPush, .adm, .hms]
}

extension MessagePriority: StoredWord {
    static let stored: [MessagePriority] = [.high, .normal]
}

extension AppState: StoredWord {
    static let stored: [AppState] = [.background, .foreground, .terminated, .forceQuit, .forceStopped]
}

extension Callback: StoredWord {
    static let stored: [Callback] = [
        .onMessageReceived, .didReceiveRemoteNotification, .none, .didReceiveResponse, .willPresent, .serviceExtension,
        .push, .notificationclick, .notificationclose, .onNewToken, .onRegistered, .onUnregistered, .didRegister,
        .onDeletedMessages, .onMessageSent, .onSendError,
    ]
}

extension Outcome: StoredWord {
    static let stored: [Outcome] = [
        .handled, .handedToTracker, .failed, .timedOut, .expired, .unrouted, .duplicate, .shownBySystem, .notWoken,
        .swallowed, .ownReceiver, .sdkNotReady,
    ]
}

extension Completion.Caller: StoredWord {
    static let stored: [Completion.Caller] = [.handler, .tracker, .default]
}

extension FetchResult: StoredWord {
    static let stored: [FetchResult] = [.noData, .newData, .failed]
}

extension AnalyticsEvent.Kind: StoredWord {
    static let stored: [AnalyticsEvent.Kind] = [
        .received, .open, .influencedOpen, .iosForeground, .sessionStart, .sessionEnd, .tokenStateChange, .uninstall,
        .customEvent,
    ]
}

extension ButtonAction: StoredWord {
    static let stored: [ButtonAction] = [.uri, .deepLink, .none, .close]
}

extension TokenRequest.Kind: StoredWord {
    static let stored: [TokenRequest.Kind] = [.new, .registered, .unregistered]
}

/// The words of a set as bytes, to be found by those of a row.
struct WordSet: Sendable {
    private let words: [[UInt8]]
    /// The texts, by their numbers.
    let texts: [String]

    init<Word: StoredWord>(_ type: Word.Type) {
        texts = type.stored.map(\.rawValue)
        words = texts.map { Array($0.utf8) }
    }

    /// The number of a word; `nil` for a text that has none.
    func number(of text: UnsafeRawBufferPointer) -> Int64? {
        // Each word of each row passes here. Sets are short, and what is frequent comes first.
        for index in words.indices where words[index].count == text.count && words[index].isEqual(to: text) {
            return Int64(index)
        }
        return nil
    }

    /// The condition, in SQL, that a column has one of some words; on one alone it is as an index has it.
    func condition(_ column: String, anyOf chosen: [String]) -> String {
        let numbers = chosen.map { "\(texts.firstIndex(of: $0) ?? -1)" }
        return numbers.count == 1 ? "\(column) = \(numbers[0])" : "\(column) IN (\(numbers.joined(separator: ", ")))"
    }

    /// The text of a column's value, in SQL.
    func text(of column: String) -> String {
        let cases = texts.enumerated().map { "WHEN \($0) THEN '\($1)'" }.joined(separator: " ")
        return "CASE \(column) \(cases) ELSE \(column) END"
    }
}

extension [UInt8] {
    /// Whether these bytes are as many, and the same.
    func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in
            // Empty bytes have no address.
            guard let start = bytes.baseAddress, let otherStart = other.baseAddress else { return true }
            return memcmp(start, otherStart, bytes.count) == 0
        }
    }
}
