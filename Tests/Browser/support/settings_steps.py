"""What the tests of the settings have in common."""


def page_of(phone, name, heading):
    """A page of the settings, such as "gate" or "everline/copy", built anew."""
    phone.go("home", "Home")
    phone.go(f"settings/{name}", heading)
    return phone.page
