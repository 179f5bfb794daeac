"""A mixed table: training, summary, evaluation, decisions, merging and forgetting.

Run it with ``python examples/table.py``. It has no additional dependencies; a pandas or polars data frame or a pyarrow
table works like the dict of columns used here.
"""

import numpy as np

import candide
from candide import NaiveBayes


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def rows(table: dict[str, np.ndarray], part: slice) -> dict[str, np.ndarray]:
    return {name: column[part] for name, column in table.items()}


rng, n = np.random.default_rng(0), 1200
visits = {
    "ticket": np.arange(n),
    "booked": np.datetime64("2023-01-02") + rng.integers(0, 700, n),
    "age": rng.normal(45, 18, n).clip(1, 95).round(),
    "km": rng.lognormal(1.5, 0.8, n).round(1),
    "missed": rng.poisson(0.8, n),
    "phone": rng.choice(["home", "mobile", "work"], n, p=[0.2, 0.7, 0.1]).astype(object),
    "clinic": np.full(n, "north"),
}
match = (visits["km"] > 5) == (visits["age"] > 45)  # age and distance are informative only together
came = np.where(3 * match - 1.2 * visits["missed"] + rng.logistic(size=n) > 0.5, "yes", "no")
visits["phone"][rng.random(n) < np.where(came == "no", 0.3, 0.05)] = None
visits["age"][rng.random(n) < 0.1] = np.nan
visits["came"] = came

title("1,000 appointments at a clinic: which patients come?")
train, new = rows(visits, slice(1000)), rows(visits, slice(1000, None))
model = NaiveBayes().fit(train, y="came")
print(model.summary())

title("Evaluation without a test set")
print(model.loo_)
print(f"accuracy on 200 new rows: {model.score(new, new['came']):.2f}")

title("Views of several columns")
for order in (0, 1, 2):
    print(f"order={order}: log-loss {NaiveBayes(order=order).fit(train, y='came').loo_.log_loss:.3f}")

title("Predictions and decisions")
patients = {**rows(new, slice(3)), "phone": np.array(["satellite", None, "home"], dtype=object)}  # unseen, missing
print("p(no), p(yes):         ", model.predict_proba(patients).round(2).tolist())
print("abstaining below 0.9:  ", model.decide(patients, abstain=0.9).tolist())
print("if a no-show costs 5:  ", model.decide(patients, costs=[[0, 5], [1, 0]]).tolist())

title("Merging and forgetting")
here, there = (NaiveBayes().fit(rows(visits, part), y="came") for part in (slice(1000), slice(1000, None)))
both, whole = candide.merge([here, there]), NaiveBayes().fit(visits, y="came")
print("two parts merged == one fit:     ", np.allclose(both.predict_proba(visits), whole.predict_proba(visits)))
both.forget(new, y="came")
print(
    "after forgetting 200 == never trained on them:",
    np.allclose(both.predict_proba(visits), here.predict_proba(visits)),
)
