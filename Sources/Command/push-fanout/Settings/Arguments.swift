public import ArgumentParser
public import PushModel
public import PushStore

// Words of the rules that are typed as they stand in files.

extension AppSettings.DevicePolicy: ExpressibleByArgument {}
extension ConversationKind: ExpressibleByArgument {}
extension Device.Kind: ExpressibleByArgument {}
extension Device.State: ExpressibleByArgument {}
extension PushPlatform: ExpressibleByArgument {}
extension SenderList: ExpressibleByArgument {}
