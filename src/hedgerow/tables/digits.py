"""Decimal numbers as people write them."""

from decimal import Decimal


def decimal_text(number: Decimal) -> str:
    """Every digit of a decimal number, without exponent and needless zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
