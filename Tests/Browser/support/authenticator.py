"""A platform authenticator with PRF, as Chromium's debugger makes it."""


def virtual_authenticator(session, **options):
    """Its id. `session` speaks CDP to the page; `options` replace those of one that works."""
    session.send("WebAuthn.enable")
    added = session.send("WebAuthn.addVirtualAuthenticator", {"options": {
        "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "hasPrf": True, "automaticPresenceSimulation": True, **options}})
    return added["authenticatorId"]
