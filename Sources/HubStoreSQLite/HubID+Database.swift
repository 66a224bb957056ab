import Foundation
public import GRDB
import HubStore
public import WireProtocol

extension HubID: DatabaseValueConvertible {
    /// 16 bytes, half of what the digits take.
    public var databaseValue: DatabaseValue { Data(bytes).databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> HubID? {
        Data.fromDatabaseValue(value).flatMap { HubID(bytes: $0) }
    }
}
