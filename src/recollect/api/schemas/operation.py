"""What belongs to the server and to running it: settings, vector sets, streams, health, problems."""

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, create_model

from recollect.api import examples
from recollect.api.schemas.fields import Answer, Body
from recollect.core.settings import SETTINGS, Setting, Value

_LONGEST_MODEL: Final = 1000


class SettingAnswer(Answer):
    value: Value
    default: Value
    about: str
    least: float | None
    most: float | None
    choices: list[str] | None


_WEIGHT: Final[dict[str, Any]] = {
    "value": 0.2,
    "default": 0.16,
    "about": "weight of the words leg; 0 switches it off",
    "least": 0.0,
    "most": 5.0,
    "choices": None,
}


class SettingsAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"space": examples.CREW, "settings": {"weight.lexical": _WEIGHT}}]}
    )

    space: str | None = Field(description="Where they hold; null for the whole server.")
    settings: dict[str, SettingAnswer]


def _kind_of(setting: Setting) -> Any:  # noqa: ANN401 - a type
    about = f"{setting.about[:1].upper()}{setting.about[1:]}. Default {setting.default}; null goes back to it."
    if setting.choices:
        choices = "|".join(setting.choices)
        return Annotated[str | None, Field(pattern=f"^({choices})$", description=about)]
    kind: Any = int if isinstance(setting.default, int) else float
    return Annotated[kind | None, Field(ge=setting.least, le=setting.most, description=about)]


def _describe_change(schema: dict[str, Any]) -> None:
    for each in schema["properties"].values():
        each.pop("default", None)
    schema["examples"] = [{"weight.lexical": 0.2, "fusion": None}]


class _Change(Body):
    model_config = ConfigDict(json_schema_extra=_describe_change)


SettingsChange = create_model(
    "SettingsChange",
    __base__=_Change,
    __doc__="New values by name; null goes back to the default. What is left out stays as it is.",
    **{
        name.replace(".", "_").replace("-", "_"): (_kind_of(setting), Field(default=None, alias=name))
        for name, setting in SETTINGS.items()
    },  # type: ignore[call-overload] # the fields are made from the settings
)


class ModelName(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"model": examples.OTHER_MODEL}]})

    model: str = Field(min_length=1, max_length=_LONGEST_MODEL, description="An embedding model, in any of its forms.")


class ActiveModel(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"model": examples.MODEL}, {"model": None}]})

    model: Annotated[str, Field(min_length=1, max_length=_LONGEST_MODEL)] | None = Field(
        description="The set that recalls are to use; null to recall by words alone."
    )


_SET: Final[dict[str, Any]] = {
    "model": examples.MODEL,
    "dimension": 768,
    "active": True,
    "vectors": 4980,
    "waiting": 20,
}


class VectorSetAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [_SET]})

    model: str
    dimension: int | None = Field(description="Known once there is a vector.")
    active: bool = Field(description="Whether recalls use it.")
    vectors: int = Field(description="How many there are, as far as you may see.")
    waiting: int = Field(description="How many memories wait for one.")


class VectorSetsAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [{"vector_sets": [_SET]}]})

    vector_sets: list[VectorSetAnswer]


class ImportedAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "dry_run": False,
                    "added": 120,
                    "updated": 3,
                    "unchanged": 0,
                    "links": 14,
                    "problems": ["line 7: It is not a JSON object."],
                    "more_problems": 0,
                }
            ]
        }
    )

    dry_run: bool
    added: int
    updated: int
    unchanged: int
    links: int
    problems: list[str] = Field(description="What was not taken in, and why; the first hundred.")
    more_problems: int = Field(description="How many more there were.")


class HealthAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})

    status: str


class ReadyAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"status": "ready", "schema": "0002", "finds_by": "words and meaning"}]}
    )

    status: str
    schema_: str = Field(alias="schema", description="The revision of the database's schema.")
    finds_by: str = Field(description="`words and meaning`, or `words only` where the database lacks pgvector.")


class Wrong(Answer):
    where: str
    what: str


class Problem(Answer):
    """Problem details, as RFC 9457 has them."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:recollect:not-found",
                    "title": "Not there, or not yours to see",
                    "status": 404,
                    "detail": "There is no memory 0192f0c1-7a4e-7c31-8e6f-0c1d2e3f4a5b: `GET /v1/memories` shows what "
                    "there is.",
                }
            ]
        },
    )

    type: str = Field(description="What kind of problem: `urn:recollect:` and its name.")
    title: str
    status: int
    detail: str = Field(description="What is wrong here, and what to do next.")
    errors: list[Wrong] | None = Field(default=None, description="Only of an invalid request: each thing wrong.")
