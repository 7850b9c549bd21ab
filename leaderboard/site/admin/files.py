"""Admin of data files and baselines, which can be added and removed but not edited."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.boards import services as boards
from leaderboard.competitions.models import Baseline, DataFile
from leaderboard.ground_truths.services import data_files

from .scope import ScopedAdmin


class DataFileAdminForm(forms.ModelForm):  # type: ignore[type-arg]
    file = forms.FileField(help_text="The same name again replaces the earlier file.")

    class Meta:
        model = DataFile
        fields: ClassVar = ["competition", "file", "description"]


class BaselineAdminForm(forms.ModelForm):  # type: ignore[type-arg]
    file = forms.FileField(help_text="A file as a student would hand it in.")

    class Meta:
        model = Baseline
        fields: ClassVar = ["competition", "name", "file"]


class UploadedFileAdmin(ScopedAdmin):
    """Base class for rows with an uploaded file: no changes, deleting removes the file too."""

    shown: tuple[str, ...] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_in_scope(request, obj)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return list(self.shown if obj else self.form.Meta.fields)  # type: ignore[attr-defined]

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Lists only the files: no permission is needed for the scores that are deleted with a baseline."""
        return [str(obj) for obj in objs], {self.opts.verbose_name_plural: len(objs)}, set(), []  # type: ignore[dict-item]

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)


@admin.register(DataFile)
class DataFileAdmin(UploadedFileAdmin):
    form = DataFileAdminForm
    list_display = ("name", "competition", "size", "rows", "added_at")
    list_filter = (("competition", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("competition",)
    shown = ("competition", "name", "description", "size", "rows", "sha256", "added_at")

    def save_model(self, request: HttpRequest, obj: DataFile, form: Any, change: bool) -> None:
        filled = form.cleaned_data
        added = data_files.add_data_file(
            competition=filled["competition"],
            file_name=filled["file"].name,
            chunks=filled["file"].chunks(),
            description=filled["description"],
            user=request.user,  # type: ignore[arg-type]
        )
        obj.__dict__.update(added.__dict__)

    def delete_model(self, request: HttpRequest, obj: DataFile) -> None:
        data_files.remove_data_file(data_file=obj, user=request.user)  # type: ignore[arg-type]


@admin.register(Baseline)
class BaselineAdmin(UploadedFileAdmin):
    form = BaselineAdminForm
    list_display = ("name", "competition", "status", "created_at")
    list_filter = (("competition", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("competition", "submission")
    shown = ("competition", "name", "status", "created_at")

    def save_model(self, request: HttpRequest, obj: Baseline, form: Any, change: bool) -> None:
        filled = form.cleaned_data
        submission = boards.add_baseline(
            competition=filled["competition"],
            user=request.user,  # type: ignore[arg-type]
            name=filled["name"],
            file_name=filled["file"].name,
            chunks=filled["file"].chunks(),
        )
        assert submission.baseline is not None
        obj.__dict__.update(submission.baseline.__dict__)

    def delete_model(self, request: HttpRequest, obj: Baseline) -> None:
        boards.remove_baseline(baseline=obj, user=request.user)  # type: ignore[arg-type]

    @admin.display(description="status")
    def status(self, obj: Baseline) -> str:
        return obj.submission.get_status_display()
