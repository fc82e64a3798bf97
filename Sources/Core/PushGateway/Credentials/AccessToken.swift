import PushModel

/// A request for an access token, by its grant.
///
/// Source: RFC 6749 (5.2) and RFC 7523; the texts of Google's errors are those that issues of its clients quote
/// (UNVERIFIED here).
enum AccessTokenRequest: Sendable {
    /// The signed assertion of a service account.
    case assertion(WebToken)
    /// The refresh token of a person's own credentials, which the gateway cannot check.
    case refreshToken

    /// Reads the body of a request.
    init(body: [UInt8]) throws(AccessTokenError) {
        let form = FormText(body)
        switch form.first(["grant_type"]) {
        case "urn:ietf:params:oauth:grant-type:jwt-bearer":
            guard let text = form.first(["assertion"]) else {
                throw AccessTokenError(.invalidRequest, "Missing required parameter: assertion")
            }
            guard let token = WebToken(text) else {
                throw AccessTokenError(
                    .invalidGrant, "Invalid JWT: Token must be in the form of three parts in base64url")
            }
            self = .assertion(token)
        case "refresh_token": self = .refreshToken
        case let type?: throw AccessTokenError(.unsupportedGrantType, "Invalid grant_type: \(type)")
        case nil: throw AccessTokenError(.invalidRequest, "Missing required parameter: grant_type")
        }
    }

    /// The account, if the request names one.
    public var account: String? {
        if case .assertion(let token) = self { token.text("iss") } else { nil }
    }

    /// The scopes, if the request names them.
    var scopes: [String] {
        guard case .assertion(let token) = self else { return [] }
        return token.text("scope")?.split(separator: " ").map(String.init) ?? []
    }

    /// Returns the answer with a token.
    ///
    /// - Parameters:
    ///   - token: the token, which the client sends with its requests.
    ///   - seconds: the validity of the token.
    public static func response(token: String, validForSeconds seconds: Int = 3599) -> GatewayResponse {
        var writer = JSONWriter()
        writer.object {
            $0.member("access_token", token)
            $0.member("expires_in", seconds)
            $0.member("token_type", "Bearer")
        }
        return .googleJSON(writer.bytes)
    }
}

/// The access token in the header `authorization` of a send.
struct BearerToken: Hashable, Sendable {
    /// The token.
    public let text: String

    /// - Parameter header: `Bearer` in any case and the token; the result is `nil` for any other text.
    init?(_ header: String?) {
        guard let words = header?.split(separator: " "), words.count == 2, words[0].lowercased() == "bearer" else {
            return nil
        }
        text = String(words[1])
    }
}

/// Parses the name of a service account.
enum ServiceAccountName {
    /// Returns the project of `NAME@PROJECT.iam.gserviceaccount.com`; `nil` for a name of another form.
    static func project(_ account: String) -> String? {
        let suffix = ".iam.gserviceaccount.com"
        guard account.hasSuffix(suffix), let at = account.firstIndex(of: "@") else { return nil }
        let project = account[account.index(after: at)...].dropLast(suffix.count)
        return TopicName.isPart(String(project)) ? String(project) : nil
    }
}

/// The checks on the assertion of a service account.
struct AssertionRules: Hashable, Sendable {
    /// The audiences that an assertion may name.
    var audiences: Set<String> = [
        "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
        "https://accounts.google.com/o/oauth2/token",
    ]
    /// The limit of validity, and the tolerance for the client's clock, in seconds (UNVERIFIED except for the hour).
    var longestLife: Int64 = 3600
    var skew: Int64 = 300

    /// Creates Google's rules.
    init() {}

    /// Checks an assertion except for its account and its signature, which need key files.
    ///
    /// - Parameters:
    ///   - token: the assertion.
    ///   - now: the time.
    /// - Returns: the error that Google answers; `nil` if the assertion passes.
    public func problem(of token: WebToken, at now: WallTime) -> AccessTokenError? {
        guard token.algorithm == "RS256" else {
            return AccessTokenError(.invalidGrant, "Invalid JWT: Only RS256 is supported")
        }
        guard let audience = token.text("aud"), audiences.contains(audience) else {
            return AccessTokenError(.invalidGrant, "Invalid JWT: Failed audience check")
        }
        guard let issued = token.time("iat")?.seconds, let ends = token.time("exp")?.seconds,
            issued <= now.seconds + skew, ends > now.seconds - skew, ends - issued <= longestLife, ends > issued
        else {
            return AccessTokenError(
                .invalidGrant,
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim.")
        }
        return nil
    }
}

/// The error of a request for an access token (RFC 6749, 5.2).
struct AccessTokenError: Error, Hashable, Sendable {
    /// The error code. The raw values are those of the RFC.
    enum Code: String, Sendable, CaseIterable {
        case invalidRequest = "invalid_request"
        case invalidGrant = "invalid_grant"
        case unsupportedGrantType = "unsupported_grant_type"
    }

    /// The error code.
    public let code: Code
    /// The error in words, for people.
    public let description: String

    /// Joins the parts.
    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The error for an account without a key file.
    static let unknownAccount = AccessTokenError(.invalidGrant, "Invalid grant: account not found")
    /// No key of the account made the signature.
    static let badSignature = AccessTokenError(.invalidGrant, "Invalid JWT Signature.")

    /// The answer.
    public var response: GatewayResponse {
        var writer = JSONWriter()
        writer.object {
            $0.member("error", code.rawValue)
            $0.member("error_description", description)
        }
        return GatewayResponse.googleJSON(status: 400, writer.bytes)
            .because("Google", code.rawValue, "no access token: \(description)")
    }
}
