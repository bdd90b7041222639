// What `import Tributary` brings: ``TributaryApp``, the engine, and those types of the store and of records that parsers
// use. The targets behind it are a chain that the compiler enforces; users need to know one name.
@_exported public import FeedConfiguration
@_exported public import FeedDeclarations
@_exported public import FeedModel
@_exported public import FeedStore
@_exported public import TributaryEngine
@_exported public import XMLRecords
@_exported public import XMLStream
