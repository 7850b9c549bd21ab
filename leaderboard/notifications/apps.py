"""App configuration: registers the hooks of notifications with the apps below."""

from __future__ import annotations

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "leaderboard.notifications"

    def ready(self) -> None:
        from leaderboard.accounts import hooks as accounts
        from leaderboard.common import outbox
        from leaderboard.competitions import hooks

        from . import host_events, notices, personal_data, tasks

        accounts.viewer_facts.append(notices.viewer_facts)
        accounts.export.append(personal_data.export)
        accounts.forget.append(personal_data.forget)
        hooks.deadline_changed.append(host_events.notify_deadline_change)
        hooks.paused.append(host_events.notify_pause)
        hooks.resumed.append(host_events.notify_resume)
        hooks.submission_hidden.append(host_events.notify_submission_hidden)
        hooks.submission_shown.append(host_events.notify_submission_shown)
        hooks.scored_again.append(host_events.notify_scored_again)
        hooks.rescored.append(host_events.notify_rescored)
        hooks.scoring_failed.append(host_events.notify_hosts_of_failure)
        hooks.due_tasks.append(tasks.find_due)
        outbox.email_queued.append(tasks.wake_email_sender)
