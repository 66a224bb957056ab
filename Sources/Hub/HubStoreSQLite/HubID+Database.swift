import Foundation
public import GRDB
public import HubAPI
import HubStore

extension HubID: DatabaseValueConvertible {
    /// 16 bytes, half the length of the digits.
    public var databaseValue: DatabaseValue { Data(bytes).databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> HubID? {
        Data.fromDatabaseValue(value).flatMap { HubID(bytes: $0) }
    }
}
