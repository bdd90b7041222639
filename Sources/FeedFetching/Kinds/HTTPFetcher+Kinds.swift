package import FeedConfiguration

extension HTTPFetcher {
    /// Returns the fetcher for a kind of address: this one, or one beside it with the same clock and limits.
    package func fetcher(for target: RequestAddress) -> any Fetcher {
        switch target {
        case .web: self
        case .file: FileFetcher(now: now)
        case .server: RemoteFetcher(now: now, hosts: hosts)
        case .bucket: BucketFetcher(http: self)
        }
    }
}
