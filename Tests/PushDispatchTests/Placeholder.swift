// PushDispatchTests
