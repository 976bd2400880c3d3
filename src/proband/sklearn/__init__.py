"""Sequential testing in scikit-learn's own terms: estimators that look at a column only if it is worth its cost.

It needs scikit-learn, an extra (``pip install "proband[sklearn]"``).

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from proband.sklearn import SequentialTestClassifier
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> model = SequentialTestClassifier(costs=0.02, misclassification=1.0).fit(X, y)
>>> model.score(X, y) > 0.9, bool(model.cost(X).mean() < 0.04)
(True, True)
>>> model.next_test({}) in ("petal length (cm)", "petal width (cm)")  # they tell the same
True
"""

import importlib.util
from typing import TYPE_CHECKING

from proband.errors import MissingExtraError
from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.sklearn.estimators import SequentialTestClassifier, SequentialTestPolicy
else:
    __getattr__, __dir__ = attributes(__name__)

if importlib.util.find_spec("sklearn") is None:
    raise MissingExtraError('the estimators need scikit-learn, which is not installed; pip install "proband[sklearn]"')

__all__ = ["SequentialTestClassifier", "SequentialTestPolicy"]
