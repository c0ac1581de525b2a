"""Secrets that are opened when they are needed."""

import pytest

from provisioner.errors import BadInput
from provisioner.models.secret import Secret


def test_a_sealed_secret_is_opened_once_and_only_when_it_is_needed() -> None:
    opened: list[str] = []

    def opener() -> str:
        opened.append("once")
        return "hunter2"

    secret = Secret.sealed(opener)
    assert f"{secret} {secret!r} {[secret]}" == "*** *** [***]"
    assert opened == []
    assert secret.reveal() == secret.reveal() == "hunter2"
    assert opened == ["once"]


def test_a_sealed_secret_is_the_same_as_an_open_one() -> None:
    assert Secret.sealed(lambda: "one") == Secret("one")
    assert Secret("one") == Secret.sealed(lambda: "one")
    assert Secret.sealed(lambda: "one") != Secret("other")
    assert {Secret.sealed(lambda: "one"), Secret("one")} == {Secret("one")}


def test_a_secret_that_no_key_fits_says_so_when_it_is_needed() -> None:
    def opener() -> str:
        raise BadInput("secret.key: no key in this file fits")

    secret = Secret.sealed(opener)
    for _ in range(2):
        with pytest.raises(BadInput, match=r"secret\.key"):
            secret.reveal()
