// PushRoutingTests
