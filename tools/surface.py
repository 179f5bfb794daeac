"""Public names and method resolution order of each estimator.

    python tools/surface.py            # numbers
    python tools/surface.py --names    # and the names

For another revision, check it out elsewhere, build it, and put its `src` on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import inspect

import pandas as pd
import sklearn.naive_bayes
from sklearn.base import BaseEstimator, ClassifierMixin

import candide

# scikit-learn's own names: those of its base classes and of its naive Bayes estimators, metadata routing included.
_SKLEARN = (
    BaseEstimator, ClassifierMixin, sklearn.naive_bayes.GaussianNB, sklearn.naive_bayes.MultinomialNB,
    sklearn.naive_bayes.BernoulliNB, sklearn.naive_bayes.CategoricalNB, sklearn.naive_bayes.ComplementNB,
)  # fmt: skip


def public(cls: type) -> set[str]:
    """Return the public names of a class: methods, properties and other attributes, without parameters."""
    parameters = getattr(cls, "__dataclass_fields__", {})
    return {name for name in dir(cls) if not name.startswith("_") and name not in parameters}


def scikit_learn_names(cls: type) -> set[str]:
    """Return the names of a class that scikit-learn has too, or makes (``set_fit_request`` and others).

    Its fitted attributes are attributes of instances.
    """
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
    fitted = (vars(kind().fit(frame, [0, 1])) for kind in _SKLEARN[2:])
    known = set().union(*map(public, _SKLEARN), *fitted)
    return {name for name in public(cls) if name in known or (name.startswith("set_") and name.endswith("_request"))}


def estimators() -> dict[str, type]:
    """Return the public estimators by name."""
    found = {name: getattr(candide, name) for name in candide.__all__}
    return {name: cls for name, cls in found.items() if inspect.isclass(cls) and hasattr(cls, "fit")}


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the public names and the classes of each estimator.")
    parser.add_argument("--names", action="store_true", help="print the names too")
    names = parser.parse_args().names
    print(f"{'':16}{'names':>6}{'own':>5}{'parameters':>12}{'classes':>9}{'ours':>6}  ours besides itself")
    for name, cls in estimators().items():
        own = public(cls) - scikit_learn_names(cls)
        ours = [base.__name__ for base in cls.__mro__[1:] if base.__module__.split(".")[0] == "candide"]
        parameters = [one for one in inspect.signature(cls).parameters if one != "self"]
        print(
            f"{name:16}{len(public(cls)):6}{len(own):5}{len(parameters):12}{len(cls.__mro__):9}{len(ours):6}"
            f"  {', '.join(ours)}"
        )
        if names:
            print("    " + ", ".join(sorted(own)))


if __name__ == "__main__":
    main()
