"""Pages. Views read, call one verb, answer."""

from __future__ import annotations

import metrics

# Django's templates call whatever can be called, and a metric can; here it is a thing with a title.
setattr(metrics.Metric, "do_not_call_in_templates", True)  # noqa: B010 - the library does not declare it
