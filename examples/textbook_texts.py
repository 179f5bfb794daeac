"""Textbook exercises with texts: an unseen word, two event models, a large vocabulary, fake and genuine reviews.

Run it with ``python examples/textbook_texts.py``. It has no additional dependencies.
"""

import numpy as np

from candide import TextNB


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


title("A word that occurs in no message: 0/0 without smoothing")
mails, labels = ["buy cheap pills", "cheap pills", "meeting at noon"], ["spam", "spam", "ham"]
words = ["at", "buy", "cheap", "learning", "meeting", "noon", "pills"]
for alpha in (0, 1):
    model = TextNB("multinomial", alpha=alpha, vocabulary=words).fit(mails, labels)
    table = model.parameters()
    share = table["probability"][(table["class"] == "spam") & (table["column"] == "learning")][0]
    print(f"alpha={alpha}: p('learning' | spam) = {share:.4f}, p(spam | 'learning') = ", end="")
    print(f"{model.predict_proba(['learning'])[0, 1]:.3f}", "(the limit of small alpha)" if not alpha else "")

title("'win' five times and 'free' three times")
mails, labels = ["win free win", "free lunch", "lunch with you", "win the match"], ["spam", "spam", "ham", "ham"]
for kind, what in (("multinomial", "each time counts"), ("bernoulli", "repetition does not count")):
    model = TextNB(kind).fit(mails, labels)
    once, often = model.predict_proba(["win free", "win " * 5 + "free " * 3])[:, 1]
    print(f"{kind:12} p(spam) = {once:.3f} for one of each, {often:.3f} for all: {what}")

title("A spam filter with a vocabulary of 50,000 words")
rng = np.random.default_rng(0)
dictionary = [f"word{i}" for i in range(50_000)]
rank = np.minimum(rng.zipf(1.2, (2_000, 40)), 25_000) - 1
is_spam = rng.random(2_000) < 0.4
rows = zip(rank, is_spam, strict=True)
mails = [" ".join(f"word{j + 25_000 * (spam and j % 5 == 0)}" for j in row) for row, spam in rows]
model = TextNB("bernoulli", vocabulary=dictionary).fit(mails[:1_500], is_spam[:1_500])
print(f"{model.n_parameters_:,} parameters: 2 x 50,000 probabilities of a word, and the share of spam")
print(f"accuracy on 500 new messages: {model.score(mails[1_500:], is_spam[1_500:]):.3f}")

title("Fake and genuine reviews of hotels")
PLACES = ["lobby", "bathroom", "elevator", "window", "corner", "floor", "hallway", "desk", "street", "bed"]
DETAILS = ["small", "on the left", "next to the stairs", "a bit noisy", "under repair", "worn"]
PRAISE = ["absolutely amazing", "truly luxurious", "simply perfect", "the best ever", "an experience", "a dream"]
FAMILY = ["my husband", "my wife", "our family", "my kids", "my whole family"]


def review(is_fake: bool) -> str:
    """Return a review: genuine ones describe places in detail, fake ones have more praise and mention the family."""
    real = [f"the {rng.choice(PLACES)} was {rng.choice(DETAILS)}" for _ in range(1 if is_fake else 3)]
    praise = [f"{rng.choice(FAMILY)} and i found it {rng.choice(PRAISE)}" for _ in range(2 if is_fake else 1)]
    sentences = [*real, *praise, "we stayed in Chicago", "breakfast was fine"]
    return ". ".join(str(s).capitalize() for s in rng.permutation(sentences)) + "."


fake = rng.random(600) < 0.5
reviews = [review(one) for one in fake]
labels = np.where(fake, "fake", "genuine")
model = TextNB().fit(reviews[:400], labels[:400])
print(reviews[0], "->", labels[0])
print(f"leave-one-out accuracy {model.loo_.accuracy:.3f}")
print(f"accuracy on 200 new reviews {model.score(reviews[400:], labels[400:]):.3f}")
print(model.top_features(4, "pairs of words"))
