"""Studies and tables as files: exports, imports and their inspection, copies, spreadsheets."""

from proband.studies.exchange.copying import copy_study
from proband.studies.exchange.exports import Verified, import_study

__all__ = ["Verified", "copy_study", "import_study"]
