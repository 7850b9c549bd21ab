import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import django.utils.timezone
import leaderboard.common.display_time
import leaderboard.competitions.models.competition_settings
import leaderboard.competitions.models.ground_truth
import leaderboard.competitions.models.team
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
                ('contact', models.CharField(blank=True, help_text='Contact for questions.', max_length=200)),
                ('opens_at', models.DateTimeField()),
                ('closes_at', models.DateTimeField()),
                ('zone', models.CharField(default='UTC', max_length=60, validators=[leaderboard.common.display_time.check_zone], verbose_name='time zone')),
                ('launched_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('revealed_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('board_version', models.PositiveBigIntegerField(default=0, editable=False)),
                ('is_demo', models.BooleanField(default=False, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('assistants', models.ManyToManyField(blank=True, related_name='assisted_competitions', to=settings.AUTH_USER_MODEL)),
                ('hosts', models.ManyToManyField(blank=True, related_name='hosted_competitions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-opens_at', 'slug'],
                'base_manager_name': 'objects',
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
                ('file_removed_at', models.DateTimeField(editable=False, null=True)),
                ('is_selected', models.BooleanField(default=False, verbose_name='final submission')),
                ('hidden_at', models.DateTimeField(editable=False, null=True)),
                ('hidden_reason', models.CharField(blank=True, editable=False, max_length=300)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('scored', 'Scored'), ('invalid', 'Invalid'), ('failed', 'Failed')], default='pending', max_length=10)),
                ('problems', models.JSONField(default=list)),
                ('warnings', models.JSONField(default=list)),
                ('failure', models.CharField(blank=True, max_length=500)),
                ('host_details', models.TextField(blank=True)),
                ('claim', models.UUIDField(editable=False, null=True)),
                ('lease_until', models.DateTimeField(editable=False, null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('deaths', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('is_slow', models.BooleanField(default=False, editable=False)),
                ('finished_at', models.DateTimeField(editable=False, null=True)),
                ('rescored_requested_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'ordering': ['-received_at'],
            },
        ),
        migrations.CreateModel(
            name='Score',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.CharField(choices=[('public', 'Public'), ('private', 'Private')], max_length=7)),
                ('value', models.FloatField()),
                ('parts', models.JSONField(default=dict)),
                ('standard_error', models.FloatField(null=True)),
                ('low', models.FloatField(null=True)),
                ('high', models.FloatField(null=True)),
                ('secondary', models.JSONField(default=list)),
                ('metric_version', models.CharField(editable=False, max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='Baseline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='baselines', to='competitions.competition')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Conversion',
            fields=[
                ('submission', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='conversion', serialize=False, to='competitions.submission')),
                ('changes', models.JSONField(default=list)),
            ],
        ),
        migrations.AddField(
            model_name='submission',
            name='baseline',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='submission', to='competitions.baseline'),
        ),
        migrations.AddField(
            model_name='submission',
            name='competition',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='competitions.competition'),
        ),
        migrations.AddField(
            model_name='submission',
            name='user',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='submissions', to=settings.AUTH_USER_MODEL),
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
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='data_files', to='competitions.competition')),
            ],
            options={
                'ordering': ['name'],
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
                ('split_secret', models.CharField(blank=True, max_length=32)),
                ('quickest_seconds', models.FloatField(editable=False, null=True)),
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
                ('secondary', models.JSONField(default=list)),
                ('note', models.CharField(blank=True, max_length=300)),
                ('published_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ground_truths', to='competitions.competition')),
                ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['competition', 'number'],
            },
        ),
        migrations.AddField(
            model_name='competition',
            name='candidate',
            field=models.ForeignKey(blank=True, editable=False, help_text='Published and being scored. The leaderboard uses the current answers until the host applies the new ones.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='competitions.groundtruth'),
        ),
        migrations.AddField(
            model_name='competition',
            name='ground_truth',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='competitions.groundtruth'),
        ),
        migrations.CreateModel(
            name='Refusal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('problems', models.JSONField(default=list)),
                ('ground_truth', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refusals', to='competitions.groundtruth')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refusals', to='competitions.submission')),
            ],
        ),
        migrations.CreateModel(
            name='Rescoring',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('applied_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('words', models.TextField(blank=True)),
                ('after', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='rescoring', to='competitions.groundtruth')),
                ('before', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='competitions.groundtruth')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rescorings', to='competitions.competition')),
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
                ('ground_truth', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='row_report', to='competitions.groundtruth')),
            ],
        ),
        migrations.AddField(
            model_name='score',
            name='ground_truth',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='competitions.groundtruth'),
        ),
        migrations.AddField(
            model_name='score',
            name='submission',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='competitions.submission'),
        ),
        migrations.CreateModel(
            name='StudentPreview',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64)),
                ('sent_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(null=True)),
                ('public', models.FloatField(null=True)),
                ('private', models.FloatField(null=True)),
                ('problems', models.JSONField(default=list)),
                ('failure', models.TextField(blank=True)),
                ('ground_truth', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='student_preview', to='competitions.groundtruth')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('name_copy', models.PositiveIntegerField(default=0, editable=False)),
                ('pseudonym', models.CharField(blank=True, editable=False, max_length=60)),
                ('invitation', models.CharField(default=leaderboard.competitions.models.team.new_invitation, max_length=40, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('disqualified_at', models.DateTimeField(editable=False, null=True)),
                ('disqualified_reason', models.CharField(blank=True, editable=False, max_length=300)),
                ('vacated_at', models.DateTimeField(editable=False, null=True)),
                ('captain', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='teams', to='competitions.competition')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddField(
            model_name='submission',
            name='team',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='competitions.team'),
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
                ('ground_truth', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='competitions.groundtruth')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='competitions.submission')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='competitions.team')),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rules_version', models.PositiveIntegerField(default=0)),
                ('rules_accepted_at', models.DateTimeField(null=True)),
                ('joined_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='competitions.competition')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='competitions.team')),
            ],
            options={
                'ordering': ['joined_at'],
            },
        ),
        migrations.CreateModel(
            name='Extension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('extra_attempts', models.PositiveIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(1000)], verbose_name='extra attempts')),
                ('closes_at', models.DateTimeField(blank=True, null=True, verbose_name='new deadline')),
                ('reason', models.CharField(max_length=300, verbose_name='reason')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('revoked_at', models.DateTimeField(editable=False, null=True)),
                ('by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='extensions', to='competitions.team')),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='DailyAttempts',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('used', models.PositiveIntegerField(default=0)),
                ('limit', models.PositiveIntegerField(default=0)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='daily_attempts', to='competitions.team')),
            ],
        ),
        migrations.CreateModel(
            name='TruthCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('report', models.JSONField(default=dict)),
                ('accepted_findings', models.JSONField(default=list)),
                ('checked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ground_truth', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='check_report', to='competitions.groundtruth')),
            ],
        ),
        migrations.CreateModel(
            name='TruthDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file_key', models.CharField(max_length=200)),
                ('file_name', models.CharField(max_length=200)),
                ('metric', models.CharField(max_length=60)),
                ('params', models.JSONField(default=dict)),
                ('secondary', models.JSONField(default=list)),
                ('id_column', models.CharField(blank=True, max_length=200)),
                ('public_share', models.FloatField(default=0.3)),
                ('seed', models.PositiveIntegerField(default=0)),
                ('split_secret', models.CharField(default=leaderboard.competitions.models.ground_truth.new_split_secret, max_length=32)),
                ('is_stratified', models.BooleanField(default=True)),
                ('group_column', models.CharField(blank=True, default='', max_length=200)),
                ('report', models.JSONField(default=dict)),
                ('accepted_findings', models.JSONField(default=list)),
                ('uploaded_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='truth_draft', to='competitions.competition')),
            ],
        ),
        migrations.CreateModel(
            name='Duty',
            fields=[
                ('task', models.CharField(max_length=100, primary_key=True, serialize=False)),
                ('begun_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(max_length=200)),
                ('process', models.PositiveIntegerField()),
                ('version', models.CharField(max_length=40)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('last_seen_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['host', 'process'],
                'constraints': [models.UniqueConstraint(fields=('host', 'process'), name='worker_reports_once')],
            },
        ),
        migrations.CreateModel(
            name='Admission',
            fields=[
                ('competition', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='admission', serialize=False, to='competitions.competition')),
                ('is_listed', models.BooleanField(default=False, help_text='Everyone sees it on the home page. Otherwise only members do.', verbose_name='listed')),
                ('join_code', models.CharField(default=leaderboard.competitions.models.competition_settings.new_join_code, max_length=20, unique=True)),
                ('needs_code', models.BooleanField(default=True, help_text='Joining requires the code or an invitation.')),
                ('kind', models.CharField(choices=[('code', 'Everyone with the code'), ('roster', 'Only people on the roster'), ('addresses', 'Only people with an e-mail address from the list below')], default='code', max_length=9, verbose_name='who can join')),
                ('allowed_addresses', models.TextField(blank=True, help_text='One per line: an address, or a domain such as @uni.example for everyone there.', max_length=20000, verbose_name='allowed addresses')),
                ('assistants_grade', models.BooleanField(default=False, verbose_name='assistants may export grades')),
                ('is_proposed', models.BooleanField(default=False, editable=False)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['code', 'roster', 'addresses'])), name='admission_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='Archive',
            fields=[
                ('competition', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='archive', serialize=False, to='competitions.competition')),
                ('archived_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('binned_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('binned_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='BoardSettings',
            fields=[
                ('competition', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='board', serialize=False, to='competitions.competition')),
                ('hides_scores', models.BooleanField(default=False, help_text='Students see no scores or ranks until the private leaderboard opens.', verbose_name='hidden until the end')),
                ('uses_pseudonyms', models.BooleanField(default=False, help_text='Teams see pseudonyms. Hosts, assistants and the team itself see the real name.', verbose_name='pseudonyms')),
                ('shows_sections', models.BooleanField(default=False, help_text="Students can filter the leaderboard by section. This also shows each team's section, even under a pseudonym.", verbose_name='sections on the leaderboard')),
                ('reveals_itself', models.BooleanField(default=True, help_text='Open the private leaderboard automatically after the deadline.', verbose_name='reveal at the deadline')),
            ],
            options={
                'verbose_name_plural': 'board settings',
            },
        ),
        migrations.CreateModel(
            name='Limits',
            fields=[
                ('competition', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='limits', serialize=False, to='competitions.competition')),
                ('daily_attempts', models.PositiveIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)])),
                ('final_count', models.PositiveIntegerField(default=2, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(20)], verbose_name='final submissions')),
                ('team_size', models.PositiveIntegerField(default=4, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(50)])),
                ('max_bytes', models.PositiveBigIntegerField(default=52428800, validators=[django.core.validators.MinValueValidator(1024)], verbose_name='largest file in bytes')),
                ('allows_late', models.BooleanField(default=False, help_text='Scored after the deadline, but not ranked.', verbose_name='late submissions')),
                ('paused_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('pause_reason', models.CharField(blank=True, editable=False, max_length=300)),
                ('is_proposed', models.BooleanField(default=False, editable=False)),
            ],
            options={
                'verbose_name_plural': 'limits',
                'constraints': [models.CheckConstraint(condition=models.Q(('daily_attempts__gte', 1), ('final_count__gte', 1), ('max_bytes__gte', 1), ('team_size__gte', 1)), name='limits_are_positive'), models.CheckConstraint(condition=models.Q(('paused_at__isnull', True), models.Q(('pause_reason', ''), _negated=True), _connector='OR'), name='a_pause_says_why')],
            },
        ),
        migrations.AddConstraint(
            model_name='baseline',
            constraint=models.UniqueConstraint(fields=('competition', 'name'), name='baseline_name_once'),
        ),
        migrations.AddField(
            model_name='conversion',
            name='original',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='converted', to='competitions.submission'),
        ),
        migrations.AddConstraint(
            model_name='datafile',
            constraint=models.UniqueConstraint(fields=('competition', 'name'), name='data_file_name_once'),
        ),
        migrations.AddConstraint(
            model_name='groundtruth',
            constraint=models.UniqueConstraint(fields=('competition', 'number'), name='ground_truth_number_once'),
        ),
        migrations.AddConstraint(
            model_name='groundtruth',
            constraint=models.CheckConstraint(condition=models.Q(('rows', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('public_rows'), '+', models.F('private_rows')), '+', models.F('ignored_rows')))), name='ground_truth_rows_add_up'),
        ),
        migrations.AddConstraint(
            model_name='groundtruth',
            constraint=models.CheckConstraint(condition=models.Q(('private_rows__gte', 1), ('public_rows__gte', 1)), name='ground_truth_has_both_splits'),
        ),
        migrations.AddConstraint(
            model_name='competition',
            constraint=models.CheckConstraint(condition=models.Q(('opens_at__lt', models.F('closes_at'))), name='competition_opens_before_it_closes', violation_error_message='The competition must open before it closes.'),
        ),
        migrations.AddConstraint(
            model_name='competition',
            constraint=models.CheckConstraint(condition=models.Q(('launched_at__isnull', True), ('ground_truth__isnull', False), _connector='OR'), name='competition_launched_with_a_ground_truth'),
        ),
        migrations.AddConstraint(
            model_name='competition',
            constraint=models.CheckConstraint(condition=models.Q(('revealed_at__isnull', True), ('launched_at__isnull', False), _connector='OR'), name='competition_revealed_after_launch'),
        ),
        migrations.AddConstraint(
            model_name='refusal',
            constraint=models.UniqueConstraint(fields=('submission', 'ground_truth'), name='one_refusal_per_ground_truth'),
        ),
        migrations.AddIndex(
            model_name='score',
            index=models.Index(fields=['ground_truth', 'split', 'submission', 'value'], name='score_by_ground_truth'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.UniqueConstraint(fields=('submission', 'ground_truth', 'split'), name='score_once_per_submission_truth_and_split'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.CheckConstraint(condition=models.Q(('value__gte', -1.7976931348623157e+308), ('value__lte', 1.7976931348623157e+308)), name='score_is_finite'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.CheckConstraint(condition=models.Q(('split__in', ['public', 'private'])), name='score_split_known'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(models.F('competition'), django.db.models.functions.text.Lower('name'), models.F('name_copy'), name='team_name_once_per_competition'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.CheckConstraint(condition=models.Q(('disqualified_at__isnull', True), models.Q(('disqualified_reason', ''), _negated=True), _connector='OR'), name='a_disqualified_team_reads_why'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(condition=models.Q(('pseudonym', ''), _negated=True), fields=('competition', 'pseudonym'), name='team_pseudonym_once'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(fields=['team', '-received_at', 'status', 'is_late', 'hidden_at', 'id'], name='submission_by_team'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(fields=['competition', '-received_at', 'team', 'status'], name='submission_by_competition'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(condition=models.Q(('status', 'pending')), fields=['received_at'], name='submission_waiting'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(fields=['status', 'competition', 'received_at'], name='submission_in_turn'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(fields=['lease_until'], name='submission_in_hand'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.UniqueConstraint(fields=('competition', 'upload_key'), name='an_upload_is_stored_once'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(('team__isnull', True), ('baseline__isnull', True), _connector='XOR'), name='submission_of_a_team_or_a_baseline'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'scored', 'invalid', 'failed'])), name='submission_status_known'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('status', 'pending')), models.Q(models.Q(('status', 'pending'), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='submission_final_has_a_time'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(('tries__lte', 5)), name='submission_tries_at_most_five'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(('deaths__lte', 3)), name='submission_deaths_at_most_three'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', True), ('lease_until__isnull', True)), models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('status', 'pending')), _connector='OR'), name='submission_claim_has_a_lease'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(('is_selected', False), ('is_late', False), _connector='OR'), name='only_a_ranked_file_is_selected'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.CheckConstraint(condition=models.Q(('hidden_at__isnull', True), models.Q(('hidden_reason', ''), _negated=True), _connector='OR'), name='a_hidden_file_says_why'),
        ),
        migrations.AddIndex(
            model_name='standing',
            index=models.Index(fields=['ground_truth', 'split', 'sort_key', 'received_at'], name='standing_board_order'),
        ),
        migrations.AddConstraint(
            model_name='standing',
            constraint=models.UniqueConstraint(fields=('ground_truth', 'team', 'split'), name='one_standing_per_team'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('competition', 'user'), name='one_team_per_user_and_competition'),
        ),
        migrations.AddConstraint(
            model_name='extension',
            constraint=models.CheckConstraint(condition=models.Q(('extra_attempts__gt', 0), ('closes_at__isnull', False), _connector='OR'), name='an_extension_gives_something'),
        ),
        migrations.AddConstraint(
            model_name='dailyattempts',
            constraint=models.UniqueConstraint(fields=('team', 'day'), name='one_count_per_team_and_day'),
        ),
        migrations.AddConstraint(
            model_name='dailyattempts',
            constraint=models.CheckConstraint(condition=models.Q(('used__gte', 0)), name='attempts_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='truthdraft',
            constraint=models.CheckConstraint(condition=models.Q(('public_share__gt', 0), ('public_share__lt', 1)), name='truth_draft_share_between_0_and_1'),
        ),
    ]
