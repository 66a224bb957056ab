"""The companion's core with a real hub and a real computer, without its screens."""

import javascript


def test_a_phone_beside_a_real_computer_and_hub(new_context, computer):
    """One story, Tests/JavaScript/story.test.js: each step needs those before it, so the first failure ends it."""
    computer.open_vault()
    context = new_context()
    story = javascript.Page(context, f"http://127.0.0.1:{computer.port}", "story")
    story.page.expose_function("computer", computer.asked)
    story.page.expose_function("offline", context.set_offline)
    for step in javascript.names("story"):
        story.run(step)
