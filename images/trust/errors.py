"""Why something is not trusted."""


class TrustError(Exception):
    """Keys, signatures or versions are not as they have to be; nothing was taken over."""


class MetadataExpiredError(TrustError):
    """Only too old: who has the online keys signs a new timestamp."""
