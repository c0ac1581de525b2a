"""Actions of a recorded server whose target is not the one that DSP0266 says."""

from emulator.recording.recording import Recording


def aliases_of(recording: Recording) -> dict[str, str]:
    """For the target of an action, where a standard one would be."""
    found: dict[str, str] = {}
    for path, document in recording:
        actions = document.get("Actions")
        for name, action in actions.items() if isinstance(actions, dict) else ():
            target = action.get("target") if isinstance(action, dict) else None
            standard = f"{path}/Actions/{name.lstrip('#')}"
            if isinstance(target, str) and name.startswith("#") and target.rstrip("/") != standard:
                found[target.rstrip("/")] = standard
    return found
