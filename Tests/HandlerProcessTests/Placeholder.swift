// HandlerProcessTests
