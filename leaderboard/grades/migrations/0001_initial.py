import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('competitions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Gradebook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file_name', models.CharField(max_length=200)),
                ('data', models.BinaryField()),
                ('column', models.CharField(blank=True, max_length=500)),
                ('is_scaled', models.BooleanField(default=False)),
                ('uploaded_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gradebook', to='competitions.competition')),
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
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grade_releases', to='competitions.competition')),
                ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['competition', '-number'],
            },
        ),
        migrations.CreateModel(
            name='Grade',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('points', models.FloatField(null=True)),
                ('reasons', models.JSONField(default=list)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to=settings.AUTH_USER_MODEL)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to='grades.graderelease')),
            ],
        ),
        migrations.CreateModel(
            name='GradeRules',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('values', models.JSONField(default=dict)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='grade_rules', to='competitions.competition')),
            ],
            options={
                'verbose_name_plural': 'grade rules',
            },
        ),
        migrations.AddConstraint(
            model_name='graderelease',
            constraint=models.UniqueConstraint(fields=('competition', 'number'), name='grade_release_number_once'),
        ),
        migrations.AddConstraint(
            model_name='grade',
            constraint=models.UniqueConstraint(fields=('release', 'user'), name='one_grade_per_person_and_release'),
        ),
        migrations.AddConstraint(
            model_name='grade',
            constraint=models.CheckConstraint(condition=models.Q(('points__isnull', True), models.Q(('points__gte', 0), ('points__lte', 100000.0)), _connector='OR'), name='grade_is_not_negative'),
        ),
    ]
