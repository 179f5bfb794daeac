"""A tour of candide in a few seconds: training, missing values, streams, merging, priors, evaluation and decisions.

Run it with ``python examples/quickstart.py``. It has no additional dependencies.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import train_test_split

import candide
from candide import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, PoissonNB, diagnostics
from candide.priors import Beta


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


title("Measurements: irises")
iris = load_iris()
species = iris.target_names[iris.target]
X_train, X_test, y_train, y_test = train_test_split(iris.data, species, random_state=0, stratify=species)
flowers = GaussianNB().fit(X_train, y_train)
print(f"accuracy on test rows:  {flowers.score(X_test, y_test):.1%}")

title("Missing values")
half = np.where(np.random.default_rng(0).random(X_train.shape) < 0.5, np.nan, X_train)
incomplete = GaussianNB().fit(half, y_train)
petal_width_only = np.where([True, True, True, False], np.nan, X_test)
print(f"trained on half of the cells:      {incomplete.score(X_test, y_test):.1%}")
print(f"tested with one cell per row:      {incomplete.score(petal_width_only, y_test):.1%}")

title("Parameters (x0 to x3: sepal length and width, petal length and width)")
print(flowers.parameters())

title("Word counts without smoothing (alpha=0)")
words = ["win", "free", "meeting", "report"]
counts = np.array([[3, 2, 0, 0], [2, 4, 1, 0], [0, 0, 3, 2], [0, 1, 2, 4]])
mail = MultinomialNB(alpha=0).fit(counts, ["spam", "spam", "ham", "ham"])
for label, shares in zip(mail.classes_, np.exp(mail.feature_log_prob_), strict=True):
    print(f"{label:5}", ", ".join(f"{word} {share:.3f}" for word, share in zip(words, shares, strict=True)))
limit = mail.predict_proba([[1, 0, 0, 1]])[0].round(3)
print("'win report' has probability 0 in both classes; the limit as alpha approaches 0:", limit)
presence = BernoulliNB().fit(counts, ["spam", "spam", "ham", "ham"])
print("a Bernoulli model of 4 words and 2 classes has 2 * 4 + 1 parameters:", presence.n_parameters_)

title("Streaming, merging and forgetting: the digits in two parts")
pixels, digit = load_digits(return_X_y=True)
whole = PoissonNB().fit(pixels, digit)
here, there = PoissonNB(), PoissonNB().fit(pixels[900:], digit[900:])
for rows in np.array_split(np.arange(900), 9):
    here.partial_fit(pixels[rows], digit[rows])
both = candide.merge([here, there])
print("9 batches, merged with the rest == one fit:", np.array_equal(both.rate_, whole.rate_))
both.forget(pixels[900:], digit[900:])
print("after forgetting the rest == 9 batches:    ", np.array_equal(both.rate_, here.rate_))
both.discount(0.5)
print(f"after discount(0.5), the {here.class_count_.sum():g} rows have a total weight of {both.class_count_.sum():g}")

title("Categories, with missing and unseen values")
weather = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["rain", None], ["overcast", "hot"]]
play = CategoricalNB().fit(weather, ["no", "no", "yes", "yes", "yes"])
for day in (["sunny", "hot"], ["rain", None], ["hail", "mild"]):
    no, yes = play.predict_proba([day])[0]
    print(f"{day!s:18} no {no:.3f}, yes {yes:.3f}")

title("Sampling from a model, and unusual rows")
for row, name in zip(*flowers.sample(3, random_state=1), strict=True):
    print(f"{name:11}", row.round(1))
usual, unusual = diagnostics.log_density(flowers, [[5.8, 3.0, 4.3, 1.3], [58.0, 3.0, 4.3, 1.3]])
print(f"log p(x) of a typical flower: {usual:.1f}; of one with sepals of 58 cm: {unusual:.1f}")

title("Priors: a coin with seven heads in ten tosses")
coin = Beta(2, 2).posterior(on=7, off=3)
low, high = coin.interval(0.95)
print(f"{coin}: mean {coin.mean():.3f}, 95% credible interval {low:.3f} to {high:.3f}")
tosses, label = [[1]] * 7 + [[0]] * 3, ["coin"] * 10
model = BernoulliNB(parameter_prior=Beta(2, 2)).fit(tosses, label)
print("the same prior in a model:", diagnostics.intervals(model), sep="\n")

title("Evaluation without a test set: 569 tumors, leave-one-out")
cells, benign = load_breast_cancer(return_X_y=True)
left_out = GaussianNB().fit(cells, benign).leave_one_out(cells, benign)
calibrated = GaussianNB(calibrate="beta", compute_loo=True).fit(cells, benign)
print(f"accuracy: {(left_out.argmax(axis=1) == benign).mean():.1%}")
raw = -left_out[range(len(benign)), benign].mean()
print(f"log-loss uncalibrated: {raw:.2f}; calibrated: {calibrated.loo_.log_loss:.2f}")

title("Decisions")
patients = cells[[0, 44, 90, 140]]
print("p(benign):                         ", calibrated.predict_proba(patients)[:, 1].round(3))
print("if a missed tumor costs 50:        ", calibrated.decide(patients, costs=[[0, 50], [1, 0]]))
print("abstaining below 0.9:              ", calibrated.decide(patients, abstain=0.9))
print("prediction sets with coverage 0.95:", calibrated.predict_set(patients, coverage=0.95).astype(int).tolist())
