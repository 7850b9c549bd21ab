"""URLs of ground truths, data files, setup and launch. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import answers, data_files, setup

urlpatterns = [
    path("c/<slug:slug>/data/", data_files.data, name="data"),
    path("c/<slug:slug>/data/sample_submission.csv", data_files.sample_submission, name="sample_submission"),
    path("c/<slug:slug>/data.zip", data_files.data_zip, name="data_zip"),
    path("c/<slug:slug>/data/files/<str:name>", data_files.data_file, name="data_file"),
    path("host/new/", setup.host_new, name="host_new"),
    path("host/<slug:slug>/setup/", setup.host_setup, name="host_setup"),
    path("host/<slug:slug>/export.zip", data_files.host_export, name="host_export"),
    path("host/<slug:slug>/truth/", answers.host_truth, name="host_truth"),
    path("host/<slug:slug>/truth/metric/", answers.host_truth_metric, name="host_truth_metric"),
    path("host/<slug:slug>/truth/<int:number>/file/", answers.host_truth_file, name="host_truth_file"),
    path("host/<slug:slug>/data/", data_files.host_data, name="host_data"),
]
