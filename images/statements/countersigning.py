"""A second release manager signs what a first one has said of an image."""

from images.digest import Digest
from images.oci.index import change_index
from images.oci.published import image_entry, publish_statement, statements_in
from images.statements.envelope import countersign
from images.statements.of_image import Refused, statements_of
from images.statements.statement import StatementError
from images.store import ArtefactStore
from images.trust.keys import Keyholders, Signer


def countersign_all(store: ArtefactStore, image: Digest, holders: Keyholders, signer: Signer) -> tuple[Refused, ...]:
    """Add the signature of `signer` to all about the image that lacks signatures and not this one; what that was.

    What has the new signature takes the place of what had not. Raises StatementError when the key is not one of
    `holders`, and what reading the store raises.
    """
    if signer.public_key.keyid not in {key.keyid for key in holders.keys}:
        raise StatementError("this key is not one of those that count here: use one of the targets keys")
    entry = image_entry(store, image)
    _, refused = statements_of(store, holders, image)
    lacking = tuple(
        one
        for one in refused
        if one.claims and one.claims.is_about(image) and one.signers and signer.public_key.keyid not in one.signers
    )
    manifests = {one.envelope: one.digest for one in statements_in(store) if one.subject == image}
    for one in lacking:
        publish_statement(store, entry, countersign(store.path(one.envelope).read_bytes(), signer))
        with store.lock(alone=True):
            change_index(store, remove=[manifests[one.envelope]])
    return lacking
