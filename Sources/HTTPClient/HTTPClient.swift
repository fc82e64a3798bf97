import CCurl

/// The version of the library.
public var curlVersion: String { String(cString: curl_version()) }
