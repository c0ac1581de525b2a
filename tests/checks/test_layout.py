"""A new engineer finds the right file by guessing."""

from importlib.metadata import packages_distributions

from tests.checks.tree import PACKAGES, ROOT, checked_in_files

README_LINES = 60
SAY_NOTHING = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}


def test_no_file_or_folder_has_a_name_that_says_nothing() -> None:
    files = checked_in_files()
    assert not [str(name) for name in files if SAY_NOTHING & {part.split(".")[0] for part in name.parts}]


def test_init_modules_are_empty() -> None:
    files = checked_in_files("*__init__.py")
    assert not [str(name) for name in files if (ROOT / name).stat().st_size]


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {name.parent for name in checked_in_files("*.py")}
    assert not [str(folder) for folder in folders if not (ROOT / folder / "__init__.py").exists()]


def test_every_top_folder_has_a_readme_of_one_screen() -> None:
    tops = {name.parts[0] for name in checked_in_files() if len(name.parts) > 1 and not name.parts[0].startswith(".")}
    readmes = {top: ROOT / top / "README.md" for top in tops}
    assert not sorted(top for top, readme in readmes.items() if not readme.exists())
    lengths = {top: len(readme.read_text().splitlines()) for top, readme in readmes.items()}
    assert not {top: lines for top, lines in lengths.items() if not 0 < lines <= README_LINES}


def test_licence_and_changelog_are_there() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert "## Unreleased" in (ROOT / "CHANGELOG.md").read_text()


def test_no_other_distribution_provides_our_names() -> None:
    """Our packages have plain names; a dependency that brings the same one would shadow them."""
    providers = packages_distributions()
    assert not {name: providers[name] for name in (*PACKAGES, "tests") if set(providers.get(name, [])) - {"firstlight"}}
