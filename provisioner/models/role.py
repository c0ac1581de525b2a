"""What the holder of a token may do."""

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """One role per token; what each may do is in the routes."""

    TECHNICIAN = "technician"
    IMAGE_OWNER = "image-owner"
    APPROVER = "approver"
    OPERATOR = "operator"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a machine's token may be narrowed to: it may read, and do these, and nothing else."""

    BUILD = "build"
    PROMOTE_REQUEST = "promote.request"
    PROMOTE_APPROVE = "promote.approve"
    ROLLOUT_OPERATE = "rollout.operate"
    EMERGENCY_STOP = "emergency.stop"


SCOPES_OF: Mapping[Role, frozenset[Scope]] = {
    Role.TECHNICIAN: frozenset({Scope.EMERGENCY_STOP}),
    Role.IMAGE_OWNER: frozenset({Scope.BUILD, Scope.PROMOTE_REQUEST}),
    Role.APPROVER: frozenset({Scope.PROMOTE_APPROVE}),
    Role.OPERATOR: frozenset(
        {Scope.PROMOTE_REQUEST, Scope.PROMOTE_APPROVE, Scope.ROLLOUT_OPERATE, Scope.EMERGENCY_STOP}
    ),
    Role.ADMIN: frozenset(Scope),
}
"""Stopping is easy, starting is not."""
