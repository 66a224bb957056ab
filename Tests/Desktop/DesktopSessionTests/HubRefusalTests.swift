import Foundation
import Glibc
import HubAPI
import HubStore
import Localization
import SystemTestSupport
import Testing

@testable import DesktopSession

/// A hub writes its refusals in English, and the daemon passes them on to the window.
struct HubRefusalTests {
    private static func refusals(_ code: HubError.Code) -> [HubError] {
        switch code {
        case .badRequest: [.otherRole, .incompleteBlob]
        case .unauthorized: [.unknownToken]
        case .forbidden: [.tooManyHouseholds(3), .fewerDays]
        case .notFound: [.noSuchHousehold, .noSuchDevice, .noSuchInvitation]
        case .conflict: [.deviceExists, .householdExists, .rosterNumber(next: 7)]
        case .gone: [.invitationIsOver, .startIsUsed, .startIsOver, .invitationHasFounded]
        case .tooLarge: [.bodyTooLong(65_536)]
        case .quotaExceeded: [.overQuota(10, limit: 20), .rosterIsFull]
        case .tooMany: [.tooManyInvitations]
        // Only a companion sends PINs.
        case .wrongPIN: []
        case .unavailable: [.storeIsClosed]
        case .failed: [.requestFailed]
        }
    }

    @Test(.requires(.program("msgfmt"))) func theRefusalsOfEveryCodeAreTranslated() async {
        // A process of its own: language and locale are the whole process'.
        await #expect(processExitsWith: .success) {
            setenv("LANGUAGE", "de", 1)
            setenv("LC_ALL", "C.UTF-8", 1)
            GettextCatalogue.install(programs: BuiltProducts.directory.path)
            for code in HubError.Code.allCases {
                for refusal in HubRefusalTests.refusals(code) {
                    #expect(refusal.code == code)
                    #expect(localized(written: refusal.message) != refusal.message)
                }
            }
            #expect(
                localized(written: HubError.tooManyHouseholds(3).message)
                    == "Dieser Hub hat 3 Haushalte; mehr erlaubt sein Betreiber nicht.")
            // As a part of one of the daemon's sentences.
            let token = HubError.unknownToken.message
            let whole = localized(written: "The hub could not be reached (\(token)); its data stays there, sealed.")
            #expect(whole.contains("(\(localized(written: token)))") && !whole.contains("The hub"))
        }
    }
}
