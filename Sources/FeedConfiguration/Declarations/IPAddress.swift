import Foundation

/// An address of the Internet Protocol, of four bytes or sixteen.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four bytes, or sixteen bytes that do not contain an IPv4 address.
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16:
            // IPv4 in IPv6 (RFC 4291, section 2.5.5.2).
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            self.bytes = isMapped ? Array(bytes[12...]) : bytes
        default: return nil
        }
    }

    /// Reads the host of a URL, as programs that connect to it do: also `127.1`, `0x7f.1`, `0177.0.0.1` and
    /// `2130706433` (inet_aton(3)), and with a zone; nil for a name.
    package init?(literal host: String) {
        var text = host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : host
        if text.hasSuffix(".") { text.removeLast() }
        var four = in_addr()
        if inet_aton(text, &four) != 0 {
            self.init(bytes: withUnsafeBytes(of: four) { Array($0) })
            return
        }
        var sixteen = in6_addr()
        guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &sixteen) == 1 else { return nil }
        self.init(bytes: withUnsafeBytes(of: sixteen) { Array($0) })
    }

    /// Reads an address as people declare it before a port: four decimal numbers, or IPv6 in brackets (RFC 3986, section
    /// 3.2.2), without a zone.
    package init?(host: String) {
        var four = in_addr()
        var sixteen = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            self.init(bytes: withUnsafeBytes(of: four) { Array($0) })
        } else if host.hasPrefix("["), host.hasSuffix("]"),
            inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &sixteen) == 1
        {
            self.init(bytes: withUnsafeBytes(of: sixteen) { Array($0) })
        } else {
            return nil
        }
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// True for the machine itself.
    package var isLoopback: Bool { scope == .loopback }

    /// Where packets for the address may go (IANA's registries of special-purpose addresses, RFC 6890).
    package var scope: AddressScope { bytes.count == 4 ? Self.scope(four: Array(bytes)) : scopeOfSixteen }

    private static func scope(four bytes: [UInt8]) -> AddressScope {
        switch (bytes[0], bytes[1]) {
        case (0, _): .unspecified
        case (10, _), (172, 16...31), (192, 168): .privateUse
        case (100, 64...127): .carrierGradeNAT
        case (127, _): .loopback
        case (169, 254): bytes[2] == 169 && bytes[3] == 254 ? .linkLocalMetadata : .linkLocal
        // Where Azure's machines ask for theirs.
        case (168, 63) where bytes[2] == 129 && bytes[3] == 16: .cloudMetadata
        case (192, 0) where bytes[2] == 0: .reserved
        case (198, 18...19): .benchmarking
        case (224...239, _): .multicast
        case (240..., _): .reserved
        default: .global
        }
    }

    private var scopeOfSixteen: AddressScope {
        if bytes.allSatisfy({ $0 == 0 }) { return .unspecified }
        if bytes[..<15].allSatisfy({ $0 == 0 }), bytes[15] == 1 { return .loopback }
        switch (bytes[0], bytes[1]) {
        case (0xFE, 0x80...0xBF): return .linkLocal
        case (0xFE, 0xC0...0xFF): return .siteLocal
        case (0xFC...0xFD, _): return .uniqueLocal
        case (0xFF, _): return .multicast
        case (0x01, 0x00) where bytes[2..<8].allSatisfy({ $0 == 0 }): return .reserved
        // NAT64 for local use (RFC 8215).
        case (0x00, 0x64) where Array(bytes[2..<6]) == [0xFF, 0x9B, 0, 1]: return .localNAT64
        default: break
        }
        let inner = carried.lazy.map { Self.scope(four: Array($0)) }.first { !$0.isGlobal }
        return inner.map { .carried($0) } ?? .global
    }

    /// The addresses of IPv4 that packets for this one are passed on to.
    private var carried: [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        // IPv4-compatible (RFC 4291, section 2.5.5.1), and NAT64 (RFC 6052).
        if bytes[..<12].allSatisfy({ $0 == 0 }) { found.append(bytes[12...]) }
        if Array(bytes[..<12]) == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] {
            found.append(bytes[12...])
        }
        // IPv4-translated (RFC 2765).
        if bytes[..<8].allSatisfy({ $0 == 0 }), Array(bytes[8..<12]) == [0xFF, 0xFF, 0, 0] {
            found.append(bytes[12...])
        }
        // 6to4 (RFC 3056).
        if bytes[0] == 0x20, bytes[1] == 0x02 { found.append(bytes[2..<6]) }
        // Teredo, which inverts its client's (RFC 4380).
        if Array(bytes[..<4]) == [0x20, 0x01, 0, 0] {
            found.append(bytes[4..<8])
            found.append(bytes[12...].map { ~$0 }[...])
        }
        // ISATAP (RFC 5214).
        if bytes[8] & 0xFD == 0, Array(bytes[9..<12]) == [0, 0x5E, 0xFE] { found.append(bytes[12...]) }
        return found
    }

    /// True if both addresses belong to one machine, as far as addresses show.
    func isOfSameHost(as other: IPAddress) -> Bool { self == other || isLoopback && other.isLoopback }
}

/// Where packets for an address may go.
package indirect enum AddressScope: Hashable, Sendable, CustomStringConvertible {
    /// The public Internet.
    case global
    case unspecified, loopback, privateUse, carrierGradeNAT, linkLocal, siteLocal, uniqueLocal, localNAT64
    case linkLocalMetadata, cloudMetadata
    case multicast, benchmarking, reserved
    /// That of an address of IPv4, to which packets for one of IPv6 are passed on.
    case carried(AddressScope)

    package var isGlobal: Bool { self == .global }

    package var description: String {
        switch self {
        case .global: "public"
        case .unspecified: "unspecified"
        case .loopback: "loopback"
        case .privateUse: "private"
        case .carrierGradeNAT: "carrier-grade NAT"
        case .linkLocal: "link-local"
        case .siteLocal: "site-local"
        case .uniqueLocal: "unique-local"
        case .localNAT64: "private (NAT64)"
        case .linkLocalMetadata: "link-local, a cloud's metadata"
        case .cloudMetadata: "a cloud's metadata"
        case .multicast: "multicast"
        case .benchmarking: "reserved for benchmarks"
        case .reserved: "reserved"
        case .carried(let scope): "\(scope), as IPv4 in IPv6"
        }
    }
}

/// An address and a port at which connections are accepted: `127.0.0.1:8090`, `[::1]:8090`, `0.0.0.0:8090`.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    private let address: IPAddress
    /// 0 for any port that is free.
    package let port: Int

    /// - Returns: nil for a text that is no IP address, or `localhost`, with a port.
    package init?(_ text: String) {
        // An IPv6 address has colons of its own, so it stands in brackets (RFC 3986, section 3.2.2).
        guard let match = text.wholeMatch(of: /(\[[0-9A-Fa-f:.]+\]|[0-9.]+|localhost):([0-9]{1,5})/),
            let port = UInt16(match.2),
            let address = IPAddress(host: match.1 == "localhost" ? "127.0.0.1" : String(match.1))
        else { return nil }
        self.address = address
        self.port = Int(port)
    }

    /// Without brackets.
    package var host: String { "\(address)" }

    /// True if only this machine can connect.
    package var isLoopback: Bool { address.isLoopback }

    package var description: String { atPort(nil) }

    /// Returns the text for the port that is in use, where the declared one is 0.
    package func atPort(_ bound: Int?) -> String {
        host.contains(":") ? "[\(host)]:\(bound ?? port)" : "\(host):\(bound ?? port)"
    }
}
