// PushReporting
