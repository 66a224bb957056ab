"""The companion's core with a real hub and a real computer, without its screens."""

import javascript


def test_the_companions_core_works_with_a_real_hub_and_computer(new_context, computer):
    """Runs Tests/JavaScript/scenario.test.js: each step needs those before it, so the first failure ends it."""
    computer.open_vault()
    context = new_context()
    scenario = javascript.Page(context, f"http://127.0.0.1:{computer.port}", "scenario")
    scenario.page.expose_function("computer", computer.run_command)
    scenario.page.expose_function("offline", context.set_offline)
    for step in javascript.names("scenario"):
        scenario.run(step)
