import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import django.utils.timezone
import leaderboard.models.competition
import leaderboard.models.team
import leaderboard.models.zones
import uuid
from importlib import import_module

from django.conf import settings
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

guards = import_module("leaderboard.migrations.0005_audit_trail")


class CreateTogether(Operation):
    """Models that refer to each other in any order; Django pictures all of them once instead of after each."""

    def __init__(self, models):
        self.models = models

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for model in self._own(app_label, schema_editor, to_state):
            schema_editor.create_model(model)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for model in reversed(self._own(app_label, schema_editor, from_state)):
            schema_editor.delete_model(model)

    def describe(self):
        return f"Create {len(self.models)} models"

    def _own(self, app_label, schema_editor, state):
        found = [state.apps.get_model(app_label, model.name) for model in self.models]
        return [model for model in found if self.allow_migrate_model(schema_editor.connection.alias, model)]


class Migration(migrations.Migration):
    """All tables at once, for a site that begins here: step by step most of them would be rewritten many times.

    A site that grew takes the steps that it lacks. Both ways lead to the very same tables
    (`tests/faults/test_new_and_grown.py`), and whatever comes later follows on both.
    """

    replaces = [
        ('leaderboard', '0001_initial'),
        ('leaderboard', '0002_uncertainty'),
        ('leaderboard', '0003_truth_draft_group_column'),
        ('leaderboard', '0004_told_to_host'),
        ('leaderboard', '0005_audit_trail'),
        ('leaderboard', '0006_board_modes'),
        ('leaderboard', '0007_watching'),
        ('leaderboard', '0008_secondary_metrics'),
        ('leaderboard', '0009_cage_test'),
        ('leaderboard', '0010_worker_counts'),
        ('leaderboard', '0011_grants'),
        ('leaderboard', '0012_notices'),
        ('leaderboard', '0013_announcements'),
        ('leaderboard', '0014_grades'),
        ('leaderboard', '0015_after_the_end'),
        ('leaderboard', '0016_way_to_the_launch'),
        ('leaderboard', '0017_calendar_address'),
        ('leaderboard', '0018_people'),
        ('leaderboard', '0019_team_merges'),
        ('leaderboard', '0020_announcements_to_sections'),
        ('leaderboard', '0021_rehearsal'),
        ('leaderboard', '0022_token_scope'),
        ('leaderboard', '0023_webhooks'),
        ('leaderboard', '0024_invitations_by_mail'),
        ('leaderboard', '0025_role_invitations'),
        ('leaderboard', '0026_language_of_a_person'),
        ('leaderboard', '0027_proposed_steps'),
        ('leaderboard', '0028_roster_lists'),
        ('leaderboard', '0029_medal_zones'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='SetupLink',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('used_at', models.DateTimeField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name='User',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                    ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                    ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                    ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                    ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                    ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                    ('email', models.EmailField(blank=True, max_length=254, verbose_name='e-mail address')),
                    ('can_host', models.BooleanField(default=False, verbose_name='may host competitions')),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                    ('has_shortcuts', models.BooleanField(default=True, verbose_name='keyboard shortcuts')),
                    ('zone', models.CharField(blank=True, default='', max_length=60, validators=[leaderboard.models.zones.check_zone], verbose_name='time zone')),
                    ('language', models.CharField(blank=True, default='', max_length=16)),
                ],
                options={
                    'verbose_name': 'user',
                    'verbose_name_plural': 'users',
                    'abstract': False,
                    'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('username'), name='user_name_once_whatever_case'), models.UniqueConstraint(django.db.models.functions.text.Lower('email'), condition=models.Q(('email', ''), _negated=True), name='user_email_once_whatever_case')],
                },
                managers=[
                    ('objects', django.contrib.auth.models.UserManager()),
                ],
            ),
            migrations.CreateModel(
                name='ApiToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                    ('hint', models.CharField(editable=False, max_length=12)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                    ('scope', models.CharField(choices=[('read', 'Read only'), ('submit', 'Hand in files'), ('host', 'Host competitions')], default='submit', max_length=10)),
                ],
                options={
                    'ordering': ['-created_at'],
                },
            ),
            migrations.CreateModel(
                name='Competition',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slug', models.SlugField(max_length=60, unique=True)),
                    ('title', models.CharField(max_length=120)),
                    ('subtitle', models.CharField(blank=True, max_length=200)),
                    ('course', models.CharField(blank=True, help_text='For example “STAT 451 · Prof. Rivera”.', max_length=120)),
                    ('overview', models.TextField(blank=True, help_text='Markdown.')),
                    ('rules', models.TextField(blank=True, help_text='Markdown. Students accept it before they see the data.')),
                    ('rules_version', models.PositiveIntegerField(default=1, editable=False)),
                    ('contact', models.CharField(blank=True, help_text='Whom students ask.', max_length=200)),
                    ('is_listed', models.BooleanField(default=False, help_text='Everybody sees it on the front page; otherwise only members do.', verbose_name='listed')),
                    ('join_code', models.CharField(default=leaderboard.models.competition.new_join_code, max_length=20, unique=True)),
                    ('needs_code', models.BooleanField(default=True, help_text='Joining needs the code or an invitation.')),
                    ('opens_at', models.DateTimeField()),
                    ('closes_at', models.DateTimeField()),
                    ('zone', models.CharField(default='UTC', max_length=60, validators=[leaderboard.models.zones.check_zone], verbose_name='time zone')),
                    ('launched_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('revealed_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('reveals_itself', models.BooleanField(default=True, help_text='Open the private board by itself after the deadline.', verbose_name='reveal at the deadline')),
                    ('daily_attempts', models.PositiveIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)])),
                    ('final_count', models.PositiveIntegerField(default=2, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(20)], verbose_name='final picks')),
                    ('team_size', models.PositiveIntegerField(default=4, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(50)])),
                    ('max_bytes', models.PositiveBigIntegerField(default=52428800, validators=[django.core.validators.MinValueValidator(1024)], verbose_name='largest file in bytes')),
                    ('allows_late', models.BooleanField(default=False, help_text='Scored after the deadline, never ranked.', verbose_name='late submissions')),
                    ('board_version', models.PositiveBigIntegerField(default=0, editable=False)),
                    ('is_demo', models.BooleanField(default=False, editable=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('hosts', models.ManyToManyField(blank=True, related_name='hosted_competitions', to=settings.AUTH_USER_MODEL)),
                    ('candidate', models.ForeignKey(blank=True, editable=False, help_text='Published and being measured; the board stays on the current one until the host applies it.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.groundtruth')),
                    ('ground_truth', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.groundtruth')),
                    ('board_mode', models.CharField(choices=[('plain', 'Plain: all digits of every score'), ('steady', 'Steady: a score moves only when a file is clearly better'), ('hidden', 'Hidden: no scores and no ranks until the private board opens')], default='plain', max_length=6, verbose_name='public board')),
                    ('board_step', models.FloatField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1e-15), django.core.validators.MaxValueValidator(1000000000000000.0)], verbose_name='step')),
                    ('pause_reason', models.CharField(blank=True, editable=False, max_length=300)),
                    ('paused_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('launches_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('launch_asked_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('launch_trouble', models.JSONField(blank=True, default=list, editable=False)),
                    ('admission', models.CharField(choices=[('code', 'Everybody who has the code'), ('roster', 'Only who is on the roster'), ('addresses', 'Only who has an e-mail address from the list below')], default='code', max_length=9, verbose_name='who may join')),
                    ('allowed_addresses', models.TextField(blank=True, help_text='One per line: an address, or a domain such as @uni.example, which lets in everybody there.', max_length=20000, verbose_name='allowed addresses')),
                    ('assistants', models.ManyToManyField(blank=True, related_name='assisted_competitions', to=settings.AUTH_USER_MODEL)),
                    ('assistants_grade', models.BooleanField(default=False, verbose_name='assistants may export grades')),
                    ('uses_pseudonyms', models.BooleanField(default=False, help_text='Teams see made-up names of each other. You, your assistants and the team itself see its own name.', verbose_name='pseudonyms')),
                    ('teams_close_at', models.DateTimeField(blank=True, null=True, verbose_name='teams stay from')),
                    ('embed_sites', models.CharField(blank=True, max_length=500, verbose_name='embedded on')),
                    ('rehearsed_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('has_proposed_limits', models.BooleanField(default=False, editable=False)),
                    ('has_proposed_entry', models.BooleanField(default=False, editable=False)),
                    ('has_medal_zones', models.BooleanField(default=False, verbose_name='medal zones')),
                ],
                options={
                    'ordering': ['-opens_at', 'slug'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('opens_at__lt', models.F('closes_at'))), name='competition_opens_before_it_closes', violation_error_message='The competition must open before it closes.'), models.CheckConstraint(condition=models.Q(('launched_at__isnull', True), ('ground_truth__isnull', False), _connector='OR'), name='competition_launched_with_a_ground_truth'), models.CheckConstraint(condition=models.Q(('revealed_at__isnull', True), ('launched_at__isnull', False), _connector='OR'), name='competition_revealed_after_launch'), models.CheckConstraint(condition=models.Q(('daily_attempts__gte', 1), ('final_count__gte', 1), ('max_bytes__gte', 1), ('team_size__gte', 1)), name='competition_limits_are_positive'), models.CheckConstraint(condition=models.Q(('board_mode__in', ['plain', 'steady', 'hidden'])), name='competition_board_mode_known'), models.CheckConstraint(condition=models.Q(('board_step__isnull', True), ('board_step__gt', 0), _connector='OR'), name='competition_step_is_positive'), models.CheckConstraint(condition=models.Q(('paused_at__isnull', True), models.Q(('pause_reason', ''), _negated=True), _connector='OR'), name='a_pause_says_why'), models.CheckConstraint(condition=models.Q(('admission__in', ['code', 'roster', 'addresses'])), name='competition_admission_known'), models.CheckConstraint(condition=models.Q(('launched_at__isnull', True), ('rehearsed_at__isnull', True), _connector='OR'), name='competition_launched_without_a_rehearsal')],
                },
            ),
            migrations.CreateModel(
                name='Baseline',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='baselines', to='leaderboard.competition')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('competition', 'name'), name='baseline_name_once')],
                },
            ),
            migrations.CreateModel(
                name='DataFile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('description', models.CharField(blank=True, max_length=300)),
                    ('file_key', models.CharField(max_length=200)),
                    ('sha256', models.CharField(max_length=64)),
                    ('size', models.PositiveBigIntegerField()),
                    ('rows', models.PositiveIntegerField(null=True)),
                    ('head', models.JSONField(default=list)),
                    ('added_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='data_files', to='leaderboard.competition')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('competition', 'name'), name='data_file_name_once')],
                },
            ),
            migrations.CreateModel(
                name='GroundTruth',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('file_key', models.CharField(max_length=200)),
                    ('file_name', models.CharField(max_length=200)),
                    ('sha256', models.CharField(max_length=64)),
                    ('metric', models.CharField(max_length=60)),
                    ('metric_version', models.CharField(max_length=64)),
                    ('params', models.JSONField(default=dict)),
                    ('id_column', models.CharField(max_length=200)),
                    ('submission_columns', models.JSONField(default=list)),
                    ('rows', models.PositiveIntegerField()),
                    ('public_rows', models.PositiveIntegerField()),
                    ('private_rows', models.PositiveIntegerField()),
                    ('ignored_rows', models.PositiveIntegerField(default=0)),
                    ('findings', models.JSONField(default=list)),
                    ('note', models.CharField(blank=True, max_length=300)),
                    ('published_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ground_truths', to='leaderboard.competition')),
                    ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('step', models.FloatField(null=True)),
                    ('secondary', models.JSONField(default=list)),
                ],
                options={
                    'ordering': ['competition', 'number'],
                    'constraints': [models.UniqueConstraint(fields=('competition', 'number'), name='ground_truth_number_once'), models.CheckConstraint(condition=models.Q(('rows', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('public_rows'), '+', models.F('private_rows')), '+', models.F('ignored_rows')))), name='ground_truth_rows_add_up'), models.CheckConstraint(condition=models.Q(('private_rows__gte', 1), ('public_rows__gte', 1)), name='ground_truth_has_both_splits')],
                },
            ),
            migrations.CreateModel(
                name='Submission',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('note', models.CharField(blank=True, max_length=300)),
                    ('file_name', models.CharField(max_length=200)),
                    ('file_key', models.CharField(max_length=200)),
                    ('sha256', models.CharField(max_length=64)),
                    ('size', models.PositiveBigIntegerField()),
                    ('received_at', models.DateTimeField(editable=False)),
                    ('is_late', models.BooleanField(default=False)),
                    ('upload_key', models.CharField(editable=False, max_length=64)),
                    ('is_selected', models.BooleanField(default=False, verbose_name='final pick')),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('scored', 'Scored'), ('invalid', 'Invalid'), ('failed', 'Failed')], default='pending', max_length=10)),
                    ('problems', models.JSONField(default=list)),
                    ('failure', models.CharField(blank=True, max_length=500)),
                    ('claim', models.UUIDField(editable=False, null=True)),
                    ('lease_until', models.DateTimeField(editable=False, null=True)),
                    ('tries', models.PositiveSmallIntegerField(default=0, editable=False)),
                    ('finished_at', models.DateTimeField(editable=False, null=True)),
                    ('baseline', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='submission', to='leaderboard.baseline')),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='leaderboard.competition')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='submissions', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='leaderboard.team')),
                    ('told_to_host', models.TextField(blank=True)),
                    ('deaths', models.PositiveSmallIntegerField(default=0, editable=False)),
                    ('hidden_at', models.DateTimeField(editable=False, null=True)),
                    ('hidden_reason', models.CharField(blank=True, editable=False, max_length=300)),
                ],
                options={
                    'ordering': ['-received_at'],
                    'indexes': [models.Index(fields=['team', '-received_at'], name='submission_by_team'), models.Index(condition=models.Q(('status', 'pending')), fields=['received_at'], name='submission_waiting'), models.Index(fields=['competition', '-received_at'], name='submission_by_competition'), models.Index(fields=['status', 'competition', 'received_at'], name='submission_in_turn'), models.Index(fields=['lease_until'], name='submission_in_hand')],
                    'constraints': [models.UniqueConstraint(fields=('competition', 'upload_key'), name='an_upload_is_stored_once'), models.CheckConstraint(condition=models.Q(('team__isnull', True), ('baseline__isnull', True), _connector='XOR'), name='submission_of_a_team_or_a_baseline'), models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'scored', 'invalid', 'failed'])), name='submission_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('status', 'pending')), models.Q(models.Q(('status', 'pending'), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='submission_final_has_a_time'), models.CheckConstraint(condition=models.Q(('tries__lte', 5)), name='submission_tries_at_most_five'), models.CheckConstraint(condition=models.Q(('is_selected', False), ('is_late', False), _connector='OR'), name='only_a_ranked_file_is_selected'), models.CheckConstraint(condition=models.Q(('hidden_at__isnull', True), models.Q(('hidden_reason', ''), _negated=True), _connector='OR'), name='a_hidden_file_says_why')],
                },
            ),
            migrations.CreateModel(
                name='Score',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('split', models.CharField(choices=[('public', 'Public'), ('private', 'Private')], max_length=7)),
                    ('value', models.FloatField()),
                    ('parts', models.JSONField(default=dict)),
                    ('ground_truth', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='leaderboard.groundtruth')),
                    ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='leaderboard.submission')),
                    ('measured_at', models.DateTimeField(editable=False, null=True)),
                    ('instrument', models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.instrument')),
                    ('secondary', models.JSONField(default=list)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('submission', 'ground_truth', 'split'), name='score_once_per_submission_ruler_and_split'), models.CheckConstraint(condition=models.Q(('value__gte', -1.7976931348623157e+308), ('value__lte', 1.7976931348623157e+308)), name='score_is_finite'), models.CheckConstraint(condition=models.Q(('split__in', ['public', 'private'])), name='score_split_known')],
                },
            ),
            migrations.CreateModel(
                name='Refusal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('problems', models.JSONField(default=list)),
                    ('ground_truth', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refusals', to='leaderboard.groundtruth')),
                    ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refusals', to='leaderboard.submission')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('submission', 'ground_truth'), name='one_refusal_per_ruler')],
                },
            ),
            migrations.CreateModel(
                name='Team',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('invitation', models.CharField(default=leaderboard.models.team.new_invitation, max_length=40, unique=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('captain', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='teams', to='leaderboard.competition')),
                    ('disqualified_at', models.DateTimeField(editable=False, null=True)),
                    ('disqualified_reason', models.CharField(blank=True, editable=False, max_length=300)),
                    ('forgiven_at', models.DateTimeField(editable=False, null=True)),
                    ('pseudonym', models.CharField(blank=True, editable=False, max_length=60)),
                    ('is_rehearsal', models.BooleanField(default=False, editable=False)),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(models.F('competition'), django.db.models.functions.text.Lower('name'), name='team_name_once_per_competition'), models.CheckConstraint(condition=models.Q(('disqualified_at__isnull', True), models.Q(('disqualified_reason', ''), _negated=True), _connector='OR'), name='a_disqualified_team_reads_why'), models.UniqueConstraint(condition=models.Q(('pseudonym', ''), _negated=True), fields=('competition', 'pseudonym'), name='team_pseudonym_once')],
                },
            ),
            migrations.CreateModel(
                name='Standing',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('split', models.CharField(choices=[('public', 'Public'), ('private', 'Private')], max_length=7)),
                    ('value', models.FloatField()),
                    ('sort_key', models.FloatField()),
                    ('received_at', models.DateTimeField()),
                    ('is_picked_by_system', models.BooleanField(default=False)),
                    ('ground_truth', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='leaderboard.groundtruth')),
                    ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.submission')),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='leaderboard.team')),
                ],
                options={
                    'indexes': [models.Index(fields=['ground_truth', 'split', 'sort_key', 'received_at'], name='standing_board_order')],
                    'constraints': [models.UniqueConstraint(fields=('ground_truth', 'team', 'split'), name='one_standing_per_team')],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rules_version', models.PositiveIntegerField(default=0)),
                    ('rules_accepted_at', models.DateTimeField(null=True)),
                    ('joined_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='leaderboard.competition')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='leaderboard.team')),
                ],
                options={
                    'ordering': ['joined_at'],
                    'constraints': [models.UniqueConstraint(fields=('competition', 'user'), name='one_team_per_user_and_competition')],
                },
            ),
            migrations.CreateModel(
                name='DailyAttempts',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('day', models.DateField()),
                    ('used', models.PositiveIntegerField(default=0)),
                    ('refused', models.PositiveIntegerField(default=0)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='daily_attempts', to='leaderboard.team')),
                    ('carried', models.PositiveIntegerField(default=0)),
                    ('limit', models.PositiveIntegerField(default=0)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('team', 'day'), name='one_count_per_team_and_day'), models.CheckConstraint(condition=models.Q(('refused__gte', 0), ('used__gte', 0)), name='attempts_not_negative')],
                },
            ),
            migrations.CreateModel(
                name='TruthDraft',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file_key', models.CharField(max_length=200)),
                    ('file_name', models.CharField(max_length=200)),
                    ('metric', models.CharField(max_length=60)),
                    ('params', models.JSONField(default=dict)),
                    ('id_column', models.CharField(blank=True, max_length=200)),
                    ('public_share', models.FloatField(default=0.3)),
                    ('seed', models.PositiveIntegerField(default=0)),
                    ('is_stratified', models.BooleanField(default=True)),
                    ('report', models.JSONField(default=dict)),
                    ('uploaded_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='truth_draft', to='leaderboard.competition')),
                    ('group_column', models.CharField(blank=True, default='', max_length=200)),
                    ('secondary', models.JSONField(default=list)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('public_share__gt', 0), ('public_share__lt', 1)), name='truth_draft_share_between_0_and_1')],
                },
            ),
            migrations.CreateModel(
                name='Uncertainty',
                fields=[
                    ('score', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='uncertainty', serialize=False, to='leaderboard.score')),
                    ('standard_error', models.FloatField(null=True)),
                    ('low', models.FloatField(null=True)),
                    ('high', models.FloatField(null=True)),
                    ('replicates', models.BinaryField()),
                ],
            ),
            migrations.CreateModel(
                name='AuditEntry',
                fields=[
                    ('number', models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                    ('at', models.DateTimeField()),
                    ('by', models.PositiveBigIntegerField(null=True, verbose_name='account')),
                    ('deed', models.CharField(max_length=40)),
                    ('competition', models.PositiveBigIntegerField(null=True)),
                    ('account', models.PositiveBigIntegerField(null=True, verbose_name='account it is about')),
                    ('about', models.CharField(blank=True, max_length=200)),
                    ('before', models.TextField(default='{}')),
                    ('after', models.TextField(default='{}')),
                    ('previous', models.CharField(blank=True, max_length=64)),
                    ('digest', models.CharField(max_length=64)),
                ],
                options={
                    'verbose_name': 'audit trail entry',
                    'verbose_name_plural': 'audit trail',
                    'ordering': ['-number'],
                    'indexes': [models.Index(fields=['competition', '-number'], name='audit_by_competition')],
                },
            ),
            migrations.CreateModel(
                name='Instrument',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('facts', models.JSONField()),
                ],
            ),
            migrations.CreateModel(
                name='Inspection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('began_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('seconds', models.FloatField()),
                    ('is_whole', models.BooleanField()),
                    ('report', models.JSONField()),
                ],
                options={
                    'ordering': ['-began_at'],
                },
            ),
            migrations.CreateModel(
                name='Worker',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('host', models.CharField(max_length=200)),
                    ('process', models.PositiveIntegerField()),
                    ('version', models.CharField(max_length=40)),
                    ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('seen_at', models.DateTimeField()),
                    ('swept_at', models.DateTimeField(null=True)),
                    ('counts', models.JSONField(default=list)),
                ],
                options={
                    'ordering': ['host', 'process'],
                    'constraints': [models.UniqueConstraint(fields=('host', 'process'), name='worker_reports_once')],
                },
            ),
            migrations.CreateModel(
                name='CageTest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('host', models.CharField(max_length=200, unique=True)),
                    ('tested_at', models.DateTimeField()),
                    ('reason', models.TextField(blank=True)),
                    ('report', models.JSONField()),
                ],
                options={
                    'ordering': ['host'],
                },
            ),
            migrations.CreateModel(
                name='Grant',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('extra_attempts', models.PositiveIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(1000)], verbose_name='extra attempts')),
                    ('day', models.DateField(blank=True, null=True, verbose_name='only on the day (UTC)')),
                    ('closes_at', models.DateTimeField(blank=True, null=True, verbose_name='new deadline')),
                    ('reason', models.CharField(max_length=300, verbose_name='reason')),
                    ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('revoked_at', models.DateTimeField(editable=False, null=True)),
                    ('by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='leaderboard.team')),
                ],
                options={
                    'ordering': ['-at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('extra_attempts__gt', 0), ('closes_at__isnull', False), _connector='OR'), name='a_grant_gives_something')],
                },
            ),
            migrations.CreateModel(
                name='Notice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=40)),
                    ('title', models.CharField(max_length=200)),
                    ('text', models.TextField(blank=True)),
                    ('link', models.CharField(blank=True, max_length=300)),
                    ('key', models.CharField(blank=True, editable=False, max_length=100)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('read_at', models.DateTimeField(editable=False, null=True)),
                    ('mail_at', models.DateTimeField(editable=False, null=True)),
                    ('mail_claim', models.UUIDField(editable=False, null=True)),
                    ('mail_tries', models.PositiveIntegerField(default=0, editable=False)),
                    ('mailed_at', models.DateTimeField(editable=False, null=True)),
                    ('competition', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='leaderboard.competition')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created_at', '-pk'],
                    'indexes': [models.Index(condition=models.Q(('read_at', None)), fields=['user'], name='notice_unread'), models.Index(fields=['user', '-created_at'], name='notice_by_user'), models.Index(condition=models.Q(('mail_at__isnull', False)), fields=['mail_at'], name='notice_to_mail'), models.Index(condition=models.Q(('mail_claim__isnull', False)), fields=['mail_claim'], name='notice_in_the_mail')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('key', ''), _negated=True), fields=('user', 'key'), name='notice_told_once')],
                },
            ),
            migrations.CreateModel(
                name='NoticeChoice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=40)),
                    ('delivery', models.CharField(choices=[('at_once', 'Page and mail at once'), ('digest', 'Page and one mail a day'), ('page', 'Page only'), ('none', 'Not at all')], max_length=10)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notice_choices', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='one_choice_per_kind_of_notice'), models.CheckConstraint(condition=models.Q(('delivery__in', ['at_once', 'digest', 'page', 'none'])), name='notice_delivery_known')],
                },
            ),
            migrations.CreateModel(
                name='Announcement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('title', models.CharField(max_length=120, verbose_name='title')),
                    ('text', models.TextField(max_length=10000, verbose_name='text')),
                    ('audience', models.CharField(choices=[('all', 'Everybody in the competition'), ('no_valid_file', 'Who has no valid file yet'), ('section', 'One section'), ('below_baseline', 'Who is below the best baseline on the public board')], default='all', max_length=20)),
                    ('section', models.CharField(blank=True, max_length=200)),
                    ('is_pinned', models.BooleanField(default=False, verbose_name='pinned')),
                    ('key', models.CharField(editable=False, max_length=100, unique=True)),
                    ('reached', models.PositiveIntegerField(default=0, editable=False)),
                    ('sent_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('edited_at', models.DateTimeField(editable=False, null=True)),
                    ('withdrawn_at', models.DateTimeField(editable=False, null=True)),
                    ('by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='announcements', to='leaderboard.competition')),
                ],
                options={
                    'ordering': ['-is_pinned', '-sent_at', '-pk'],
                },
            ),
            migrations.CreateModel(
                name='Gradebook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file_name', models.CharField(max_length=200)),
                    ('data', models.BinaryField()),
                    ('column', models.CharField(blank=True, max_length=500)),
                    ('uploaded_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gradebook', to='leaderboard.competition')),
                    ('uploaded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='GradeRelease',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('rules', models.JSONField()),
                    ('ground_truth_number', models.PositiveIntegerField()),
                    ('released_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('withdrawn_at', models.DateTimeField(null=True)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grade_releases', to='leaderboard.competition')),
                    ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['competition', '-number'],
                    'constraints': [models.UniqueConstraint(fields=('competition', 'number'), name='grade_release_number_once')],
                },
            ),
            migrations.CreateModel(
                name='Grade',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('points', models.FloatField(null=True)),
                    ('reasons', models.JSONField(default=list)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to=settings.AUTH_USER_MODEL)),
                    ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to='leaderboard.graderelease')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('release', 'user'), name='one_grade_per_person_and_release'), models.CheckConstraint(condition=models.Q(('points__isnull', True), models.Q(('points__gte', 0), ('points__lte', 100000.0)), _connector='OR'), name='grade_is_not_negative')],
                },
            ),
            migrations.CreateModel(
                name='GradeRules',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('values', models.JSONField(default=dict)),
                    ('changed_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='grade_rules', to='leaderboard.competition')),
                ],
                options={
                    'verbose_name_plural': 'grade rules',
                },
            ),
            migrations.CreateModel(
                name='Rescoring',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('applied_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('words', models.TextField(blank=True)),
                    ('after', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='rescoring', to='leaderboard.groundtruth')),
                    ('before', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.groundtruth')),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rescorings', to='leaderboard.competition')),
                ],
                options={
                    'ordering': ['-applied_at'],
                },
            ),
            migrations.CreateModel(
                name='RowReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('found', models.JSONField()),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('ground_truth', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='row_report', to='leaderboard.groundtruth')),
                ],
            ),
            migrations.CreateModel(
                name='TruthCheck',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('report', models.JSONField(default=dict)),
                    ('checked_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('ground_truth', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='check_report', to='leaderboard.groundtruth')),
                ],
            ),
            migrations.CreateModel(
                name='WalkThrough',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sha256', models.CharField(max_length=64)),
                    ('sent_at', models.DateTimeField()),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('public', models.FloatField(null=True)),
                    ('private', models.FloatField(null=True)),
                    ('problems', models.JSONField(default=list)),
                    ('failure', models.TextField(blank=True)),
                    ('ground_truth', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='walk_through', to='leaderboard.groundtruth')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='CalendarAddress',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='calendar_address', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='RosterDraft',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file_name', models.CharField(blank=True, max_length=200)),
                    ('text', models.TextField()),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='roster_draft', to='leaderboard.competition')),
                    ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='RosterEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(blank=True, max_length=200)),
                    ('email', models.CharField(blank=True, max_length=254)),
                    ('student_id', models.CharField(blank=True, max_length=100)),
                    ('sis_user_id', models.CharField(blank=True, max_length=100)),
                    ('login', models.CharField(blank=True, max_length=150)),
                    ('section', models.CharField(blank=True, max_length=200)),
                    ('added_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('joined_at', models.DateTimeField(editable=False, null=True)),
                    ('left_at', models.DateTimeField(editable=False, null=True)),
                    ('slip_digest', models.CharField(blank=True, editable=False, max_length=64)),
                    ('slip_expires_at', models.DateTimeField(editable=False, null=True)),
                    ('mail_asked_at', models.DateTimeField(editable=False, null=True)),
                    ('mail_problem', models.CharField(blank=True, editable=False, max_length=200)),
                    ('invited_at', models.DateTimeField(editable=False, null=True)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='roster', to='leaderboard.competition')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='roster_entries', to=settings.AUTH_USER_MODEL)),
                    ('mail_at', models.DateTimeField(editable=False, null=True)),
                    ('mail_tries', models.PositiveIntegerField(default=0, editable=False)),
                    ('came_with', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='people', to='leaderboard.rosterlist')),
                ],
                options={
                    'verbose_name_plural': 'roster entries',
                    'ordering': [django.db.models.functions.text.Lower('name'), 'email', 'pk'],
                    'indexes': [models.Index(condition=models.Q(('mail_at__isnull', False)), fields=['mail_at'], name='roster_to_mail')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('user__isnull', False)), fields=('competition', 'user'), name='roster_user_once'), models.UniqueConstraint(models.F('competition'), django.db.models.functions.text.Lower('email'), condition=models.Q(('email', ''), _negated=True), name='roster_email_once'), models.UniqueConstraint(condition=models.Q(('slip_digest', ''), _negated=True), fields=('slip_digest',), name='roster_slip_once')],
                },
            ),
            migrations.CreateModel(
                name='MergeOffer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='offers_received', to='leaderboard.team')),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='offers_made', to='leaderboard.team')),
                ],
                options={
                    'ordering': ['at'],
                    'constraints': [models.UniqueConstraint(fields=('team', 'other'), name='one_offer_between_two_teams'), models.CheckConstraint(condition=models.Q(('team', models.F('other')), _negated=True), name='an_offer_is_for_another_team')],
                },
            ),
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('address', models.CharField(max_length=600)),
                    ('service', models.CharField(max_length=40)),
                    ('events', models.JSONField(default=list)),
                    ('is_on', models.BooleanField(default=True)),
                    ('since', models.DateTimeField(default=django.utils.timezone.now)),
                    ('first_seen_at', models.DateTimeField(null=True)),
                    ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='webhook', to='leaderboard.competition')),
                    ('first_team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='leaderboard.team')),
                ],
            ),
            migrations.CreateModel(
                name='WebhookMessage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('event', models.CharField(max_length=20)),
                    ('title', models.CharField(max_length=300)),
                    ('text', models.TextField(blank=True)),
                    ('key', models.CharField(max_length=120)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('due_at', models.DateTimeField(default=django.utils.timezone.now, null=True)),
                    ('claim', models.UUIDField(null=True)),
                    ('tries', models.PositiveIntegerField(default=0)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('trouble', models.CharField(blank=True, max_length=40)),
                    ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='leaderboard.webhook')),
                ],
                options={
                    'ordering': ['-created_at', '-pk'],
                    'indexes': [models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='webhook_message_due')],
                    'constraints': [models.UniqueConstraint(fields=('webhook', 'key'), name='webhook_message_told_once')],
                },
            ),
            migrations.CreateModel(
                name='RoleInvitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('email', models.CharField(max_length=254)),
                    ('role', models.CharField(max_length=10)),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='role_invitations', to='leaderboard.competition')),
                    ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['email'],
                    'indexes': [models.Index(fields=['email'], name='role_invitation_by_email')],
                    'constraints': [models.UniqueConstraint(fields=('competition', 'email'), name='role_invitation_once'), models.CheckConstraint(condition=models.Q(('role__in', ['host', 'assistant'])), name='role_invitation_known')],
                },
            ),
            migrations.CreateModel(
                name='RosterList',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file_name', models.CharField(blank=True, max_length=200)),
                    ('taken_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='roster_lists', to='leaderboard.competition')),
                    ('taken_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-taken_at', '-pk'],
                },
            ),
        ]),
        migrations.RunPython(guards.guard, guards.unguard),
    ]
