"""Made-up tables that come with the package, to try things on."""
