"""What the holder of a token may do."""

from enum import StrEnum


class Role(StrEnum):
    """One role per token; what each may do is in the routes."""

    TECHNICIAN = "technician"
    IMAGE_OWNER = "image-owner"
    APPROVER = "approver"
    OPERATOR = "operator"
    ADMIN = "admin"
