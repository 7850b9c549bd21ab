"""Archives from somewhere else."""

from __future__ import annotations

import struct
import zipfile
import zlib

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)
"""What reading one raises that is damaged, locked, or packed in a way that nobody here knows. A gzip file says it with
`OSError` as well, which a full disk does too."""
