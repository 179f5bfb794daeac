"""Messages: training, evaluation, weights, decisions, merging and forgetting.

Run it with ``python examples/texts.py``. It has no additional dependencies.
"""

import numpy as np

import candide
from candide import TextNB

WORDS = {
    "order": ["order", "delivery", "parcel", "late", "tracking", "address", "arrived", "courier", "box", "damaged"],
    "invoice": ["invoice", "refund", "charged", "twice", "card", "payment", "amount", "bank", "receipt", "wrong"],
    "account": ["password", "login", "account", "email", "reset", "locked", "profile", "code", "settings", "sign"],
}
COMMON = ["hello", "please", "help", "me", "with", "my", "the", "it", "is", "not", "working", "thanks", "today"]


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def tickets(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return messages with words of their queue, of another queue, and common words."""
    rng = np.random.default_rng(seed)
    queues = rng.choice(list(WORDS), n, p=[0.5, 0.3, 0.2])
    texts = []
    for queue in queues:
        own, other = rng.choice(WORDS[queue], 3), rng.choice(WORDS[rng.choice(list(WORDS))], 2)
        words = [*rng.permutation([*own, *other, *rng.choice(COMMON, rng.integers(3, 12))])]
        texts.append(" ".join(words).capitalize() + rng.choice([".", "!", "?"]))
    return texts, queues


texts, queues = tickets(900, seed=0)
new_texts, new_queues = tickets(300, seed=1)

title("Route 900 messages to the queues of a shop")
model = TextNB().fit(texts, queues)
print(texts[0], "->", queues[0])
print(model.loo_)
print(f"accuracy on 300 new messages: {model.score(new_texts, new_queues):.3f}")

title("Weight of each feature set")
summary = model.summary()
for feature_set in dict.fromkeys(summary["feature_set"]):
    print(f"{feature_set:20} {summary['weight'][summary['feature_set'] == feature_set].sum():.2f}")

title("One message")
question = "My parcel is late and the card was charged twice"
for queue, probability in zip(model.classes_, model.predict_proba([question])[0], strict=True):
    print(f"{queue:8} {probability:.2f}")
print("decision with abstain=0.9:", model.decide([question], abstain=0.9))

title("Plain naive Bayes, trained in two parts and merged")
parts = [TextNB("multinomial").fit(texts[i::2], queues[i::2]) for i in range(2)]
merged, whole = candide.merge(parts), TextNB("multinomial").fit(texts, queues)
print("equal to one fit:", np.allclose(merged.predict_proba(new_texts), whole.predict_proba(new_texts)))

title("Forget the message of a customer")
print("parcel" in whole.vocabulary_, len(whole.vocabulary_))
whole.partial_fit(["Zanzibar 4711 is my secret"], ["account"])
print("zanzibar" in whole.vocabulary_)
whole.forget(["Zanzibar 4711 is my secret"], ["account"])
print("zanzibar" in whole.vocabulary_)
