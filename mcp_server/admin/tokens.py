"""Tokens: shown once when made, revoked by an action, never edited (contract G05)."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from mcp_server.admin.generics import RowForm
from mcp_server.admin.pages import page_context
from mcp_server.admin.readonly import StyledAdmin
from mcp_server.models import Token


class UserNameField(forms.CharField):
    """A user by name: a list of all users is no help where there are thousands."""

    def prepare_value(self, value: Any) -> Any:
        return value.get_username() if hasattr(value, "get_username") else value

    def clean(self, value: Any) -> Any:
        name = super().clean(value)
        users = get_user_model()
        try:
            return users._default_manager.get_by_natural_key(name)
        except users.DoesNotExist:
            raise forms.ValidationError(_("There is no user of this name."), code="unknown") from None


class OwnNameField(UserNameField):
    """The person's own name, which cannot be changed."""

    def __init__(self, user: Any) -> None:
        super().__init__(
            label=_("user"), disabled=True, initial=user, help_text=_("You can make tokens for yourself.")
        )

    def clean(self, value: Any) -> Any:
        return self.initial


class ScopesField(forms.CharField):
    """Scopes as words."""

    def prepare_value(self, value: Any) -> Any:
        return " ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return sorted(set((value or "").replace(",", " ").split()))


class TokenForm(RowForm):
    """What a person chooses when a token is made."""

    user = UserNameField(label=_("user"), help_text=_("The token can do what this user can do."))
    scopes = ScopesField(
        label=_("scopes"),
        required=False,
        help_text=_("Words that narrow it; blank means all of the user's rights."),
    )

    expires = forms.DateTimeField(
        label=_("expires"),
        required=False,
        widget=forms.DateTimeInput({"type": "datetime-local"}, "%Y-%m-%dT%H:%M"),
    )

    class Meta:
        model = Token
        fields = ("user", "name", "scopes", "expires")


class TokenAdmin(StyledAdmin):
    """The tokens of all users."""

    form = TokenForm
    actions = ("revoke",)
    list_display = ("name", "user", "prefix_shown", "state", "created", "expires", "last_used")
    list_select_related = ("user",)
    search_fields = ("name", "prefix")
    date_hierarchy = None
    show_full_result_count = False

    def get_form(
        self, request: HttpRequest, obj: Token | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if change:
            return forms.modelform_factory(Token, fields=("name",))
        form = super().get_form(request, obj, change, **kwargs)
        if not request.user.is_superuser:
            # A token for another user would lend that user's rights.
            form.base_fields["user"] = OwnNameField(request.user)
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> tuple[str, ...]:
        return (
            ()
            if obj is None
            else ("user", "prefix_shown", "scopes", "state", "created", "expires", "last_used")
        )

    def get_fields(self, request: HttpRequest, obj: Token | None = None) -> tuple[str, ...]:
        return (
            ("user", "name", "scopes", "expires")
            if obj is None
            else ("name", *self.get_readonly_fields(request, obj))
        )

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        if not change:
            request.mcp_plain_text = obj.make_secret()  # type: ignore[attr-defined]  # for the response to this request alone
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Token, post_url_continue: str | None = None) -> Any:
        # Shown in this response and nowhere else: a message would pass through a cookie or the session's table.
        context = {
            **page_context(self, request, _("Token made"), obj),
            "plain_text": request.mcp_plain_text,  # type: ignore[attr-defined]
        }
        response = TemplateResponse(request, "admin/mcp_toolkit/token/made.html", context)
        add_never_cache_headers(response)
        return response

    @admin.action(description=_("Revoke selected tokens"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        """End tokens at once and for ever."""
        tokens = list(queryset.filter(revoked=None))
        Token.objects.filter(pk__in=[token.pk for token in tokens]).revoke()
        for token in tokens:
            self.log_change(request, token, [{"changed": {"fields": [str(_("revoked"))]}}])
        text = ngettext("%d token was revoked.", "%d tokens were revoked.", len(tokens)) % len(tokens)
        self.message_user(request, text, messages.SUCCESS)

    @admin.display(description=_("begins with"), ordering="prefix")
    def prefix_shown(self, obj: Token) -> SafeString:
        """Return what tells the token apart."""
        return format_html("<code>{}…</code>", obj.prefix)

    @admin.display(description=_("state"))
    def state(self, obj: Token) -> SafeString:
        """Return whether the token can be used."""
        if obj.is_usable(timezone.now()):
            return format_html('<span class="mcp-badge mcp-good">{}</span>', _("usable"))
        word = _("revoked") if obj.revoked else _("expired")
        return format_html('<span class="mcp-badge mcp-quiet">{}</span>', word)
