"""What callers may send, checked strictly before anything looks at it."""

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, model_validator

Identifier = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
Name = Annotated[str, Path(pattern="^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$")]
DatasetName = Annotated[str, Field(max_length=127)]
"""``owner/name``, or ``name`` alone where that is clear."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _all_text_is_unicode(cls, content: Any) -> Any:
        """JSON can spell half of a character, which no file, database or answer can hold."""
        if not _is_unicode(content):
            raise ValueError("text that is not Unicode, or lists in lists without end")
        return content


def _is_unicode(content: Any, depth: int = 20) -> bool:
    if isinstance(content, str):
        return not any("\ud800" <= char <= "\udfff" for char in content)
    if isinstance(content, dict):
        content = [part for entry in content.items() for part in entry]
    if isinstance(content, list):
        return depth > 0 and all(_is_unicode(part, depth - 1) for part in content)
    return True


class Manifest(_Strict):
    """A table's public facts."""

    name: str = Field(max_length=63)
    rows: int = Field(ge=1, le=1 << 32)
    columns: int = Field(ge=1, le=10_000)
    temporary: bool = False
    schema_: list[dict[str, Any]] = Field(default_factory=list, alias="schema", max_length=10_000)
    rules: dict[str, Any] = Field(default_factory=dict, max_length=20)
    alignment: str = Field(default="", pattern="^(agreed|[0-9a-f]{64})?$")
    keep_days: int = Field(default=0, ge=0, le=36_500)


class RulesRequest(_Strict):
    """An owner's rules for a dataset."""

    rules: dict[str, Any] = Field(max_length=20)


class Finish(_Strict):
    """The checksum of all of a party's shares of a table, and a secret salt for each of its two summands."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    salts: list[str] = Field(min_length=2, max_length=2)


class JobRequest(_Strict):
    """What an analyst asks for. The identifier is chosen by the submitter and the same at all parties."""

    id: str = Field(pattern="^[0-9a-f]{32}$")
    kind: Literal["train", "predict", "probabilities", "evaluate"]
    datasets: list[DatasetName] = Field(default_factory=list, max_length=100)
    combine: Literal["rows", "columns"] = "rows"
    target: str = Field(default="", max_length=200)
    max_depth: int | None = Field(default=None, ge=0, le=62)
    algorithm: Literal["fast", "paper"] = "fast"
    min_samples_split: int = Field(default=2, ge=2, le=1 << 40)
    min_samples_leaf: int | None = Field(default=None, ge=1, le=1 << 40)
    min_rows: int | None = Field(default=None, ge=1, le=1 << 40)
    min_count: int | None = Field(default=None, ge=1, le=1 << 40)
    min_impurity_decrease: str = Field(default="0", pattern=r"^[0-9]{1,12}(\.[0-9]{1,18})?$")
    class_weight: dict[str, int] = Field(default_factory=dict, max_length=1000)
    criterion: Literal["gini", "entropy", "log_loss", "gain_ratio"] = "gini"
    model: str = Field(default="", pattern="^([0-9a-f]{32})?$")
    upload: str = Field(default="", pattern="^([0-9a-f]{32})?$")


class Approval(_Strict):
    """Until when an approval holds, if not for good."""

    days: int | None = Field(default=None, ge=1, le=36_500)


class Identifiers(_Strict):
    """Things that another party asks about."""

    identifiers: list[Annotated[str, Field(pattern="^[0-9a-f]{32}$")]] = Field(max_length=100_000)


class Head(_Strict):
    """How far another party's audit log is."""

    before: int = Field(ge=0, le=1 << 50)
    lines: list[Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(max_length=10_000)
    restored: bool = False


class Start(_Strict):
    """Party 0 starts a job."""

    spec_hash: str = Field(pattern="^[0-9a-f]{64}$")
    attempt: int = Field(ge=1, le=1 << 40)
    key: str = Field(pattern="^[0-9a-f]{64}$")
