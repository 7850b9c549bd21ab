"""Sign-in at an institution by OpenID Connect, on django-allauth.

django-allauth reads an ID token that came directly from the provider without its signature, and asks for no nonce.
`provider.py` adds both. Modules that need `requests` are imported when somebody signs in, not by every process.
"""
