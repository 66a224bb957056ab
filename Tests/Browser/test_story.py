"""The companion's core beside a real hub and a real computer, without its screens."""

import javascript


def test_a_phone_beside_a_real_computer_and_hub(new_context, computer):
    """One story, Tests/JavaScript/story.test.js: each step stands on those before it, and the first that fails is the last."""
    computer.open_vault()
    context = new_context()
    story = javascript.Page(context, f"http://127.0.0.1:{computer.port}", "story")
    story.page.expose_function("computer", computer.asked)
    story.page.expose_function("offline", context.set_offline)
    for step in javascript.names("story"):
        story.run(step)
