"""The form of one endpoint's limits: blank inherits, and nothing passes the ceiling (contract A01)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from mcp_server.admin import amounts
from mcp_server.admin.generics import RowForm
from mcp_server.conf import LIMIT_FIELDS, options
from mcp_server.definitions.registry import registry
from mcp_server.models import Limits
from mcp_server.policy.codemode import CODE_POLICIES
from mcp_server.policy.limits import LimitSource, sources_of
from mcp_server.policy.logging import LOG_LEVELS
from mcp_server.policy.rates import Rate

SOURCES: Mapping[str, str | Promise] = {
    "default": _("default"),
    "setting": _("project setting"),
    "row": _("set here"),
    "ceiling": _("held to the ceiling"),
    "pinned": _("pinned by the project"),
}

HELP: Mapping[str, str | Promise] = {
    "memory_limit_mb": _("Above what an empty program takes. Ends the run."),
    "cpu_time_limit_ms": _("Time on the processor; waiting for tools costs none. Ends the run."),
    "wall_time_limit_ms": _("From start to end, tools included. Ends the run."),
    "max_result_bytes": _("A larger result is shortened, and says so."),
    "max_request_bytes": _("Arguments of one call. A larger one fails with 413, and the program goes on."),
    "max_tool_response_bytes": _(
        "What one tool gives to the program. A larger one is shortened, and says so."
    ),
    "max_tool_calls": _("One more call fails with 429, and the program goes on."),
    "max_log_entries": _("Further console lines are counted, not kept."),
    "max_code_bytes": _("A longer program is refused."),
    "max_concurrent_runs": _("In each web process: four processes run four times as many."),
    "max_queue_ms": _("A run that waits longer for a worker is told to come back."),
}

_POLICIES: Mapping[str, str | Promise] = {
    "off": _("off: no code mode"),
    "opt-in": _("opt-in: plain tools, unless the client asks for code"),
    "default": _("default: code, unless the client asks for plain tools"),
    "enforced": _("enforced: the client's wish does not count"),
}
_LEVELS: Mapping[str, str | Promise] = {
    "all": _("all calls and runs"),
    "errors": _("only what failed"),
    "off": _("nothing; runs cannot be watched or stopped then"),
}


@dataclass(frozen=True, slots=True)
class LimitRow:
    """One line of the form's table. `field` is None for those who may not change it."""

    source: LimitSource
    label: Any
    help: Any
    field: Any

    @property
    def value(self) -> str:
        """The value that the next run gets."""
        return amounts.amount(self.source.value, self.source.unit)

    @property
    def unit(self) -> Any:
        """In what it is measured."""
        return amounts.UNITS[self.source.unit]

    @property
    def origin(self) -> Any:
        """Where it comes from."""
        return SOURCES[self.source.source]

    @property
    def default(self) -> str:
        """What holds without setting and row."""
        return amounts.amount(self.source.default, self.source.unit)

    @property
    def ceiling(self) -> str:
        """The most that staff may set."""
        return amounts.amount(self.source.ceiling, self.source.unit)

    @property
    def differs(self) -> bool:
        """Whether the value is another than the default."""
        return self.source.value != self.source.default


class RatesField(forms.CharField):
    """Rates, one a line: `default 60/m`, `send-mail 5/m`."""

    widget = forms.Textarea(attrs={"rows": 4, "cols": 40, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return (
            "\n".join(f"{name} {rate}" for name, rate in value.items()) if isinstance(value, dict) else value
        )

    def to_python(self, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        rates = {}
        for line in filter(None, map(str.strip, (value or "").splitlines())):
            name, _blank, rate = line.partition(" ")
            try:
                Rate.parse(rate)
            except ValueError:
                message = _(
                    "“%(line)s” is not a tool and a rate. Write lines such as “default 60/m” or “send-mail 100/15m”."
                )
                raise forms.ValidationError(message, params={"line": line}, code="rate") from None
            rates[name] = rate.strip().lower()
        return rates

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool((initial or {}) != self.to_python(data))
        except forms.ValidationError:
            return True


class LimitsForm(RowForm):
    """What staff may set for an endpoint."""

    rate_limits = RatesField(
        label=_("rate limits"),
        required=False,
        help_text=_(
            "For each user: one tool a line, “default” for all others. Wins over the project's setting."
        ),
    )
    code_policy = forms.ChoiceField(
        label=_("code mode policy"),
        required=False,
        help_text=_("Whether a client may choose with ?codemode= in the address."),
    )
    log_level = forms.ChoiceField(label=_("log level"), required=False)

    class Meta:
        model = Limits
        exclude = ("endpoint", "changed")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for source in sources_of(self.instance):
            self._limit(source)
        log = options().log
        self._choose("log_level", LOG_LEVELS, _LEVELS, log.level)
        self._choose("code_policy", CODE_POLICIES, _POLICIES, self._declared_policy())
        for name, inherited in (("keep_days", log.keep_days), ("keep_failed_days", log.keep_failed_days)):
            if name in self.fields:
                self.fields[name].widget.attrs.update(placeholder=inherited, min=1)

    def _limit(self, source: LimitSource) -> None:
        # Those who may only look get a form without fields.
        if source.name in self.fields:
            field = self.fields[source.name]
            field.disabled = source.pinned
            field.widget.attrs |= {
                "placeholder": source.inherited,
                "min": source.minimum,
                "max": source.ceiling,
            }

    def _choose(self, name: str, values: tuple[str, ...], labels: Mapping[str, Any], inherited: str) -> None:
        if name in self.fields:
            blank = _("inherited: %(value)s") % {"value": labels.get(inherited, inherited)}
            choices = [("", blank), *((value, labels[value]) for value in values)]
            self.fields[name].choices = choices  # type: ignore[attr-defined]  # both are choice fields

    def _declared_policy(self) -> str:
        found = (item for item in registry.endpoints() if item.name == self.instance.endpoint)
        return next((item.definition.policy for item in found), "off")

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        for source in sources_of(self.instance):
            # What was stored before a ceiling was lowered may stay: it is held to the ceiling anyway.
            if source.name in self.changed_data:
                self._check(source)
        for name in {"keep_days", "keep_failed_days"} & set(self.changed_data):
            if self.cleaned_data.get(name) == 0:
                self.add_error(name, forms.ValidationError(_("At least one day."), code="minimum"))
        return cleaned

    def _check(self, source: LimitSource) -> None:
        value = self.cleaned_data.get(source.name)
        if value is None:
            return
        params = {"minimum": source.minimum, "ceiling": source.ceiling, "unit": amounts.UNITS[source.unit]}
        if value > source.ceiling:
            message = _("At most %(ceiling)s (%(unit)s): a higher value is not allowed in this project.")
            self.add_error(source.name, forms.ValidationError(message, params=params, code="ceiling"))
        elif value < source.minimum:
            message = _("At least %(minimum)s (%(unit)s).")
            self.add_error(source.name, forms.ValidationError(message, params=params, code="minimum"))

    def rows(self) -> Iterator[LimitRow]:
        """Yield a line for each limit, with its effective value, source, default and ceiling."""
        # The stored values: after a failed post the instance holds what was typed.
        stored = Limits.objects.filter(pk=self.instance.pk).first()
        for source in sources_of(stored):
            label = Limits.label(source.name)
            yield LimitRow(
                source, label, HELP[source.name], self[source.name] if source.name in self.fields else None
            )

    def others(self) -> Iterator[Any]:
        """Yield the fields that are no limits."""
        yield from (self[name] for name in self.fields if name not in LIMIT_FIELDS)
