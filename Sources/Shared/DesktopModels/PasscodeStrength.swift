import Localization
import Policy

/// How hard a new passcode is to guess, as a person sees it while typing.
public struct PasscodeStrength: Equatable, Sendable {
    /// 0 to 1.
    public var fraction: Double
    /// One sentence.
    public var sentence: String
    /// Whether AppLocker accepts it.
    public var isAccepted: Bool

    public init(_ passcode: String) {
        let length = passcode.count
        switch PasscodeRules.check(passcode) {
        case .tooShort where passcode.isEmpty:
            (fraction, isAccepted) = (0, false)
            sentence = localized("Use 4 characters or more. Longer is better.")
        case .tooShort: (fraction, sentence, isAccepted) = (0.1, localized("Use 4 characters or more."), false)
        case .notText:
            (fraction, sentence, isAccepted) = (0, localized("It contains a character that can't be typed."), false)
        case .weak(let reason):
            (fraction, isAccepted) = (0.25, true)
            sentence = localized("Easy to guess.") + " " + localized(written: reason)
        case .fine where length < 8:
            (fraction, sentence, isAccepted) = (0.5, localized("Good against a person at the keyboard."), true)
        case .fine where length < 12: (fraction, sentence, isAccepted) = (0.75, localized("Strong."), true)
        case .fine: (fraction, sentence, isAccepted) = (1, localized("Very strong."), true)
        }
    }
}
