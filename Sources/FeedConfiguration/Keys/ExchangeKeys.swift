import FeedDeclarations
import FeedModel

struct BodyKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.body]", "The body of a request.", all)

    let text = Key.template("text", "The body as it stands.")
    let file = Key.file(
        "file",
        "A file with the body in UTF-8, relative to `sources.toml`; looked up in `$CREDENTIALS_DIRECTORY` first.")
    let xml = TableKey.elements(
        "xml",
        "A table as XML, in the order of the file: a key is an element, `\"@key\"` an attribute, `\".\"` an element's own text, an array the element repeated."
    )
    let json = Key.any("json", "A value as JSON: tables are objects, dates their text.")
}

struct SOAPKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.soap]", "A call of a SOAP operation.", all)

    let name = Key.string("name", default: .required, "The operation's element.")
    let version = Key<SOAPDeclaration.Version>.choice("version", default: .value(.v1_1), "The version of SOAP.")
    let action = Key.text("action", "The operation's action, as its WSDL has it (`soapAction`).")
    let namespace = Key.text("namespace", "The operation's namespace (`targetNamespace`).")
    let qualified = Key.boolean(
        "qualified", default: true,
        "`false` keeps the parameters out of the operation's namespace, as RPC style and `elementFormDefault=\"unqualified\"` want it."
    )
    let parameters = TableKey.elements(
        "parameters", "The content of the operation's element, written as the `xml` of a body.")
    let header = TableKey.elements("header", "The content of the envelope's Header, written alike.")
}

struct AuthenticationKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.auth]", "The credentials of a request.", all)

    let basic = TableKey.table("basic", BasicKeys.self, "User and password (RFC 7617).")
    let bearer = Key.text("bearer", "A token (RFC 6750).")
    let oauth2 = TableKey.table(
        "oauth2", OAuthKeys.self, "A token that a server issues (RFC 6749, section 4.4, client credentials).")
    let ssh = TableKey.table(
        "ssh", UserKeyKeys.self, "With an `sftp:` address: a user and their key (RFC 4252, section 7).")
}

struct BasicKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.auth.basic]", "A user and a password.", all)

    let user = Key.text("user", default: .required, "The user.")
    let password = Key.text("password", default: .required, "The password.")
    let cleartext = Key.boolean(
        "cleartext", default: false,
        "With an `ftp:` address: `true` sends the password unencrypted; otherwise the server must offer TLS (RFC 4217)."
    )
}

struct UserKeyKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.auth.ssh]", "A user of SSH and their key.", all)

    let user = Key.text("user", default: .required, "The user.")
    let privateKey = Key.file(
        "private_key", default: .required, "The file with the private key, as `ssh-keygen` writes it.")
    let publicKey = Key.file(
        "public_key", default: .described("the one in `private_key`"), "The file with the public key.")
    let passphrase = Key.text("passphrase", "The passphrase of an encrypted `private_key`.")
}

struct OAuthKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.auth.oauth2]", "A token server.", all)

    let tokenURL = Key.text("token_url", default: .required, "The address that issues tokens.")
    let clientID = Key.text("client_id", default: .required, "The client's identifier.")
    let clientSecret = Key.text("client_secret", default: .required, "The client's secret.")
    let scope = Key.text("scope", "The scopes that are asked for, separated by spaces.")
    let parameters = Key.texts("parameters", "Further parameters that a server asks for.")
    let credentialsIn = Key<ClientCredentials.Place>.choice(
        "credentials_in", default: .value(.header),
        "Where the client's identifier and secret go (RFC 6749, section 2.3.1).")
}

struct TLSKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.tls]", "Certificates.", all)

    let ca = Key.file("ca", "Certificates that are trusted besides the system's.")
    let certificate = Key.file("certificate", "The client's certificate, with those that signed it behind it.")
    let key = Key.file("key", "The private key of `certificate`.")
    let keyPassword = Key.text("key_password", "The password of an encrypted `key`.")
}

struct CSVKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.csv]", "How CSV is written.", all)

    let delimiter = Key.string(
        "delimiter", default: .described("`\",\"`; a tab where the answer is `text/tab-separated-values`"),
        "The character between fields.")
    let quote = Key.string(
        "quote", default: .value("\""),
        "The character around fields that have a delimiter or a line break in them; within a field it is written twice."
    )
    let header = Key<HeaderOption>.header(
        "header",
        "`true`: the first line names the columns; `false`: the body has no header; an array: the names of the columns, for a body without a header."
    )
    let skip = Key.integer(
        "skip", 0...ConfigurationLimits.skippedLines, default: .value(0),
        "The lines before the header, or before the first record; at most 1,000,000.")
    let encoding = Key.string(
        "encoding", default: .described("the `charset` of the answer, or else UTF-8"),
        "The encoding, by a name that iconv knows.")
}

struct PageKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[sources.NAME.requests.page]", "Answers in pages.", all)

    let next = Key.string("next", "The path, from the root, of the next page's address.")
    let link = Key.boolean(
        "link", default: false, "`true` follows the Link header with `rel=\"next\"` (RFC 8288).")
    let token = Key.string("token", "The path, from the root, of a continuation token.")
    let parameter = Key.string("parameter", "The parameter by which `token` is sent for the next page.")
    let keep = Key.strings("keep", "The parameters to send with a token; all of them where this is absent.")
    let counter = Key.string("counter", "The parameter of the query that counts.")
    let start = Key.integer(
        "start", 0...ConfigurationLimits.counterStart, default: .value(1), "The counter's first value, at most 10¹⁵.")
    let step = Key.integer(
        "step", 1...ConfigurationLimits.counterStep, default: .value(1), "By what the counter grows, at most 10⁹.")
    let maxPages = Key.integer(
        "max_pages", 1...ConfigurationLimits.maxPages, default: .value(PagingDeclaration.defaultMaxPages),
        "More pages discard the run.")
}
