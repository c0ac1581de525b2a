"""What a task has to say, as data; the words are those of the message registries."""

from dataclasses import dataclass

from emulator.message_registry import find_message


@dataclass(frozen=True, slots=True)
class Note:
    """One message. `message_id` is a message of the Base registry unless it names another one."""

    message_id: str
    text: str
    arguments: tuple[str, ...] = ()
    severity: str = "OK"
    related: tuple[str, ...] = ()
    """RelatedProperties: JSON pointers into the request."""


def update_note(key: str, *arguments: str, related: tuple[str, ...] = ()) -> Note:
    """A message of DMTF's Update registry. Raises KeyError for no such key."""
    message_id, message = find_message(f"Update.{key}")
    return Note(message_id, message.filled(arguments), arguments, message.severity, related)
