"""What firmware should run: catalogs of what there is for a hardware class, and bundles that choose from them."""
