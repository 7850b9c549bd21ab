import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='ConsistencyRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('began_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seconds', models.FloatField()),
                ('is_consistent', models.BooleanField()),
                ('report', models.JSONField()),
            ],
            options={
                'ordering': ['-began_at'],
            },
        ),
    ]
