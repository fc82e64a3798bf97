// PushReportingTests
