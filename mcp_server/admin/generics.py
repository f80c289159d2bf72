"""Django's classes as the type checker knows them; at run time they take no parameters."""

from typing import TYPE_CHECKING, Any

from django.contrib.admin import ModelAdmin
from django.core.paginator import Paginator
from django.forms import ModelForm

if TYPE_CHECKING:
    RowAdmin = ModelAdmin[Any]
    RowForm = ModelForm[Any]
    RowPaginator = Paginator[Any]
else:
    RowAdmin, RowForm, RowPaginator = ModelAdmin, ModelForm, Paginator
