// EventLoopTests
