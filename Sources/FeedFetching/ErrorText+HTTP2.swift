import NIOHTTP2

extension ErrorText {
    /// Returns the text for an error of an HTTP/2 connection: one that the server reported, or one in its frames.
    static func http2(_ error: any NIOHTTP2Error) -> String {
        switch error {
        case let error as NIOHTTP2Errors.StreamClosed:
            "the server broke off the request (HTTP/2: \(name(of: error.errorCode)))"
        case is NIOHTTP2Errors.IOOnClosedConnection, is NIOHTTP2Errors.NoSuchStream,
            is NIOHTTP2Errors.CreatedStreamAfterGoaway, is NIOHTTP2Errors.NoStreamIDAvailable:
            "the HTTP/2 connection was closed"
        case is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
            is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue:
            "the response's length differs from its Content-Length"
        case is NIOHTTP2Errors.ExcessivelyLargeHeaderBlock, is NIOHTTP2Errors.ExcessiveContinuationFrames:
            "the response's headers are too long"
        case is NIOHTTP2Errors.MissingPseudoHeader, is NIOHTTP2Errors.DuplicatePseudoHeader,
            is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
            is NIOHTTP2Errors.UnsupportedPseudoHeader, is NIOHTTP2Errors.InvalidPseudoHeaders,
            is NIOHTTP2Errors.InvalidPseudoHeaderValue, is NIOHTTP2Errors.InvalidStatusValue,
            is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue,
            is NIOHTTP2Errors.ForbiddenHeaderField, is NIOHTTP2Errors.TrailersWithoutEndStream:
            "the response's headers are not valid in HTTP/2"
        case is NIOHTTP2Errors.FlowControlViolation, is NIOHTTP2Errors.InvalidFlowControlWindowSize,
            is NIOHTTP2Errors.InvalidWindowIncrementSize:
            "the server broke HTTP/2's flow control"
        case is NIOHTTP2Errors.ExcessiveRSTFrames, is NIOHTTP2Errors.ExcessiveControlFrames,
            is NIOHTTP2Errors.ExcessiveEmptyDataFrames, is NIOHTTP2Errors.ExcessiveStreamErrors,
            is NIOHTTP2Errors.ExcessiveNumberOfGlitches:
            "the server sent too many empty HTTP/2 frames"
        case is NIOHTTP2Errors.UnableToParseFrame, is NIOHTTP2Errors.BadClientMagic, is NIOHTTP2Errors.MissingPreface:
            "the server's response is not HTTP/2"
        default: "the server broke the rules of HTTP/2"
        }
    }

    /// Returns an error code's name (RFC 9113, section 7).
    private static func name(of code: HTTP2ErrorCode) -> String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        return names.indices.contains(code.networkCode) ? names[code.networkCode] : "error \(code.networkCode)"
    }
}
