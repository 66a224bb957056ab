"""Steps of the tests of the settings."""


def page_of(phone, name, heading):
    """Opens a page of the settings, such as "unlock" or "everline/copy", and draws it again."""
    phone.go("home", "Home")
    phone.go(f"settings/{name}", heading)
    return phone.page
