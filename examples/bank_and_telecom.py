"""A bank and a telecom know different things about the same customers, in the same order.

Neither shows its columns to the other. The bank also knows who failed to pay, which both want to predict.
Run: python examples/bank_and_telecom.py
"""

# %% The same 2,000 customers, sorted by customer number on both sides; made up here.
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier as PlainTree

import hedgerow

generator = np.random.default_rng(7)
customers = 2000
bank = pd.DataFrame(
    {"balance": generator.normal(2000, 900, customers).round(2), "loans": generator.integers(0, 5, customers)}
)
telecom = pd.DataFrame(
    {"minutes": generator.gamma(4, 60, customers).round(1), "late bills": generator.poisson(0.8, customers)}
)
risk = (bank["balance"] < 1500) & (telecom["late bills"] >= 2) | (bank["loans"] >= 4) & (telecom["minutes"] < 180)
defaulted = (risk ^ (generator.random(customers) < 0.03)).map({True: "yes", False: "no"}).rename("defaulted")

# %% What the bank could do alone.
alone = hedgerow.DecisionTreeClassifier(max_depth=4).fit(bank, defaulted)
print(f"the bank alone: {alone.score(bank, defaulted):.3f}")

# %% Together: columns side by side. Every column is shared by its owner; the compute parties see shares of all of them.
together = pd.concat([bank, telecom], axis=1)
model = hedgerow.DecisionTreeClassifier(max_depth=4).fit(together, defaulted)
print(f"bank and telecom: {model.score(together, defaulted):.3f}")
plain = PlainTree(max_depth=4).fit(together, defaulted)
print(f"scikit-learn, if somebody could see everything: {plain.score(together, defaulted):.3f}")
print("nothing was rounded" if not model.rounding_ else f"rounded: {model.rounding_}")

# %% The opened tree, with the bank's and the telecom's units.
tree = model.reveal(counts=True)
print(tree.export_text())
print("importances:", dict(zip(tree.facts.attribute_names, tree.feature_importances_.round(3).tolist(), strict=True)))
