import Foundation
import HeadlessCompanion
import Household
import SealedFormats
import WireProtocol

@testable import DaemonCore

extension HouseholdUnderTest {
    func tell(_ lie: HubLie, to device: Device) async throws {}
}
