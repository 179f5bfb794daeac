"""A walk through candide in a few seconds: train, leave values out, stream, merge, forget, read, draw, believe, judge.

Run it with ``python examples/quickstart.py``. It needs nothing that candide does not install.
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
train, test, known, asked = train_test_split(iris.data, species, random_state=0, stratify=species)
flowers = GaussianNB().fit(train, known)
print(f"accuracy on flowers it never saw:  {flowers.score(test, asked):.1%}")

title("The same flowers with values missing")
half = np.where(np.random.default_rng(0).random(train.shape) < 0.5, np.nan, train)
with_holes = GaussianNB().fit(half, known)
petal_width_only = np.where([True, True, True, False], np.nan, test)
print(f"trained on half of the cells:      {with_holes.score(test, asked):.1%}")
print(f"and asked with only one cell each: {with_holes.score(petal_width_only, asked):.1%}")

title("What it learned (x0 to x3: sepal length and width, petal length and width)")
print(flowers.parameters())

title("Texts as word counts, exactly as counted (alpha=0)")
words = ["win", "free", "meeting", "report"]
counts = np.array([[3, 2, 0, 0], [2, 4, 1, 0], [0, 0, 3, 2], [0, 1, 2, 4]])
mail = MultinomialNB(alpha=0).fit(counts, ["spam", "spam", "ham", "ham"])
for label, shares in zip(mail.classes_, np.exp(mail.feature_log_prob_), strict=True):
    print(f"{label:5}", ", ".join(f"{word} {share:.3f}" for word, share in zip(words, shares, strict=True)))
print("'win report' is impossible in both; the limit of small alpha:", mail.predict_proba([[1, 0, 0, 1]])[0].round(3))
presence = BernoulliNB().fit(counts, ["spam", "spam", "ham", "ham"])
print("a Bernoulli model of 4 words and 2 classes has 2 * 4 + 1 parameters:", presence.n_parameters_)

title("Streaming, merging, forgetting: digits in two places")
pixels, digit = load_digits(return_X_y=True)
whole = PoissonNB().fit(pixels, digit)
here, there = PoissonNB(), PoissonNB().fit(pixels[900:], digit[900:])
for rows in np.array_split(np.arange(900), 9):
    here.partial_fit(pixels[rows], digit[rows])
both = candide.merge([here, there])
print("9 batches here + the rest there == one fit:", np.array_equal(both.rate_, whole.rate_))
both.forget(pixels[900:], digit[900:])
print("after forgetting the rest == only here:    ", np.array_equal(both.rate_, here.rate_))
both.discount(0.5)
print(f"after a discount by half, the {here.class_count_.sum():g} rows weigh {both.class_count_.sum():g}")

title("Categories as they are, holes and novelties included")
weather = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["rain", None], ["overcast", "hot"]]
play = CategoricalNB().fit(weather, ["no", "no", "yes", "yes", "yes"])
for day in (["sunny", "hot"], ["rain", None], ["hail", "mild"]):
    no, yes = play.predict_proba([day])[0]
    print(f"{day!s:18} no {no:.3f}, yes {yes:.3f}")

title("Rows drawn from a trained model")
for row, name in zip(*flowers.sample(3, random_state=1), strict=True):
    print(f"{name:11}", row.round(1))
ordinary, absurd = diagnostics.log_density(flowers, [[5.8, 3.0, 4.3, 1.3], [58.0, 3.0, 4.3, 1.3]])
print(f"log p(x) of an ordinary flower: {ordinary:.1f}; of one with sepals of 58 cm: {absurd:.1f}")

title("What was believed before: a coin, seven heads in ten tosses")
coin = Beta(2, 2).posterior(on=7, off=3)
low, high = coin.interval(0.95)
print(f"{coin}: heads with {coin.mean():.3f}, between {low:.3f} and {high:.3f} with probability 0.95")
tosses, bent = [[1]] * 7 + [[0]] * 3, ["bent"] * 10
print(
    "the same in a model:", diagnostics.intervals(BernoulliNB(parameter_prior=Beta(2, 2)).fit(tosses, bent)), sep="\n"
)

title("How good is it? 569 tumours, each judged by a model that never saw it")
cells, benign = load_breast_cancer(return_X_y=True)
left_out = GaussianNB().fit(cells, benign).leave_one_out(cells, benign)
doctor = GaussianNB(calibrate="beta", compute_loo=True).fit(cells, benign)
print(f"accuracy without a test set: {(left_out.argmax(axis=1) == benign).mean():.1%}")
print(f"log-loss as it is: {-left_out[range(len(benign)), benign].mean():.2f}; calibrated: {doctor.loo_.log_loss:.2f}")

title("From probabilities to answers")
asked = cells[[0, 44, 90, 140]]
print("p(benign):                         ", doctor.predict_proba(asked)[:, 1].round(3))
print("a missed tumour costs 50:          ", doctor.decide(asked, costs=[[0, 50], [1, 0]]))
print("no answer below 0.9:               ", doctor.decide(asked, abstain=0.9))
print("sets that hold the truth 19 of 20: ", doctor.predict_set(asked, coverage=0.95).astype(int).tolist())
