// PushProtocolTests
