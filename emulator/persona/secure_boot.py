"""UEFI secure boot as a persona has it."""

from emulator.persona.part import Part

DATABASES = ("PK", "KEK", "db", "dbx")


class SecureBootPart(Part):
    """`factory_keys`: the databases hold keys from the start; without them the host is in setup mode."""

    factory_keys: bool = True
    databases: bool = True
    defaults: bool = True  # has PKDefault and the others
    reset_keys: bool = True
