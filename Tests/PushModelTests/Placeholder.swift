// PushModelTests
