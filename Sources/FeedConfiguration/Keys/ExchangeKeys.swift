import FeedModel
import XMLStream

struct BodyKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.body]", "The body of a request.", all,
        rules: [
            .exactlyOne(
                all.text, all.file, all.xml, all.json, lacking: "the body has no content",
                help: "give a string, a 'file', 'xml' or 'json'")
        ])

    let text = Key("text", .template, "The body as text.")
    let file = Key(
        "file", .file,
        "A file with the body in UTF-8, relative to `sources.toml`; `$CREDENTIALS_DIRECTORY` is searched first.")
    let xml = TableKey.elements(
        "xml",
        "A table as XML, in the order of the file: a key is an element, `\"@key\"` is an attribute, `\".\"` is an element's own text, and an array is a repeated element."
    )
    let json = Key("json", .any, "A value as JSON: tables become objects, dates become texts.")
}

struct SOAPKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.soap]", "A call of a SOAP operation.", all)

    let name = Key("name", .string, default: .required, "The name of the operation's element.")
    let version = Key<SOAPDeclaration.Version>("version", .choice, default: .value(.v1_1), "The version of SOAP.")
    let action = Key("action", .sentText, "The operation's action (`soapAction` in the WSDL).")
    let namespace = Key("namespace", .sentText, "The operation's namespace (`targetNamespace` in the WSDL).")
    let qualified = Key(
        "qualified", .boolean, default: .value(true),
        "`false` leaves the parameters in no namespace, for RPC style and `elementFormDefault=\"unqualified\"`."
    )
    let parameters = TableKey.elements(
        "parameters", "The content of the operation's element, like the `xml` of a body.")
    let header = TableKey.elements("header", "The content of the envelope's Header, like `parameters`.")
}

/// The texts count as sent, so that `Authentication.problem` refuses `${capture:…}` in them, and says what to do
/// instead: no response has come before the credentials are sent.
struct AuthenticationKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.auth]", "The credentials of a request.", all,
        rules: [
            .exactlyOne(
                all.basic, all.bearer, all.oauth2, all.s3, all.ssh,
                lacking: "there are no credentials", help: "give one of 'basic', 'bearer', 'oauth2', 's3' and 'ssh'")
        ])

    let basic = Key("basic", .table(BasicKeys.self), "HTTP Basic: a user and a password (RFC 7617).")
    let bearer = Key("bearer", .sentText, "A bearer token (RFC 6750).")
    let oauth2 = Key(
        "oauth2", .table(OAuthKeys.self),
        "OAuth 2 with client credentials or a refresh token (RFC 6749, sections 4.4 and 6).")
    let s3 = Key(
        "s3", .table(BucketKeys.self),
        "With an `s3:` address: the store, and the keys of a user (AWS Signature Version 4).")
    let ssh = Key(
        "ssh", .table(UserKeyKeys.self), "With an `sftp:` address: a user and their key (RFC 4252, section 7).")
}

struct BasicKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.auth.basic]", "A user and a password.", all)

    let user = Key("user", .sentText, default: .required, "The user.")
    let password = Key("password", .sentText, default: .required, "The password.")
    let cleartext = Key(
        "cleartext", .boolean, default: .value(false),
        "With an `ftp:` address: `true` sends the password unencrypted; otherwise the server must offer TLS (RFC 4217)."
    )
}

struct UserKeyKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.auth.ssh]", "An SSH user and their key.", all)

    let user = Key("user", .sentText, default: .required, "The user.")
    let privateKey = Key(
        "private_key", .readableFile, default: .required, "The file with the private key, as `ssh-keygen` writes it.")
    let publicKey = Key(
        "public_key", .readableFile, default: .described("the one in `private_key`"), "The file with the public key.")
    let passphrase = Key("passphrase", .sentText, "The passphrase of an encrypted `private_key`.")
}

struct BucketKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.auth.s3]", "A store of buckets, and the keys of a user.", all,
        rules: [
            .key(all.accessKey, requires: all.secretKey), .key(all.secretKey, requires: all.accessKey),
            .key(all.sessionToken, requires: all.accessKey),
        ])

    let accessKey = Key("access_key", .sentText, "The access key. Without keys, requests are not signed.")
    let secretKey = Key("secret_key", .sentText, "The secret key of `access_key`.")
    let sessionToken = Key("session_token", .sentText, "The session token of temporary keys.")
    let region = Key(
        "region",
        .string.checked { region in
            let isName =
                !region.isEmpty && region == region.lowercased()
                && region.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
            return isName ? [] : ["'\(region)' is not the name of a region, such as \"eu-central-1\""]
        }, default: .value(BucketAccess.defaultRegion), "The region of the bucket.")
    let endpoint = Key(
        "endpoint", .text, default: .described("Amazon S3 in `region`"),
        "The `https:` or `http:` address of another store, such as MinIO, R2 or Google's.")
}

struct OAuthKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.auth.oauth2]", "A client of OAuth 2.", all,
        rules: [
            .key(all.refreshToken, requires: all.grant, is: .refreshToken),
            .value(
                ClientCredentials.Grant.refreshToken, of: all.grant, requires: all.refreshToken,
                hint: ", the one that the service issued at the login"),
        ])

    let tokenURL = Key("token_url", .webAddress, default: .required, "The address of the token endpoint.")
    let clientID = Key("client_id", .sentText, default: .required, "The client's identifier.")
    let clientSecret = Key("client_secret", .sentText, default: .required, "The client's secret.")
    let grant = Key<ClientCredentials.Grant>(
        "grant", .choice, default: .value(.clientCredentials),
        "What the token server issues tokens for: the client's secret, or the `refresh_token` of a user's login.")
    let refreshToken = Key(
        "refresh_token", .sentText.checked("is empty") { !$0.value.isEmpty },
        "The first refresh token. Later ones that the server issues are kept in the store, encrypted with `encryption_key` of `[store]`."
    )
    let scope = Key("scope", .sentText, "The requested scopes, separated by spaces.")
    let parameters = Key("parameters", .sentTexts, "Further parameters of the token request.")
    let credentialsIn = Key<ClientCredentials.Place>(
        "credentials_in", .choice, default: .value(.header),
        "Where the client's identifier and secret are sent (RFC 6749, section 2.3.1).")
}

struct TLSKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.tls]", "Certificates.", all,
        rules: [.key(all.certificate, requires: all.key), .key(all.key, requires: all.certificate)])

    let ca = Key("ca", .file, "Trusted certificates in addition to the system's.")
    let certificate = Key("certificate", .file, "The client's certificate, followed by its issuers'.")
    let key = Key("key", .file, "The private key of `certificate`.")
    let keyPassword = Key("key_password", .text, "The password of an encrypted `key`.")
}

struct CSVKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.csv]", "The dialect of CSV.", all)

    let delimiter = Key(
        "delimiter", .string, default: .described("`\",\"`; a tab if the response is `text/tab-separated-values`"),
        "The character between fields.")
    let quote = Key(
        "quote", .string, default: .value("\""),
        "The character around fields with delimiters or line breaks; within a field it is doubled."
    )
    let header = Key(
        "header", .header, default: .value(.line),
        "The names of the columns: `true` takes them from the first line, `false` names them `c1`, `c2` and so on, and an array gives them."
    )
    let skip = Key(
        "skip", .integer(0...ConfigurationLimits.skippedLines), default: .value(0),
        "The number of lines to skip before the header, or before the first record; at most 1,000,000.")
    let encoding = Key(
        "encoding",
        .string.checked { name in
            TextDecoder.knows(name)
                ? [] : [Finding("the encoding '\(name)' is unknown", help: "'iconv -l' lists the known ones")]
        }, default: .described("the `charset` of the response, or else UTF-8"),
        "The encoding, a name that iconv knows.")
    let onError = Key<ForEachDeclaration.OnError>(
        "on_error", .choice, default: .value(.discard),
        "The treatment of a line with too many or too few fields, or with text after a closing quote: discard the run, or skip the line and keep it as rejected. `skip` requires a mapping (`tables`)."
    )
}

struct WorkbookKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.xlsx]", "The part of a workbook that is read.", all)

    let sheet = Key(
        "sheet", .string.checked("a sheet's name must not be empty") { !$0.isEmpty },
        default: .described("the first sheet that is not hidden"), "The name of the sheet, in upper or lower case.")
    let header = Key(
        "header", .header, default: .value(.line),
        "The names of the columns: `true` takes them from the first row with a value, `false` names them `c1`, `c2` and so on, and an array gives them."
    )
    let skip = Key(
        "skip", .integer(0...ConfigurationLimits.skippedLines), default: .value(0),
        "The number of rows of the sheet to skip before the header, or before the first record; at most 1,000,000.")
}

struct ProtobufKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.protobuf]", "The schema of a body in Protocol Buffers.", all)

    let descriptor = Key(
        "descriptor", .file, default: .required,
        "The file with the descriptor set, as `protoc --include_imports --descriptor_set_out` writes it.")
    let message = Key(
        "message", .string, default: .required, "The full name of the message that the body is, with its package.")
}

struct PageKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.page]", "Responses in pages.", all,
        rules: [
            .exactlyOne(
                all.next, all.link, all.token, all.counter,
                lacking: "nothing leads to the next page",
                help: "give one of 'next' (the path of the next page's address), 'link' (the Link header), 'token' "
                    + "(the path of a continuation token) and 'counter' (a parameter that counts)"),
            .key(all.token, requires: all.parameter, hint: ", by which it is sent for the next page"),
            .key(all.parameter, requires: all.token), .key(all.keep, requires: all.token),
            .key(all.start, requires: all.counter), .key(all.step, requires: all.counter),
        ])

    let next = Key("next", .path(like: "/json/next"), "The path, from the root, of the next page's address.")
    let link = Key(
        "link", .boolean, default: .value(false), "`true` follows the Link header with `rel=\"next\"` (RFC 8288).")
    let token = Key("token", .path(like: "/json/next"), "The path, from the root, of a continuation token.")
    let parameter = Key(
        "parameter", .string,
        "The parameter that sends `token` for the next page, in the query or in the form of a POST.")
    let keep = Key("keep", .strings, "The parameters to send with a token; by default all.")
    let counter = Key("counter", .string, "The query parameter that counts pages or records.")
    let start = Key(
        "start", .integer(0...ConfigurationLimits.counterStart), default: .value(1),
        "The counter's first value, at most 10¹⁵.")
    let step = Key(
        "step", .integer(1...ConfigurationLimits.counterStep), default: .value(1),
        "The increment of the counter, at most 10⁹.")
    let maxPages = Key(
        "max_pages", .integer(1...ConfigurationLimits.maxPages), default: .value(PagingDeclaration.defaultMaxPages),
        "The maximum number of pages; more discard the run.")
}
