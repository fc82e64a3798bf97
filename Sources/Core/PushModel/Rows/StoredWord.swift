/// A word of a closed set, which rows of the ledger have as a number.
///
/// The numbers are defined in this file only: the code that writes and reads rows, and the views of ``LedgerTable``,
/// use them. SQLite stores 0 and 1 in the row's header without a byte of their own, so the most frequent words come
/// first.
public protocol StoredWord: StoredName, Sendable {
    /// The words in the order of their numbers from 0. The numbers are on disk, so a new word comes last, and no word
    /// is ever removed.
    static var stored: [Self] { get }
}

extension StoredWord {
    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) { self = try row.word() }
}

extension Operation: StoredWord {
    public static let stored: [Operation] = [
        .deliver, .interact, .session, .token, .log, .topic, .publish, .device,
    ]
}

extension DispatchMode: StoredWord {
    public static let stored: [DispatchMode] = [.device, .relay]
}

extension Platform: StoredWord {
    public static let stored: [Platform] = [.android, .ios, .web]
}

extension Transport: StoredWord {
    public static let stored: [Transport] = [.fcm, .apns, .webPush, .adm, .hms]
}

extension MessagePriority: StoredWord {
    public static let stored: [MessagePriority] = [.high, .normal]
}

extension AppState: StoredWord {
    public static let stored: [AppState] = [.background, .foreground, .terminated, .forceQuit, .forceStopped]
}

extension Callback: StoredWord {
    public static let stored: [Callback] = [
        .onMessageReceived, .didReceiveRemoteNotification, .none, .didReceiveResponse, .willPresent, .serviceExtension,
        .push, .notificationclick, .notificationclose, .onNewToken, .onRegistered, .onUnregistered, .didRegister,
        .onDeletedMessages, .onMessageSent, .onSendError,
    ]
}

extension Outcome: StoredWord {
    public static let stored: [Outcome] = [
        .handled, .handedToTracker, .failed, .timedOut, .expired, .unrouted, .duplicate, .shownBySystem, .notWoken,
        .swallowed, .ownReceiver, .sdkNotReady,
    ]
}

extension Completion.Caller: StoredWord {
    public static let stored: [Completion.Caller] = [.handler, .tracker, .default]
}

extension FetchResult: StoredWord {
    public static let stored: [FetchResult] = [.noData, .newData, .failed]
}

extension AnalyticsEvent.Kind: StoredWord {
    public static let stored: [AnalyticsEvent.Kind] = [
        .received, .open, .influencedOpen, .iosForeground, .sessionStart, .sessionEnd, .tokenStateChange, .uninstall,
        .customEvent,
    ]
}

extension ButtonAction: StoredWord {
    public static let stored: [ButtonAction] = [.uri, .deepLink, .none, .close]
}

extension TokenRequest.Kind: StoredWord {
    public static let stored: [TokenRequest.Kind] = [.new, .registered, .unregistered]
}

/// The words of a set as bytes, to compare with those of a row.
public struct WordSet: Sendable {
    /// The words, by their numbers.
    public let words: [[UInt8]]
    /// The words as texts.
    public let texts: [String]

    /// Takes the words of a type.
    public init<Word: StoredWord>(_ type: Word.Type) {
        texts = type.stored.map(\.rawValue)
        words = texts.map { Array($0.utf8) }
    }
}
