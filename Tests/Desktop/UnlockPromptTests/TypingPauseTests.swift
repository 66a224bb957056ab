import Testing

@testable import UnlockPrompt

struct TypingPauseTests {
    private let start = ContinuousClock.now

    @Test func aPromptThatNobodyTypedBeforeIsAnsweredAtOnce() {
        var pause = TypingPause()
        pause.changePrompt(hasText: false, at: start)
        #expect(!pause.isOn(at: start))
        pause.key(at: start)
        pause.changePrompt(hasText: false, at: start + .seconds(1))
        #expect(!pause.isOn(at: start + .seconds(1)))
    }

    @Test func aHalfTypedPasscodeEndsWithASecondWithoutAKey() {
        var pause = TypingPause()
        pause.changePrompt(hasText: true, at: start)
        #expect(pause.isOn(at: start + .milliseconds(999)))
        for tenth in 1...30 { pause.key(at: start + .milliseconds(100 * tenth)) }
        #expect(pause.isOn(at: start + .milliseconds(3_999)))
        #expect(!pause.isOn(at: start + .seconds(4)))
        pause.key(at: start + .seconds(4))
        #expect(!pause.isOn(at: start + .seconds(4)), "the first key of an answer")
    }

    @Test func keysCountAlsoIfTheFieldIsEmpty() {
        var pause = TypingPause()
        pause.key(at: start)
        pause.changePrompt(hasText: false, at: start + .milliseconds(500))
        #expect(pause.isOn(at: start + .milliseconds(500)))
    }

    @Test func anotherPromptAfterAnAnswerIsExpected() {
        var pause = TypingPause()
        pause.key(at: start)
        pause.finishTyping()
        pause.changePrompt(hasText: false, at: start)
        #expect(!pause.isOn(at: start))
    }

    @Test func aThirdPromptDoesNotEndThePause() {
        var pause = TypingPause()
        pause.changePrompt(hasText: true, at: start)
        pause.changePrompt(hasText: false, at: start + .milliseconds(500))
        #expect(pause.isOn(at: start + .milliseconds(999)))
    }
}
