public import HubAPI
public import SealedFormats

// The same 16 bytes, as formats and as messages have them.
extension HubID {
    public init(_ id: ItemID) {
        guard let hubID = HubID(id.description) else { preconditionFailure("an id has 32 hexadecimal digits") }
        self = hubID
    }

    public var item: ItemID {
        guard let item = ItemID(description) else { preconditionFailure("an id has 32 hexadecimal digits") }
        return item
    }
}
