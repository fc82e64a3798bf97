// PushTracking
