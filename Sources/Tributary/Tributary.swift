// What `import Tributary` brings: ``TributaryApp``, the engine, and what parsers and records are made of. The targets behind
// it are a chain that the compiler enforces; users need to know one name.
@_exported public import FeedConfiguration
@_exported public import FeedDeclarations
@_exported public import FeedModel
@_exported public import FeedParsing
@_exported public import FeedStore
@_exported public import TributaryEngine
@_exported public import XMLRecords
@_exported public import XMLStream
