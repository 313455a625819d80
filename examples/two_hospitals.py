"""Two hospitals pool their patients without showing them to anybody.

Both have the same measurements of different patients. Each encodes its rows by the schema they agreed on; the rows are
shared together, the tree is trained on shares, and both look at the result. Run: python examples/two_hospitals.py
"""

# %% The two tables. Here they come from one public table, cut in two.
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import hedgerow
from hedgerow.tables import Schema, merge_schemas, propose_column

patients, malignant = load_breast_cancer(return_X_y=True, as_frame=True)
patients, malignant = patients.iloc[:, :8], (malignant == 0).rename("malignant").astype(int)
north, south = patients.iloc[0::2], patients.iloc[1::2]
print(f"north has {len(north)} patients, south has {len(south)}")

# %% They agree on a schema first: names, decimals, bits. No patient's value is in it.
# Each proposes what its own columns need, and the wider one is taken. ('hedgerow inspect' does the same for a file.)
proposals = [Schema(tuple(propose_column(n, part[n].to_numpy()).column for n in patients)) for part in (north, south)]
schema = merge_schemas(*proposals)

# %% Train on the pooled rows. `fit` splits every value into three shares before a compute party sees anything.
pooled = hedgerow.DecisionTreeClassifier(max_depth=3, schema=schema)
pooled.fit(pd.concat([north, south]), pd.concat([malignant.iloc[0::2], malignant.iloc[1::2]]))
print(pooled.model_)

# %% Ask for predictions (only these are opened), or for accuracy alone (not even the predictions are).
print("first patients of the south:", pooled.predict(south.head(6)).tolist())
matrix = pooled.confusion(south, malignant.iloc[1::2])
print(f"accuracy on the south's patients: {np.trace(matrix) / matrix.sum():.3f}")

# %% If all owners agree, the tree itself is opened.
print(pooled.reveal().export_text())
