"""Manager with the reset types of its ActionInfo: sushy 5.14 reads those of systems only."""

from sushy.resources.constants import ResetType
from sushy.resources.manager.manager import Manager


class ResettableManager(Manager):  # type: ignore[misc]  # sushy is untyped
    """DGX H100's BMC allows ForceRestart only, and says so only in the ActionInfo."""

    def get_allowed_reset_manager_values(self) -> set[ResetType]:
        """All types when the BMC names none."""
        allowed = self._get_reset_action_element().get_allowed_values(self)
        return {one for one in ResetType if not allowed or one.value in allowed}
