public import ArgumentParser
public import PushModel

// Words of the rules that are typed as they stand in files.

extension ConversationKind: ExpressibleByArgument {}
extension Device.Kind: ExpressibleByArgument {}
extension Device.State: ExpressibleByArgument {}
