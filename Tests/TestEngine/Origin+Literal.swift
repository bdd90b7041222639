package import FeedConfiguration

/// Origins as tests write them: `http://e.org:80`, or a name that stands for one.
extension Origin: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self = Origin(text) ?? Origin(scheme: "test", host: text, port: 0) }
}
