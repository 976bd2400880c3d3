"""The estimators within scikit-learn: its own checks, searches, pipelines, frames."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import sklearn
from proband.sklearn import SequentialTestClassifier, SequentialTestPolicy


@pytest.mark.parametrize(
    "estimator",
    [SequentialTestClassifier(), pytest.param(SequentialTestPolicy(), marks=pytest.mark.slow)],
    ids=["classifier", "policy"],
)
def test_what_scikit_learn_checks(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(estimator, on_fail=None)
    failed = [(r["check_name"], str(r["exception"])[:300]) for r in results if r["status"] == "failed"]
    assert not failed, failed
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # scikit-learn skips it by itself, unless SciPy is set to array APIs
    assert len(results) > 30


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"})


@pytest.fixture(scope="module")
def model(iris) -> SequentialTestClassifier:
    return SequentialTestClassifier(costs=0.02, min_leaf=3).fit(*iris)


def test_looking_costs_and_pays(model, iris) -> None:
    X, y = iris
    assert is_classifier(model)
    assert model.score(X, y) > 0.93
    paid, treated = model.cost(X), model.treat(X)
    assert paid == pytest.approx(0.02 * treated["tests"])
    assert paid.mean() < 0.04 < 4 * 0.02
    assert model.value(X, y) == pytest.approx(model.score(X, y) - 1 - paid.mean())
    assert model.expected_cost_ == pytest.approx(paid.mean(), abs=0.01)
    dear = clone(model).set_params(costs=10.0).fit(X, y)
    assert dear.cost(X).max() == 0
    assert dear.next_test({}) is None


def test_probabilities_are_those_of_what_was_looked_at(model, iris) -> None:
    X, _ = iris
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()
    assert len(np.unique(shares.round(12), axis=0)) <= sum(not node.children for node in model.tree_.nodes())


def test_paths_lead_from_the_root_to_a_decision(model, iris) -> None:
    X, _ = iris
    path, nodes = model.decision_path(X), list(model.tree_.nodes())
    assert path.shape == (len(X), len(nodes))
    assert (path[:, 0].toarray() == 1).all()
    ends = [nodes[row.indices.max()] for row in path]
    assert all(not node.children for node in ends)
    names = [model.tree_.problem.action_name(node.action).partition(": ")[2] for node in ends]
    assert names == model.predict(X).tolist()


def test_the_next_test_of_a_half_filled_row_leads_to_the_same_decision(model, iris) -> None:
    X, _ = iris
    for n in (0, 60, 140):
        known: dict[str, float] = {}
        while (name := model.next_test(known)) is not None:
            assert name not in known
            known[name] = X.iloc[n][name]
        seen = X.iloc[[n]].copy()
        seen.loc[:, [name for name in X if name not in known]] = np.nan
        assert model.predict(seen)[0] == model.predict(X.iloc[[n]])[0]
    assert model.next_test(pd.Series({"sepal length (cm)": 5.0})) in X.columns
    half = X[:1].assign(**{model.next_test({}): np.nan})
    for one in (half, pl.from_pandas(half), half.to_numpy()):
        assert model.next_test(one) == model.next_test(half.iloc[0])
    with pytest.raises(ValueError, match="one row at a time, and was given 2"):
        model.next_test(X[:2])
    with pytest.raises(ValueError, match="no column"):
        model.next_test({"height": 3})
    with pytest.raises(ValueError, match="a row of 2 cells, and X had 4 columns"):
        model.next_test([1.0, 2.0])
    with pytest.raises(ValueError, match=r"column 'petal width .* has 'wide', and had numbers alone at fit"):
        model.next_test({"petal width (cm)": "wide"})
    plain = clone(model).fit(X.to_numpy(), iris[1])
    first = plain.next_test([np.nan] * 4)
    assert first in range(4)
    assert plain.next_test({first: X.iloc[0, first]}) is None


def test_what_tells_nothing_and_what_cannot_be_looked_at_are_not_asked_for_again() -> None:
    X = pd.DataFrame({"cheap": ["a", "b"] * 40, "dear": ["u", "v"] * 40, "noise": ["p", "p", "q", "q"] * 20})
    model = SequentialTestClassifier(costs={"cheap": 0.01, "dear": 0.1, "noise": 0.01}).fit(X, ["no", "yes"] * 40)
    assert model.next_test({}) == "cheap"
    assert model.next_test({"cheap": "never seen"}) == "dear"
    assert model.next_test({}, without=["cheap"]) == "dear"
    assert model.next_test({"cheap": "never seen", "dear": "u"}) is None
    assert model.next_test({}, without=["cheap", "dear"]) is None
    assert model.next_test({"cheap": "a"}, without=["dear"]) is None
    unknown = X[:1].assign(cheap="never seen")
    assert model.cost(unknown).tolist() == [0.1]  # as predict does
    numbered = clone(model).set_params(costs={0: 0.01, 1: 0.1, 2: 0.01}).fit(X.to_numpy(), ["no", "yes"] * 40)
    assert (numbered.next_test({}), numbered.next_test({0: "never seen"}), numbered.next_test({}, without=[0])) == (
        0,
        1,
        1,
    )
    with pytest.raises(ValueError, match="'dearest', which is no column"):
        model.next_test({}, without=["dearest"])


def test_what_is_missing_cannot_be_run(model, iris) -> None:
    X, y = iris
    root = model.next_test({})
    without = X.assign(**{root: np.nan})
    assert model.score(without, y) > 0.85
    assert np.isnan(model.decision_path(without)[0].indices).sum() == 0
    assert model.decision_path(without).sum() == len(X)  # all leave the tree at the root
    shares = model.predict_proba(without)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(without)).all()
    nothing = model.predict(pd.DataFrame(np.nan, index=range(2), columns=X.columns))
    assert set(nothing) <= set(model.classes_)
    assert model.cost(pd.DataFrame(np.nan, index=range(2), columns=X.columns)).max() == 0


def test_rows_with_missing_cells_are_learned_from(iris) -> None:
    X, y = iris
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.3)
    assert SequentialTestClassifier(costs=0.02, min_leaf=3).fit(holes, y).score(X, y) > 0.85


def test_frames_in_frames_out(model, iris) -> None:
    X, y = iris
    shifted = X.set_index(X.index + 1000)
    assert model.treat(shifted).index.equals(shifted.index)
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X})
    assert isinstance(model.treat(frame), pl.DataFrame)
    assert (model.predict(frame) == model.predict(X)).all()
    assert model.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])
    arrays = SequentialTestClassifier(costs=0.02).fit(X.to_numpy(), y).treat(X.to_numpy())
    assert set(arrays) == {"decision", "cost", "tests"}


def test_joblib_and_clones(model, iris, tmp_path: Path) -> None:
    X, _ = iris
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert (again.predict(X) == model.predict(X)).all()
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "tree_")


def test_a_weight_is_how_many_subjects_a_row_stands_for(iris) -> None:
    X, y = iris
    times = np.random.default_rng(0).integers(0, 4, size=len(X))
    blank = SequentialTestClassifier(costs=0.02, min_leaf=3)
    weighed = clone(blank).fit(X, y, sample_weight=times)
    order = np.random.default_rng(1).permutation(times.sum())  # the order of rows is no matter either
    rows = X.loc[X.index.repeat(times)].iloc[order], y.loc[y.index.repeat(times)].iloc[order]
    repeated = clone(blank).fit(*rows)
    assert weighed.predict_proba(X) == pytest.approx(repeated.predict_proba(X))
    assert weighed.value(X, y, times) == pytest.approx(weighed.value(*rows))
    assert weighed.score(X, y, sample_weight=times) == pytest.approx(weighed.score(*rows))
    assert weighed.value(X, y, 0.1 * times) == pytest.approx(weighed.value(X, y, times))  # to weigh is not to count
    for wrong, words in ((0.5, "has 0.5; it says how many"), (-1, "has -1.0"), (0, "zero")):
        with pytest.raises(ValueError, match=words):
            clone(blank).fit(X, y, sample_weight=np.full(len(X), wrong))


def test_weights_are_routed_through_searches_and_pipelines(iris) -> None:
    X, y = iris
    times = np.where(y == "setosa", 0, 1)
    with sklearn.config_context(enable_metadata_routing=True):
        policy = SequentialTestPolicy(costs=0.02, min_leaf=3)
        policy.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        parts = KFold(2, shuffle=True, random_state=0)
        search = GridSearchCV(make_pipeline(policy), {"sequentialtestpolicy__max_tests": [0, 1]}, cv=parts)
        search.fit(X, y, sample_weight=times)
        assert set(search.predict(X)) == {"versicolor", "virginica"}  # the others count nothing
        assert search.score(X, y, sample_weight=times) == search.best_estimator_[-1].value(X[50:], y[50:]) > 0.8


def test_what_scikit_learn_is_told() -> None:
    told = get_tags(SequentialTestClassifier())
    assert told.input_tags.allow_nan
    assert told.input_tags.string
    assert told.target_tags.required
    assert (told.estimator_type, get_tags(SequentialTestPolicy()).estimator_type) == ("classifier", None)
    common = set(clone(SequentialTestPolicy()).get_params()) - {"rewards"}
    assert set(SequentialTestClassifier().get_params()) - {"misclassification"} == common
    assert list(inspect.signature(SequentialTestClassifier).parameters)[:2] == ["costs", "misclassification"]


def test_a_pipeline_with_a_frame_that_has_texts() -> None:
    rng = np.random.default_rng(1)
    n, bad = 400, np.random.default_rng(0).random(400) < 0.3
    frame = pd.DataFrame(
        {
            "supplier": np.where(rng.random(n) < 0.5, "north", "south"),
            "surface": np.where(bad ^ (rng.random(n) < 0.1), "scratched", "clean"),
            "hardness": rng.normal(size=n) + 2.0 * bad,
            "note": ["free text"] * n,
        }
    ).astype({"supplier": "category"})
    frame.loc[::17, "surface"] = None
    y = np.where(bad, "fail", "pass")
    chosen = ColumnTransformer(
        [("all", "passthrough", ["supplier", "surface", "hardness"])], verbose_feature_names_out=False
    ).set_output(transform="pandas")
    losses = {("fail", "pass"): 20.0, ("pass", "fail"): 1.0}
    line = make_pipeline(chosen, SequentialTestClassifier({"hardness": 0.3, "surface": 0.05, "supplier": 0.01}, losses))
    line.fit(frame, y)
    last = line[-1]
    assert last.next_test({}) in ("surface", "hardness")
    treated = dict(zip(frame.index, line.predict(frame), strict=True))
    missed = np.mean([treated[i] == "pass" for i in frame.index[bad]])
    assert missed < 0.1  # twenty times as dear as to fail a sound one
    unseen = frame.assign(surface="dented").head(3)
    assert set(line.predict(unseen)) <= {"fail", "pass"}


def test_groups_and_limits(iris) -> None:
    X, y = iris
    names = list(X.columns)
    together = {"ruler": {names[0]: 0.0, names[1]: 0.0}}
    model = SequentialTestClassifier([0.01, 0.01, 5.0, 5.0], groups=together, min_leaf=3).fit(X, y)
    assert set(np.round(model.cost(X), 6)) <= {0.0, 0.01}
    one = SequentialTestClassifier(0.001, max_tests=1, min_leaf=3).fit(X, y)
    assert one.treat(X)["tests"].max() == 1
    assert one.treat(X.assign(**{one.next_test({}): np.nan}))["tests"].max() <= 1
    cheap = SequentialTestClassifier(0.4, 10.0, budget=0.5, min_leaf=3).fit(X, y)
    assert cheap.cost(X).max() <= 0.5


def test_mistakes_are_told() -> None:
    X, y = [[0.0], [1.0]] * 10, [0, 1] * 10
    for wrong, words in (
        ({"costs": [1.0, 2.0]}, "one cost for each"),
        ({"costs": {"a": 1.0}}, "no column"),
        ({"misclassification": np.ones((3, 3))}, "pairs"),
        ({"misclassification": {(0, 2): 5.0}}, "names 2, which y never is; classes are 0, 1"),
        ({"groups": {"g": {"a": 1.0}}}, "correct groups"),
        ({"costs": "free"}, "costs is 'free'; give a number"),
        ({"misclassification": -5.0}, "a wrong class would cost less than the right one"),
        ({"misclassification": [[1.0, 0.0], [1.0, 0.0]]}, "a wrong class would cost less than the right one"),
        ({"bins": 1}, "two parts"),
        ({"penalty": -1}, "0 or more"),
    ):
        with pytest.raises(ValueError, match=words):
            SequentialTestClassifier(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="column 'x0' has 200 different texts"):
        SequentialTestClassifier().fit(np.array([[f"id {n}"] for n in range(200)], dtype=object), [0, 1] * 100)
    with pytest.raises(ValueError, match="rewards has no row for 1"):
        SequentialTestPolicy({0: {"a": 1.0}}).fit(X, y)
    with pytest.raises(ValueError, match="finite number for each"):
        SequentialTestPolicy({0: {"a": 1.0}, 1: {"b": 1.0}}).fit(X, y)


def test_a_policy_for_any_rewards(iris) -> None:
    X, y = iris
    rewards = {name: {"keep": 1.0 if name == "setosa" else -3.0, "sell": 0.5} for name in y.unique()}
    policy = SequentialTestPolicy(rewards, 0.05).fit(X, y)
    assert set(policy.predict(X)) == {"keep", "sell"}
    assert policy.score(X, y) == pytest.approx(50 / 150 + 100 / 150 * 0.5 - policy.cost(X).mean(), abs=0.02)
    assert policy.score(X, y) > max(0.5, -1.0)
    shares = policy.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares[y == "setosa", policy.truths_.tolist().index("setosa")] > 0.8).all()
    worth = shares @ [[rewards[name][decision] for decision in policy.decisions_] for name in policy.truths_]
    assert (policy.decisions_[worth.argmax(axis=1)] == policy.predict(X)).all()
    assert policy.decision_path(X).shape == (len(X), len(list(policy.tree_.nodes())))


def test_a_search_over_the_penalty_on_breast_cancer() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X[[name for name in X if name.startswith("mean")][:5]]
    learn, later, y_learn, y_later = train_test_split(X, y, random_state=0, stratify=y)
    model = SequentialTestClassifier(costs=0.01, misclassification={(0, 1): 5.0, (1, 0): 1.0}, bins=3)
    search = GridSearchCV(
        model, {"penalty": [0.0, 0.3, 3.0]}, scoring=lambda found, X, y: found.value(X, y), cv=3
    ).fit(learn, y_learn)  # fmt: skip
    assert search.best_params_["penalty"] in (0.0, 0.3, 3.0)
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    never = -min(5.0 * (y_later == 0).mean(), (y_later == 1).mean())
    assert search.best_estimator_.value(later, y_later) > never


def test_without_scikit_learn_the_remedy_is_named() -> None:
    script = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from proband.errors import MissingExtraError\n"
        "try: from proband.sklearn import SequentialTestClassifier\n"
        "except MissingExtraError as error: print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 'need scikit-learn, which is not installed; pip install "proband[sklearn]"' in ended.stdout
