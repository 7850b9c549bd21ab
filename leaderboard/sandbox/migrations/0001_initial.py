from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='SandboxTest',
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
    ]
