"""Who is asking something of a party."""

from dataclasses import dataclass

from .refusal import Forbidden


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a certificate says is calling: a member with roles, or a party."""

    name: str
    roles: tuple[str, ...]
    party: int | None = None

    def need(self, *roles: str) -> None:
        """Refuse callers without one of the roles."""
        if not set(roles) & set(self.roles):
            raise Forbidden(f"this needs a certificate with the role {' or '.join(roles)}")
