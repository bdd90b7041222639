// `import Tributary` brings ``TributaryApp``, the engine, and the parts of parsers and records. The targets behind it
// form a chain that the compiler enforces; users need only this name.
@_exported public import FeedConfiguration
@_exported public import FeedModel
@_exported public import FeedParsing
@_exported public import FeedStaging
@_exported public import TributaryEngine
@_exported public import TributaryStores
@_exported public import XMLRecords
@_exported public import XMLStream
