import XMLStream

/// The single value at a place.
struct ElementValueContainer: SingleValueDecodingContainer {
    let session: DecodingSession
    let place: ElementPlace
    /// The element that the field belongs to.
    let node: Int32
    let field: FieldLayout

    var codingPath: [any CodingKey] { field === session.root ? [] : [ElementKey(field.key)] }

    func decodeNil() -> Bool { !place.exists || session.tree.isEmpty(place) }

    @inline(__always)
    private func value<Value: XMLConvertible>() throws -> Value {
        try session.value(Value.self, at: place, in: node, for: field)
    }

    func decode(_ type: Bool.Type) throws -> Bool { try value() }
    func decode(_ type: String.Type) throws -> String { try value() }
    func decode(_ type: Double.Type) throws -> Double { try value() }
    func decode(_ type: Float.Type) throws -> Float { try value() }
    func decode(_ type: Int.Type) throws -> Int { try value() }
    func decode(_ type: Int8.Type) throws -> Int8 { try value() }
    func decode(_ type: Int16.Type) throws -> Int16 { try value() }
    func decode(_ type: Int32.Type) throws -> Int32 { try value() }
    func decode(_ type: Int64.Type) throws -> Int64 { try value() }
    func decode(_ type: UInt.Type) throws -> UInt { try value() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try session.decode(type, at: place, in: node, for: field)
    }
}
