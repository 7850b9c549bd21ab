"""Sign-in at an institution by OpenID Connect, on django-allauth.

django-allauth does not check the signature of an ID token that came directly from the provider, and sends no nonce.
`provider.py` adds both. Modules that need `requests` are imported when somebody signs in, not by every process.
"""
