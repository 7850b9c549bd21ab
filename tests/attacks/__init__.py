"""Every line of the list of attacks has its test here or is named in docs/security.md."""
