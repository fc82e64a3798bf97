// JournalLog
