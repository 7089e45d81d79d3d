"""Characters that an XML document cannot carry unchanged."""

import re

NOT_FOR_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 cannot carry, and the carriage return, which it would change."""
