// JournalLogTests
