"""Draws waterfall.png, the picture of the README: run it from the root of the repository."""

import matplotlib.pyplot as plt

import candide
import candide.plot

model = candide.TextNB().fit(candide.read("examples/sms_spam.csv.gz"))
text = "Free entry to win a prize! Text WIN now. See you at lunch"
_, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
candide.plot.waterfall(model.explain([text])[0], by="word", ax=ax)
ax.set_title(f"“{text}”: spam, probability 0.9997", fontsize=11)
plt.savefig("docs/images/waterfall.png", dpi=120)
