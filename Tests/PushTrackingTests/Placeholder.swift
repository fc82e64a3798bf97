// PushTrackingTests
