// UnixSocketsTests
